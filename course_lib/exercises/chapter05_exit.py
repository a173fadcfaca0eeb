"""Exercise 5.7: the packed row of the exit check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import (
    document_ids_from_lengths,
)
from course_lib.exercises.checks import Exact
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers
from course_lib.packing import pack_documents
from course_lib.targets import mask_boundaries
from course_lib.vocabulary import IGNORE_INDEX

DOCUMENTS, EOS_ID, PAD_ID, SLOTS = [[1, 2], [3], [4, 5, 6]], 7, 0, 10


def _exit_row(eos_id: int | None = EOS_ID) -> dict[str, list[int]]:
    batch = pack_documents(DOCUMENTS, SLOTS, eos_id=eos_id, pad_id=PAD_ID)
    names = ("input_ids", "position_ids", "labels")
    return {name: getattr(batch, name)[0].tolist() for name in names}


def _exit_but(name: str, change: Callable[[Tensor], Tensor]) -> Callable[[], dict[str, Any]]:
    """The row with one of its lists changed."""
    return lambda: _exit_row() | {name: change(torch.tensor(_exit_row()[name])).tolist()}


def _exit_b(labels: Tensor) -> Tensor:
    lengths = [len(d) + 1 for d in DOCUMENTS]
    return mask_boundaries(labels[None], document_ids_from_lengths(lengths, SLOTS)[None])[0]


def _line(name: str) -> Numbers:
    return Numbers(name, "int", ("slot",))


EXIT_ROW = Exercise(
    id="5.7",
    title="The exit check's row",
    objective="Pack three documents by hand: ids, positions, labels.",
    minutes=8,
    difficulty="medium",
    chapter=5,
    idea="EOS belongs to its document; positions start again behind it; only padding is -100.",
    prompt="Pack the documents into one row under convention A. EOS is appended to each; "
    "padding has position -1.",
    stub='row = {\n    "input_ids": ...,\n    "position_ids": ...,\n    "labels": ...,\n}',
    hints=(
        "write each document with its EOS behind it, one after the other; what is left is padding.",
        "an EOS is the last token of its document: which position does it have?",
        "under A the labels are the ids, but for the padding.",
    ),
    returns=Fields({name: _line(name) for name in ("input_ids", "position_ids", "labels")}),
    reference=_exit_row,
    checks=(Exact("ids, positions and labels of the row"),),
    misconceptions={
        "no_eos": lambda: _exit_row(None),
        "positions_not_reset": _exit_but(
            "position_ids", lambda p: torch.where(p < 0, p, torch.arange(SLOTS))
        ),
        "pad_position_zero": _exit_but("position_ids", lambda p: p.clamp(min=0)),
        "boundary_masked": _exit_but("labels", _exit_b),
        "eos_erased": _exit_but("labels", lambda x: x.masked_fill(x == EOS_ID, IGNORE_INDEX)),
        "pad_target": _exit_but("labels", lambda x: x.masked_fill(x == IGNORE_INDEX, PAD_ID)),
        "collator_shifts": _exit_but(
            "labels", lambda x: torch.cat([x[1:], torch.tensor([IGNORE_INDEX])])
        ),
    },
    given=lambda: {
        "documents": [list(d) for d in DOCUMENTS],
        "eos_id": EOS_ID,
        "pad_id": PAD_ID,
        "slots": SLOTS,
    },
)
