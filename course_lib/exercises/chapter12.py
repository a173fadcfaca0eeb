"""Exercises of chapter 12: a row from one system's form into another's."""

from __future__ import annotations

import random
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.vocabulary import IGNORE_INDEX

Row = dict[str, list[int]]


def _row(labels: list[int], mask: list[int]) -> Row:
    return {"labels": labels, "loss_mask": mask}


def _on(labels: list[int]) -> list[int]:
    return [int(t != IGNORE_INDEX) for t in labels]


def _megatron(input_ids: list[int], labels: list[int]) -> Row:
    return _row([*input_ids[1:], 0], [*_on(labels)[1:], 0])


def _unshifted(input_ids: list[int], labels: list[int]) -> Row:
    return _row(list(input_ids), _on(labels))


def _twice(input_ids: list[int], labels: list[int]) -> Row:
    return _row([*input_ids[2:], 0, 0], [*_on(labels)[2:], 0, 0])


def _rolled(input_ids: list[int], labels: list[int]) -> Row:
    return _row([*input_ids[1:], input_ids[0]], [*_on(labels)[1:], _on(labels)[0]])


def _last_scored(input_ids: list[int], labels: list[int]) -> Row:
    return _row([*input_ids[1:], 0], [*_on(labels)[1:], 1])


def _case(rng: random.Random) -> Args:
    """A row with some labels off; the first slot of a row is on or off, it does not matter."""
    ids = cases.tokens(rng, rng.randint(1, 9))
    return ids, [rng.choice((t, t, IGNORE_INDEX)) for t in ids]


def _long(rng: random.Random) -> Args:
    """An id of 0 among them, which is a target like any other."""
    ids = cases.tokens(rng, rng.randint(20, 40), 1, cases.MOST_ID)
    labels, at = [rng.choice((t, IGNORE_INDEX)) for t in ids], rng.randint(1, 15)
    ids[at] = labels[at] = 0
    return ids, labels


def _as_many(value: Any, input_ids: list[int], labels: list[int]) -> str:
    wanted, found = sum(_on(labels)[1:]), int(numbers(value["loss_mask"]).sum())
    if wanted != found:
        return f"the loss that shifts scores {wanted} targets, your loss mask {found}"
    return ""


EXERCISES = (
    Exercise(
        id="12.1",
        title="From one form to another",
        objective="Rewrite labels of a loss that shifts for a loss that does not.",
        minutes=12,
        difficulty="medium",
        chapter=12,
        idea="who shifts changes: column t of the new labels is column t + 1 of the ids.",
        prompt="A row in the form of transformers: input_ids, and labels that are a copy with -100 "
        "where a slot is no target; the loss shifts. Write its labels and loss_mask in Megatron's "
        "form: the loss does not shift, labels are always ids, and loss_mask says with 1 or 0 "
        "which of them count. The last slot has no next token: 0 in both.",
        stub="def to_megatron(input_ids, labels):\n"
        '    """two lists [T] -> {"labels": [T],\n'
        '    "loss_mask": [T]}"""\n    ...',
        hints=(
            "what is column 0 scored on by a loss that shifts? Write that into column 0.",
            "labels: the ids without their first, and one 0 at the end.",
            "loss_mask: shift the question \"is it -100?\" in the same way as the ids.",
        ),
        returns=Fields(
            {
                "labels": Numbers("labels", "int", ("slot",)),
                "loss_mask": Numbers("loss_mask", "int", ("slot",)),
            }
        ),
        reference=_megatron,
        checks=(
            Exact(
                "the row of this chapter, A and B",
                lambda: [
                    ([1, 2, 3, 4, 1, 1, 4], [1, 2, 3, 4, 1, 1, 4]),
                    ([1, 2, 3, 4, 1, 1, 4], [1, 2, 3, 4, IGNORE_INDEX, 1, 4]),
                ],
            ),
            Property("as many targets as before", _case, _as_many),
            Random("40 random rows", _case, 40),
            Edges(
                "one slot, and long rows",
                lambda: [([1], [1]), ([3, 4], [IGNORE_INDEX, IGNORE_INDEX])],
                _long,
            ),
        ),
        misconceptions={
            "missing_shift": _unshifted,
            "double_shift": _twice,
            "wraps_around": _rolled,
            "last_position_scored": _last_scored,
        },
    ),
)
