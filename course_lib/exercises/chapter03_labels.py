"""Exercise 3.3: labels by length, where pad and EOS share an id."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.padding import pad_documents
from course_lib.targets import labels_by_length
from course_lib.vocabulary import EOS, IGNORE_INDEX

LABELS = Numbers("labels", "int", ("row", "slot"))


def _by_length(input_ids: Tensor, lengths: Tensor) -> Tensor:
    slots = torch.arange(input_ids.shape[1])
    return labels_by_length(input_ids, (slots < lengths[:, None]).long())


def _by_id(input_ids: Tensor, lengths: Tensor) -> Tensor:
    return input_ids.masked_fill(input_ids == EOS, IGNORE_INDEX)


def _one_too_few(input_ids: Tensor, lengths: Tensor) -> Tensor:
    return _by_length(input_ids, lengths + 1)


def _one_too_many(input_ids: Tensor, lengths: Tensor) -> Tensor:
    return _by_length(input_ids, lengths - 1)


def _early(input_ids: Tensor, lengths: Tensor) -> Tensor:
    labels = _by_length(input_ids, lengths)
    return torch.nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORE_INDEX)


def _pad_is_eos(rng: random.Random) -> Args:
    return _padded([[*d, EOS] for d in cases.documents(rng)])


def _eos_lost(value: Any, input_ids: Tensor, lengths: Tensor) -> str:
    kept = numbers(value)
    for row, n in enumerate(lengths.tolist()):
        if kept[row, n - 1] != EOS:
            return f"row {row} ends with a real EOS at slot {n - 1}, and its label is gone"
    return ""


def _padded(rows: list[list[int]], eos_id: int = EOS) -> Args:
    lengths = torch.tensor([len(row) for row in rows])
    return pad_documents(rows, pad_id=eos_id).input_ids, lengths


def _small_eos() -> list[Args]:
    return [_padded([[1, 2, EOS], [3, EOS]]), _padded([[1, EOS], [1, 2, EOS, 3, EOS], [EOS]])]


def _odd_ids() -> list[Args]:
    """One slot, real tokens with id 0, several EOS at an end, and an EOS with another id."""
    return [
        _padded([[EOS]]),
        _padded([[1, 0, 2, EOS], [0, EOS]]),
        _padded([[1, EOS, EOS], [EOS, EOS], [EOS]]),
        _padded([[EOS, 2], [2]], eos_id=2),
    ]


def _many_rows(rng: random.Random) -> Args:
    eos_id = cases.MOST_ID + 1
    return _padded([[*d, eos_id] for d in cases.many_documents(rng)], eos_id)


EXERCISES = (
    Exercise(
        id="3.3",
        title="Labels by length",
        objective="Keep every real EOS as a target when EOS is also the pad.",
        minutes=8,
        difficulty="medium",
        chapter=3,
        idea="where pad and EOS share an id, only the length tells them apart.",
        prompt="The batch is padded on the right with its EOS. Return labels: a copy of the ids, "
        "-100 on padding, and every real EOS kept.",
        stub="def make_labels(input_ids, lengths):\n"
        '    """[B, T], [B] -> labels [B, T]"""\n    ...',
        hints=(
            "can the id of a slot tell whether it is padding here? Which number can?",
            "slot t of a row is padding when t is at least the row's length.",
            "compare torch.arange(T) with the lengths as a column.",
        ),
        returns=LABELS,
        reference=_by_length,
        checks=(
            Exact("two small batches", _small_eos),
            Property("the last real EOS of a row is a target", _pad_is_eos, _eos_lost),
            Random("20 random batches", _pad_is_eos),
            Edges("one slot, ids of 0, EOS with other ids, and large batches", _odd_ids,
                  _many_rows),
        ),
        misconceptions={
            "eos_erased": _by_id,
            "pad_target": lambda ids, lengths: ids.clone(),
            "first_pad_kept": _one_too_few,
            "last_token_lost": _one_too_many,
            "collator_shifts": _early,
        },
        own=("targets.labels_by_length", "padding.pad_documents"),
    ),
)  # fmt: skip
