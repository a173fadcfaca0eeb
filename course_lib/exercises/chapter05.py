"""Exercises of chapter 5 on a packed row: positions, boundaries, the row itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import (
    cu_seqlens_from_lengths,
    document_ids_from_lengths,
    position_ids_from_lengths,
)
from course_lib.exercises import cases, chapter05_masks, chapter05_packing
from course_lib.exercises.checks import Args, Exact, Property, Random
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.packing import pack_documents
from course_lib.targets import mask_boundaries
from course_lib.vocabulary import IGNORE_INDEX

# --- 5.1


def _not_reset(lengths: list[int], total: int) -> Tensor:
    return position_ids_from_lengths([sum(lengths)], total)


def _pad_zero(lengths: list[int], total: int) -> Tensor:
    return position_ids_from_lengths(lengths, total).clamp(min=0)


def _from_one(lengths: list[int], total: int) -> Tensor:
    positions = position_ids_from_lengths(lengths, total)
    return positions + (positions >= 0)


def _padding_counts_on(lengths: list[int], total: int) -> Tensor:
    *first, last = lengths
    return position_ids_from_lengths([*first, last + total - sum(lengths)], total)


def _lengths_and_total(rng: random.Random) -> Args:
    lengths = cases.lengths(rng)
    return lengths, sum(lengths) + rng.randint(0, 3)


def _starts_above_zero(value: Any, lengths: list[int], total: int) -> str:
    positions, slot = numbers(value), 0
    for i, n in enumerate(lengths):
        if positions[slot] != 0:
            return f"document {i} begins at slot {slot} with position {positions[slot]}"
        slot += n
    return ""


# --- 5.2


def _int32(values: Tensor) -> Tensor:
    return values.to(torch.int32)


def _does_not_rise(value: Any, lengths: list[int]) -> str:
    marks = numbers(value)
    if marks[-1] != sum(lengths):
        return f"the last number must be the end of the last document: {sum(lengths)} tokens"
    return ""


# --- 5.7

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


POSITIONS = Exercise(
    id="5.1",
    title="Position ids",
    objective="Count positions from 0 in each document of a packed row.",
    minutes=8,
    difficulty="medium",
    chapter=5,
    idea="positions start again at 0 with each document, and padding has -1.",
    prompt="Return the position ids of a row of `total` slots that holds documents of these "
    "lengths: from 0 in each document, -1 on the padding behind them.",
    stub='def position_ids(lengths, total):\n    """[N], T -> position ids [T]"""\n    ...',
    hints=(
        "write the positions of one document of length 3. What changes for the next one?",
        "join the counts of the documents, then fill up with -1.",
        "without a loop: slot numbers minus the start of each document, repeated.",
    ),
    returns=Numbers("position_ids", "int", ("slot",)),
    reference=position_ids_from_lengths,
    checks=(
        Exact(
            "the lesson's row, a row without padding, single tokens",
            lambda: [([4, 3], 8), ([2, 3], 5), ([1, 1, 2], 6)],
        ),
        Property("every document begins at 0", _lengths_and_total, _starts_above_zero),
        Random("20 random rows", _lengths_and_total),
    ),
    misconceptions={
        "positions_not_reset": _not_reset,
        "pad_position_zero": _pad_zero,
        "positions_from_one": _from_one,
        "padding_counts_on": _padding_counts_on,
        "document_numbers": document_ids_from_lengths,
    },
    own=("boundaries.position_ids_from_lengths", "boundaries.position_ids_from_document_ids"),
)

CU_SEQLENS = Exercise(
    id="5.2",
    title="Cumulative lengths",
    objective="Write boundaries the way varlen kernels take them.",
    minutes=6,
    difficulty="easy",
    chapter=5,
    idea="cu_seqlens holds N+1 numbers: 0, and the end of each document.",
    prompt="Return the cumulative lengths of the documents, from 0, as an int32 tensor or array.",
    stub='def cu_seqlens(lengths):\n    """[N] -> [N+1], int32"""\n    ...',
    hints=(
        "document i occupies slots cu[i] to cu[i+1]. What is cu[0]?",
        "how many numbers do N documents need, if each start is the end before it?",
        "a running sum, a 0 in front of it, and the dtype that the kernels expect.",
    ),
    returns=Numbers("cu_seqlens", "int", ("boundary",), dtype="int32"),
    reference=cu_seqlens_from_lengths,
    checks=(
        Exact("the lesson's row, one document, single tokens", lambda: [([4, 3],), ([5],),
                                                                      ([1, 1, 1],)]),
        Property("it ends at the number of tokens", lambda rng: (cases.lengths(rng),),
                 _does_not_rise),
        Random("20 random rows", lambda rng: (cases.lengths(rng),)),
    ),
    misconceptions={
        "no_leading_zero": lambda lengths: cu_seqlens_from_lengths(lengths)[1:],
        "lengths_not_cumulative": lambda lengths: _int32(torch.tensor(lengths)),
        "starts_only": lambda lengths: cu_seqlens_from_lengths(lengths)[:-1],
        "last_slots": lambda lengths: cu_seqlens_from_lengths(lengths)[1:] - 1,
        "zero_and_lengths": lambda lengths: _int32(torch.tensor([0, *lengths])),
    },
    own=("boundaries.cu_seqlens_from_lengths",),
)  # fmt: skip

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

EXERCISES = (
    POSITIONS,
    CU_SEQLENS,
    *chapter05_masks.EXERCISES,
    chapter05_packing.FIRST_FIT,
    EXIT_ROW,
)
