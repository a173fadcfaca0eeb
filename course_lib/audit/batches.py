"""`audit`: what is wrong with a batch, where, and which chapter explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from course_lib.audit.attention import Pattern, additive, to_allowed
from course_lib.audit.drawing import WIDTH
from course_lib.audit.options import Options
from course_lib.audit.reading import refuse_no_batch
from course_lib.audit.registry import finding, rule, run_rules
from course_lib.audit.report import Finding, NotChecked, Report, Strip
from course_lib.audit.view import BatchView

MAX_STRIPS = 3  # rows that a report draws


def audit(
    batch: Any,
    *,
    loss_shifts: bool | int = True,
    documents: Sequence[Sequence[int]] | None = None,
    pad_token_id: int | None = None,
    eos_token_id: int | Sequence[int] | None = None,
    **options: Any,
) -> Report:
    """Return what is wrong with a batch: a `Batch` or anybody's mapping of tensors or lists.

    Keys of the mapping, all [B, T] unless said otherwise: input_ids, labels, attention_mask (1 and
    0, document ids, or a pattern [B, 1, T, T], boolean or additive), position_ids, document_ids,
    seq_idx, cu_seqlens / cu_seq_lens_q, max_length_q, seq_lengths, segment_is_real, loss_mask,
    assistant_masks, shift_labels, decoder_input_ids. Every source of boundaries is compared with
    every other.

    - loss_shifts       True: the loss shifts labels (transformers). False: labels are shifted
                        already. 2: sliced by hand, then shifted once more inside
    - documents         the documents that should stand in the rows
    - pad_token_id, eos_token_id, vocab_size, ignore_index    of tokenizer and loss
    - boundary          "A" or "B" if that was decided; see the chapter on targets
    - prompt_lengths, completion_spans, role_ids, response_template    which tokens are answers
    - lengths           real tokens in each row, where nothing else says so
    - losses, loss_sum, denominator, reported    numbers that were computed from this batch
    - window, attn_implementation    of the model

    Raises TypeError for an unknown option or something that is no batch. What could not be checked
    stands in `Report.not_checked`.

    >>> from course_lib import pad_documents
    >>> audit(pad_documents([[1, 2], [3]])).codes
    ['row_too_short']
    """
    unknown = set(options) - {f.name for f in fields(Options)}
    if unknown:
        known = ", ".join(f.name for f in fields(Options))
        raise TypeError(f"audit does not know {', '.join(sorted(unknown))}. It knows: {known}.")
    said = Options(loss_shifts, documents, pad_token_id, eos_token_id, **options)
    view = BatchView(batch, said)
    refuse_no_batch(view.fields.raw)
    B, T = view.shape
    report = Report(f"{B} row{'s' * (B != 1)} of {T} slots")
    if view.targets is not None:
        report.targets = int(view.live.sum())
        report.subject += f", {report.targets} target{'s' * (report.targets != 1)}"
    for wrong, right in view.fields.misspelt.items():
        report.not_checked.append(NotChecked(f"field {wrong}", f"the name {right}, if that is it"))
    run_rules("batch", view, report)
    if view.fields.dense is not None:
        _dense(view, report)
    report.strips = _strips(view, report)
    return report


def _dense(view: BatchView, report: Report) -> None:
    """Audit the pattern that came as attention_mask."""
    allowed = to_allowed(view.fields.dense, view.shape)
    if allowed is None:
        return
    subject = Pattern(allowed, view, view.options.window, True, additive(view.fields.dense))
    run_rules("attention", subject, report)


@rule("bool_mask_in_eager")
def bool_mask_in_eager(view: BatchView) -> Any:
    """A boolean pattern is added to the scores."""
    dense = view.fields.dense
    if dense is not None and dense.dtype == bool and view.options.attn_implementation == "eager":
        yield finding(
            "bool_mask_in_eager",
            "attention_mask",
            "attention_mask is boolean and eager attention adds it to the scores.",
            expected="0 and the lowest float",
            found="bool",
        )


def _strips(view: BatchView, report: Report) -> list[Strip]:
    """Return the first rows at fault, cut to a window around the first faulty cell."""
    marks: dict[int, list[int]] = {}
    for f in report.findings:
        if f.severity != "info":
            _mark(f, marks)
    strips = [_strip(view, row, marks[row]) for row in sorted(marks)[:MAX_STRIPS]]
    return [strip for strip in strips if strip.lines]


def _mark(f: Finding, marks: dict[int, list[int]]) -> None:
    for place in f.where:
        if isinstance(place, tuple) and len(place) == 2:
            marks.setdefault(place[0], []).append(place[1])


def _strip(view: BatchView, row: int, columns: list[int]) -> Strip:
    width = max(view.shape[1], max(columns) + 1)
    first = max(0, min(min(columns) - WIDTH // 3, width - WIDTH))
    cut = slice(first, first + WIDTH)
    lines = {
        name: array[row, cut].tolist()
        for name, array in view.fields.arrays.items()
        if row < len(array)
    }
    if view.boundary_source and row < len(view.documents):
        lines["document"] = view.documents[row, cut].tolist()
    inside = sorted({c for c in columns if first <= c < first + WIDTH})
    texts = {name: [str(v) for v in np.ravel(values)] for name, values in lines.items()}
    at_fault = "labels" if "labels" in texts else next(iter(texts), "")
    return Strip(row, first, texts, {at_fault: inside})
