"""The packed-row workbench: boundaries, positions, mask, targets, and the mean, drawn by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from course_lib.batch import Batch
from course_lib.boundaries import document_starts
from course_lib.loss import LossSum
from course_lib.masks import document_mask
from course_lib.targets import REASONS, slot_reasons
from course_lib.vocabulary import EOS, PAD, VOCAB_SIZE
from course_lib.widgets import explain
from course_lib.widgets.base import CourseWidget
from course_lib.widgets.parts import Part, numbers, toggles
from course_lib.widgets.row import is_toy, one_row, slot_names, table

LARGEST = 12
_LOSSES = (1, 0.5, 2, 1.5, 0.5, 1, 3, 2, 0.5, 1.5, 1)


class Workbench(CourseWidget):
    """Draw one packed row of `capacity` slots: the course's central task, in five steps.

    - boundary  "A" keeps the first token of a later document as a target, "B" does not
    - losses    [capacity - 1], the loss in nats at each prediction; made-up numbers by default
    - eos_id    appended to each document, None for none

    Raises ValueError if the documents need more than one row, if `capacity` is above 12 (a grid
    that a phone can show), or if `losses` has another length.

    >>> Workbench([[1, 2, 3], [1, 1]], 8).data["parts"][-1]["right"]
    [6.5, 6]
    """

    module = "workbench"

    def __init__(
        self,
        documents: Sequence[Sequence[int]],
        capacity: int,
        *,
        boundary: str = "A",
        losses: Sequence[float] | None = None,
        eos_id: int | None = EOS,
        pad_id: int = PAD,
    ) -> None:
        batch = one_row(documents, capacity, boundary=boundary, eos_id=eos_id, pad_id=pad_id)
        if capacity > LARGEST:
            raise ValueError(
                f"capacity={capacity} is too wide for a mask drawn by hand; use at most {LARGEST}."
            )
        values = list(_LOSSES[: capacity - 1] if losses is None else losses)
        if len(values) != capacity - 1:
            raise ValueError(
                f"losses has {len(values)} numbers; a row of {capacity} slots makes "
                f"{capacity - 1} predictions. Give one loss for each."
            )
        ids = batch.input_ids[0].tolist()
        toy = is_toy(eos_id, pad_id) and max(ids) < VOCAB_SIZE
        names = slot_names(ids, toy=toy)
        parts = [
            _starts(batch), _positions(batch), _mask(batch, names), _targets(batch, boundary),
            _mean(batch, values),
        ]  # fmt: skip
        rows = [("slot", range(capacity)), ("token", names), ("id", ids)]
        if not toy:
            del rows[1]
        lengths = batch.document_lengths[0]
        data = {
            "title": f"Draw a packed row, convention {boundary}",
            "question": _question(lengths, capacity, boundary, eos_id),
            "names": names, "ids": ids, "toy": toy, "pads": (batch.document_ids[0] < 0).tolist(),
            "losses": values, "parts": parts,
        }  # fmt: skip
        super().__init__(data, _on_paper(rows, values, capacity))


def _question(lengths: list[int], capacity: int, boundary: str, eos_id: int | None) -> str:
    *first, last = map(str, lengths)
    sizes = f"{', '.join(first)} and {last}" if first else last
    end = " (EOS included)" if eos_id is not None else ""
    rule = (
        "the first token of a later document stays a target"
        if boundary == "A"
        else "the first token of a later document is no target"
    )
    return (
        f"Documents of {sizes} tokens{end} share a row of {capacity} slots. Documents must not "
        f"see each other, and convention {boundary} holds: {rule}. Draw what the model and the "
        "loss need to know."
    )


def _slots(count: int) -> list[str]:
    return [f"slot {t}" for t in range(count)]


def _starts(batch: Batch) -> Part:
    ids = batch.document_ids[0]
    starts = document_starts(ids).tolist()
    why = ["pad" if d < 0 else "start" if s else "inside" for d, s in zip(ids, starts, strict=True)]
    return toggles(
        "starts", starts, why, explain.STARTS, title="Boundaries", view="strip",
        ask="Mark each slot where a document begins.",
        names=[f"slot {t} begins a document" for t in range(len(why))], short=_slots(len(why)),
        hints=explain.STARTS_HINTS, done=f"{sum(starts)} documents, found by their first slots.",
    )  # fmt: skip


def _positions(batch: Batch) -> Part:
    right, documents = batch.position_ids[0].tolist(), batch.document_ids[0].tolist()
    pads = [t for t, d in enumerate(documents) if d < 0]
    why = [explain.POSITION_PAD if d < 0 else explain.POSITION for d in documents]
    traps = {
        t: [(t, explain.POSITION_RUNS), (p + 1, explain.POSITION_ONE)] if documents[t] >= 0
        else [(0, explain.POSITION_ZERO), (t, explain.POSITION_PAD)]
        for t, p in enumerate(right)
    }  # fmt: skip
    return numbers(
        "positions", right, why, traps=traps, blank=pads, title="Position ids", view="fields",
        ask="Write the position of each token in its own document. Padding: -1, or leave it empty.",
        names=[f"position of slot {t}" for t in range(len(right))], short=_slots(len(right)),
        hints=explain.POSITION_HINTS, done="Positions start from 0 in each document.",
    )  # fmt: skip


def _mask(batch: Batch, names: list[str]) -> Part:
    mask, ids = document_mask(batch)[0], batch.document_ids[0].tolist()
    size = len(ids)
    why = [_reason(q, k, ids) for q in range(size) for k in range(size)]
    labels = [f"query {q} {names[q]}, key {k} {names[k]}" for q in range(size) for k in range(size)]
    return toggles(
        "mask", mask.flatten().tolist(), why, explain.MASK, title="Attention mask", view="grid",
        ask="Rows are queries, columns are keys. Mark each key that a query may attend to.",
        cols=size, names=labels, hints=explain.MASK_HINTS,
        done=f"{int(mask.sum())} of {size * size} cells: one triangle for each document.",
    )  # fmt: skip


def _reason(query: int, key: int, ids: list[int]) -> str:
    """Return why a cell is what it is, the strongest reason first."""
    if key > query:
        return "future"
    if ids[query] < 0 or ids[key] < 0:
        return "padding"
    return "own" if ids[query] == ids[key] else "document"


def _targets(batch: Batch, boundary: str) -> Part:
    reasons = slot_reasons(batch.labels, batch.document_ids)[0].tolist()
    why = [REASONS[code] for code in reasons]
    if boundary == "A":
        later = document_starts(batch.document_ids)[0].tolist()
        why = [
            "boundary_kept" if s and w == "targets" else w for s, w in zip(later, why, strict=True)
        ]
    scored = [0, *batch.target_mask[0].tolist()]
    return toggles(
        "targets", scored, why, explain.TARGETS, title="Targets", view="strip",
        ask=f"Mark each token that a prediction is scored on (convention {boundary}).",
        names=[f"slot {t} is a target" for t in range(len(why))], short=_slots(len(why)),
        hints=explain.TARGETS_HINTS, done=f"{sum(scored)} targets in {len(why)} slots.",
    )  # fmt: skip


def _mean(batch: Batch, losses: list[float]) -> Part:
    values = torch.tensor([losses], dtype=torch.float64)
    pair = LossSum.of(values, batch.target_mask)
    slots, real = batch.num_slots, int(batch.attention_mask.sum())
    everything = torch.ones_like(batch.target_mask)
    traps = {
        0: [(float(LossSum.of(values, everything).total), explain.SUM_ALL),
            (float(pair.mean), explain.SUM_MEAN)],
        1: [(slots, explain.COUNT_SLOTS), (slots - 1, explain.COUNT_PREDICTIONS),
            (real, explain.COUNT_REAL), (real - 1, explain.COUNT_REAL),
            (len(batch.document_lengths[0]), explain.COUNT_DOCUMENTS)],
    }  # fmt: skip
    total = float(pair.total)
    right = [int(total) if total == int(total) else total, pair.count]
    return numbers(
        "loss", right, [explain.SUM, explain.COUNT], traps=traps, title="Token mean", view="pair",
        ask="Each number is the loss of the prediction that is scored on that token. Which sum, "
        "divided by which count, is the token mean?",
        names=["sum of losses", "number of targets"], hints=explain.MEAN_HINTS,
        done=f"{right[0]:g} / {pair.count} = {float(pair.mean):.3f} nats.",
    )  # fmt: skip


def _on_paper(rows: list[tuple[str, Any]], losses: list[float], size: int) -> str:
    blank = ["__"] * size
    filled = [("start", blank), ("position", blank), ("target", blank)]
    strip = table([*rows, *filled, ("loss", ["-", *(f"{v:g}" for v in losses)])])
    grid = table([("query / key", range(size)), *((f"{q:>11}", blank) for q in range(size))])
    return f"{strip}\n\nAttention mask (1 = may attend):\n{grid}\n\nToken mean = ____ / ____"
