"""Exercises of chapter 5: positions and boundaries; masks, packing, the exit row beside them."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import (
    cu_seqlens_from_lengths,
    document_ids_from_lengths,
    position_ids_from_lengths,
)
from course_lib.exercises import cases, chapter05_exit, chapter05_masks, chapter05_packing
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers

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


def _many_lengths_and_total(rng: random.Random) -> Args:
    lengths = cases.many_lengths(rng)
    return lengths, sum(lengths) + rng.randint(0, 30)


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


POSITIONS = Exercise(
    id="5.1",
    title="Position ids",
    objective="Count positions from 0 in each document of a packed row.",
    minutes=8,
    difficulty="medium",
    chapter=5,
    idea="positions start again at 0 with each document, and padding has -1.",
    prompt="`lengths` is a list of whole numbers, the lengths of the documents in a row of `total` "
    "slots. Return the position ids of the row: from 0 in each document, -1 on the padding behind "
    "them.",
    stub='def position_ids(lengths, total):\n    """list [N], T -> position ids [T]"""\n    ...',
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
        Edges("one token, nothing but one document, and large rows",
              lambda: [([1], 1), ([1], 3), ([6], 6)], _many_lengths_and_total),
    ),
    misconceptions={
        "positions_not_reset": _not_reset,
        "slots_for_positions": lambda lengths, total: torch.arange(total),
        "pad_position_zero": _pad_zero,
        "positions_from_one": _from_one,
        "padding_counts_on": _padding_counts_on,
        "document_numbers": document_ids_from_lengths,
    },
    own=("boundaries.position_ids_from_lengths", "boundaries.position_ids_from_document_ids"),
)  # fmt: skip

CU_SEQLENS = Exercise(
    id="5.2",
    title="Cumulative lengths",
    objective="Write boundaries the way varlen kernels take them.",
    minutes=6,
    difficulty="easy",
    chapter=5,
    idea="cu_seqlens holds N+1 numbers: 0, and the end of each document.",
    prompt="Return the cumulative lengths of the documents (`lengths` is a list), from 0, as an "
    "int32 tensor or array.",
    stub='def cu_seqlens(lengths):\n    """list [N] -> [N+1], int32"""\n    ...',
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
        Edges("one token, a document of 70,000, and large rows",
              lambda: [([1],), ([70_000, 1],)], lambda rng: (cases.many_lengths(rng, 4000),)),
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

EXERCISES = (
    POSITIONS,
    CU_SEQLENS,
    *chapter05_masks.EXERCISES,
    chapter05_packing.FIRST_FIT,
    chapter05_exit.EXIT_ROW,
)
