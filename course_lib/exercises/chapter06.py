"""Exercise 6.5, a mean known by its value; means and sums stand beside it."""

from __future__ import annotations

import random

import torch

from course_lib.exercises import (
    cases,
    chapter06_means,
    chapter06_ranks,
    chapter06_sequences,
    chapter06_sums,
)
from course_lib.exercises.checks import Exact
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One
from course_lib.loss import reduce_losses

DOCUMENT_LOSSES, ROW_SLOTS = [[2.0, 4.0], [1.0, 1.0, 1.0, 1.0, 2.0]], 10
WORDS = ("token", "sequence", "slot")
ORDER = random.Random("6.5").sample(WORDS, 3)


def _named() -> dict[str, str]:
    return dict(zip("PQR", ORDER, strict=True))


def _reported() -> dict[str, float]:
    """The three reported losses, each by its own denominator."""
    sizes = [len(row) for row in DOCUMENT_LOSSES]
    losses = torch.tensor([[x for row in DOCUMENT_LOSSES for x in [0.0, *row]][1:] + [0.0]])
    ids = cases.rectangle([[0] * (sizes[0] + 1) + [1] * (sizes[1] + 1) + [-1]])
    return {n: reduce_losses(losses, losses > 0, by, ids).item() for n, by in _named().items()}


def _swapped(one: str, other: str) -> dict[str, str]:
    swap = {one: other, other: one}
    return {name: swap.get(word, word) for name, word in _named().items()}


EXERCISES = (
    *chapter06_means.EXERCISES,
    *chapter06_sequences.EXERCISES,
    *chapter06_sums.EXERCISES,
    *chapter06_ranks.EXERCISES,
    Exercise(
        id="6.5",
        title="Which denominator?",
        objective="Recognise a mean by its value.",
        minutes=5,
        difficulty="easy",
        chapter=6,
        idea="one sum has three means here: over targets, over sequences, over slots.",
        prompt="Two documents, with the losses of their targets given, share a row of 10 slots. "
        "Three trainers report the losses P, Q and R for it. Say for each what it is a mean over.",
        stub='answer = {"P": ..., "Q": ..., "R": ...}',
        hints=(
            "add up all losses. Which denominator gives each reported number?",
            "one of the three is no sum over everything: it averages two means.",
            "the smallest of them divides by the most.",
        ),
        returns=Fields({name: One(name, "word", WORDS) for name in "PQR"}),
        reference=_named,
        checks=(Exact("the three denominators"),),
        misconceptions={
            "token_for_sequence": lambda: _swapped("token", "sequence"),
            "token_for_slot": lambda: _swapped("token", "slot"),
            "sequence_for_slot": lambda: _swapped("sequence", "slot"),
        },
        given=lambda: {
            "losses": [list(row) for row in DOCUMENT_LOSSES],
            "slots": ROW_SLOTS,
        }
        | {name: round(value, 6) for name, value in _reported().items()},
    ),
)
