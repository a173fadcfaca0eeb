"""Exercise L2.3: a packed row drawn by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course_lib.batch import Batch
from course_lib.boundaries import document_starts
from course_lib.exercises.checks import Exact
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, One
from course_lib.loss import LossSum
from course_lib.masks import causal_mask, document_mask, key_padding_mask
from course_lib.packing import pack_documents
from course_lib.vocabulary import EOS

ROW: dict[str, Any] = {
    "documents": [[2, 1], [3, 3, 1]],
    "capacity": 8,
    "boundary": "B",
    "losses": [1.0, 0.5, 2.0, 1.5, 0.5, 1.0, 3.0],
}
DRAWN = {
    "starts": Numbers("starts", "int", ("document",)),
    "position_ids": Numbers("position_ids", "int", ("slot",)),
    "mask": Numbers("mask", "bool", ("query", "key"), digits=True),
    "labels": Numbers("labels", "int", ("slot",)),
    "numerator": One("numerator", "float"),
    "denominator": One("denominator"),
}


def _row(boundary: str = ROW["boundary"]) -> Batch:
    return pack_documents(ROW["documents"], ROW["capacity"], eos_id=EOS, boundary=boundary)


def _draw(boundary: str = ROW["boundary"]) -> dict[str, Any]:
    """Everything that the workbench asks for."""
    batch = _row(boundary)
    pair = LossSum.of(torch.tensor([ROW["losses"]]), batch.target_mask)
    return {
        "starts": document_starts(batch.document_ids)[0].nonzero().flatten().tolist(),
        "position_ids": batch.position_ids[0].tolist(),
        "mask": document_mask(batch)[0],
        "labels": batch.labels[0].tolist(),
        "numerator": float(pair.total),
        "denominator": pair.count,
    }


def _but(**change: Callable[[Batch], Any]) -> Callable[[], dict[str, Any]]:
    """The right drawing but for one part."""
    return lambda: _draw() | {name: make(_row()) for name, make in change.items()}


def _all_keys(batch: Batch) -> Any:
    real = key_padding_mask(batch.attention_mask)[0]
    return causal_mask(ROW["capacity"]) & real & real.T


DRAW_A_ROW = Exercise(
    id="L2.3",
    title="Draw a row",
    objective="Write down all that a model and a loss need to know about a packed row.",
    minutes=12,
    difficulty="medium",
    chapter=5,
    idea="boundaries decide positions and mask; boundaries and conventions decide the targets.",
    prompt="For the given documents, packed into one row with EOS behind each: the slots where "
    "documents begin, position ids (-1 on padding), the document mask, labels, and the two "
    "numbers whose quotient is the token mean of the given losses. The workbench writes all "
    "six down for you.",
    stub='drawn = {\n    "starts": ...,\n    "position_ids": ...,\n    "mask": ...,\n'
    '    "labels": ...,\n    "numerator": ...,\n    "denominator": ...,\n}',
    hints=(
        "how long are the documents once EOS stands behind each? Where does the second begin?",
        "the mask is a triangle for each document, and empty rows for padding.",
        "losses[t] is the loss of the prediction at slot t, scored on labels[t + 1].",
    ),
    returns=Fields(DRAWN),
    reference=_draw,
    checks=(Exact("starts, positions, mask, labels and the pair, in this order"),),
    misconceptions={
        "boundary_kept": lambda: _draw("A"),
        "no_document_mask": _but(mask=_all_keys),
        "positions_not_reset": _but(position_ids=lambda b: [*range(7), -1]),
        "pad_position_zero": _but(position_ids=lambda b: b.model_position_ids[0]),
        "row_start_masked": _but(labels=lambda b: [-100, *b.labels[0, 1:].tolist()]),
        "divides_by_slots": _but(denominator=lambda b: b.num_slots),
        "counts_real_tokens": _but(denominator=lambda b: int(b.attention_mask.sum())),
    },
    given=lambda: dict(ROW),
)
