"""Exercise L6.2: the two bounds of what packing can save."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Items, parts
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


def _bounds(lengths: list[int], context: int) -> tuple[float, float]:
    slots = Fraction(len(lengths) * context, sum(lengths))
    area = Fraction(len(lengths) * _triangle(context), sum(map(_triangle, lengths)))
    return float(slots), float(area)


def _squares(lengths: list[int], context: int) -> tuple[float, float]:
    area = len(lengths) * context**2 / sum(n * n for n in lengths)
    return _bounds(lengths, context)[0], area


def _one_triangle(lengths: list[int], context: int) -> tuple[float, float]:
    area = len(lengths) * _triangle(context) / _triangle(sum(lengths))
    return _bounds(lengths, context)[0], area


def _mean_of_ratios(lengths: list[int], context: int) -> tuple[float, float]:
    count = len(lengths)
    slots = sum(context / n for n in lengths) / count
    return slots, sum(_triangle(context) / _triangle(n) for n in lengths) / count


def _one_row(lengths: list[int], context: int) -> tuple[float, float]:
    slots, area = _bounds(lengths, context)
    return slots / len(lengths), area / len(lengths)


def _slots_again(lengths: list[int], context: int) -> tuple[float, float]:
    return (_bounds(lengths, context)[0],) * 2


def _turned(lengths: list[int], context: int) -> tuple[float, float]:
    slots, area = _bounds(lengths, context)
    return 1 / slots, 1 / area


def _lengths(rng: random.Random) -> Args:
    lengths = [*cases.lengths(rng, most=9), rng.randint(1, 9)]
    return lengths, max(lengths) + rng.randint(0, 20)


def _many_lengths(rng: random.Random) -> Args:
    lengths = cases.many_lengths(rng, 300)
    return lengths, max(lengths) + rng.randint(0, 300)


def _at_least_one(value: Any, lengths: list[int], context: int) -> str:
    slots, area = (scalar_of(part) for part in parts(value))
    if slots < 1 - 1e-6 or area < 1 - 1e-6:
        return "padding never computes less: neither number can be below 1"
    return ""


EXERCISES = (
    Exercise(
        id="L6.2",
        title="Two bounds",
        objective="Say from lengths alone how much packing can save, in slots and in attention.",
        minutes=10,
        difficulty="medium",
        chapter=10,
        idea="linear layers cost as many slots as there are, attention as many pairs.",
        prompt="Each document in a row of `context` slots, with causal attention over the whole "
        "row, is compared with packing that wastes nothing: no padding, and attention inside each "
        "document only. How many times fewer slots, and how many times fewer (query, key) pairs?",
        stub="def bounds(lengths, context):\n"
        '    """lengths [N] -> by slots, by area"""\n    ...',
        hints=(
            "count the slots of all padded rows, then the tokens. Divide sums, not rows.",
            "a causal mask over n slots holds n(n + 1)/2 pairs, the diagonal included.",
            "the packed row has one triangle for each document, not one for the row.",
        ),
        returns=Items(
            (One("by slots", "float"), One("by area", "float")), ("by slots", "by area")
        ),
        reference=_bounds,
        checks=(
            Exact(
                "full rows, one short document, two unequal ones",
                lambda: [([4, 4], 4), ([2], 4), ([1, 3], 4)],
            ),
            Property("never below 1", _lengths, _at_least_one),
            Random("20 random batches", _lengths),
            Edges("one token, and large batches", lambda: [([1], 1), ([1], 100)], _many_lengths),
        ),
        misconceptions={
            "whole_squares": _squares,
            "no_document_mask": _one_triangle,
            "mean_of_ratios": _mean_of_ratios,
            "one_row_only": _one_row,
            "slots_for_both": _slots_again,
            "ratio_turned": _turned,
        },
    ),
)  # fmt: skip
