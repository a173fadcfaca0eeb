"""Which tokens were declared to be targets: prompt lengths, masks, spans, role markers, templates.

All of them become two boolean arrays [B, T] over tokens: `wanted` and `unwanted`. A token in
neither was not spoken of (padding, the first token of a document).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from course_lib.audit.view import BatchView


@dataclass
class Scored:
    """Tokens that should be targets and tokens that should not, bool [B, T], and who said so."""

    wanted: np.ndarray
    unwanted: np.ndarray
    said_by: str


def declared(view: BatchView) -> Scored | None:
    """Return what the caller declared, from the first declaration that is there."""
    options = view.options
    mask = view.fields.get("assistant_masks")
    if options.prompt_lengths is not None and view.ids is not None:
        return _from_prompts(view, options.prompt_lengths)
    if options.completion_spans is not None:
        return _from_wanted(view, _from_spans(view, options.completion_spans), "completion_spans")
    if mask is not None:
        return _from_wanted(view, mask > 0, "assistant_masks")
    if options.role_ids is not None and view.ids is not None:
        return _from_wanted(view, _from_roles(view, options.role_ids), "role_ids")
    if options.response_template is not None and view.ids is not None:
        roles = {"assistant": list(options.response_template)}
        return _from_wanted(view, _from_roles(view, roles), "response_template")
    return None


def segments(view: BatchView) -> list[tuple[int, int, int]]:
    """Return each document as (row, first slot, last slot + 1), in reading order."""
    ids = view.documents
    out = []
    for row in range(len(ids)):
        edges = np.flatnonzero(np.diff(ids[row])) + 1
        bounds = [0, *edges.tolist(), ids.shape[1]]
        pairs = zip(bounds, bounds[1:], strict=False)
        out += [(row, a, b) for a, b in pairs if b > a and ids[row, a] >= 0]
    return out


def _from_prompts(view: BatchView, lengths: Sequence) -> Scored:
    flat = [int(n) for row in lengths for n in (row if hasattr(row, "__len__") else [row])]
    parts = segments(view)
    if len(flat) != len(parts):
        raise ValueError(
            f"prompt_lengths has {len(flat)} entries for {len(parts)} documents. "
            "Give one for each document in reading order, 0 where there is no prompt."
        )
    wanted, unwanted = np.zeros(view.shape, bool), np.zeros(view.shape, bool)
    for (row, first, stop), n in zip(parts, flat, strict=True):
        unwanted[row, first : min(first + n, stop)] = True
        wanted[row, min(max(first + n, first + 1), stop) : stop] = True
    return Scored(wanted, unwanted, "prompt_lengths")


def _from_wanted(view: BatchView, wanted: np.ndarray, said_by: str) -> Scored:
    """Rows for which nothing was declared are left alone."""
    spoken = wanted.any(1, keepdims=True)
    return Scored(wanted & view.real, ~wanted & view.real & spoken, said_by)


def _from_spans(view: BatchView, spans: Sequence) -> np.ndarray:
    wanted = np.zeros(view.shape, bool)
    firsts = view.real.argmax(1)
    for row, pairs in enumerate(spans):
        if len(pairs) and not hasattr(pairs[0], "__len__"):
            pairs = [pairs]
        for start, stop in pairs:
            wanted[row, firsts[row] + start : firsts[row] + stop] = True
    return wanted


def _from_roles(view: BatchView, role_ids: dict[str, Any]) -> np.ndarray:
    """An answer begins behind an assistant marker and ends with EOS or before another marker."""
    markers = {k: [v] if isinstance(v, int) else list(v) for k, v in role_ids.items()}
    if "assistant" not in markers:
        raise ValueError(f"role_ids must name 'assistant'; it names {', '.join(markers)}.")
    empty = [name for name, marker in markers.items() if not marker]
    if empty:
        raise ValueError(f"the marker of {empty[0]} is empty; it needs one token id or more.")
    wanted = np.zeros(view.shape, bool)
    for row, first, stop in segments(view):
        tokens = view.ids[row].tolist()
        inside, at = False, first
        while at < stop:
            hit = next((n for n, m in markers.items() if tokens[at : at + len(m)] == m), None)
            if hit is not None:
                inside = hit == "assistant"
                at += len(markers[hit])
                continue
            wanted[row, at] = inside
            inside = inside and not view.eos[row, at]
            at += 1
    return wanted
