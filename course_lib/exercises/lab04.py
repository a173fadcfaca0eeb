"""Exercises of lab 4: the weight of a micro-batch's mean, and how far a gradient is off."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Items, parts
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, One, numbers, scalar_of

Counts = list[list[int]]

# --- L4.2


def _tensor(counts: Counts) -> Tensor:
    return torch.tensor(counts, dtype=torch.float64)


def _weights(counts: Counts) -> Tensor:
    n = _tensor(counts)
    return len(n) * n / n.sum()


def _counts(rng: random.Random) -> Args:
    ranks, steps = rng.randint(1, 4), rng.randint(1, 4)
    return ([[rng.randint(1, 9) for _ in range(steps)] for _ in range(ranks)],)


def _many_counts(rng: random.Random) -> Args:
    ranks, steps = cases.many(rng), cases.many(rng)
    return ([[rng.randint(1, 500) for _ in range(steps)] for _ in range(ranks)],)


def _not_one(value: Any, counts: Counts) -> str:
    """Micro-batches that all have the mean 1 must report 1."""
    reported = numbers(value).sum() / len(counts)
    if abs(reported - 1) < 1e-4:
        return ""
    return f"if every micro-batch has the mean 1, your ranks average to {reported:.6g}"


# --- L4.1


def _drift(gradient: Tensor, full: Tensor) -> tuple[Tensor, Tensor]:
    cosine = gradient @ full / (gradient.norm() * full.norm())
    return cosine, (gradient - full).norm() / full.norm()


def _gradients(rng: random.Random) -> Args:
    full = cases.floats(rng, rng.randint(2, 6)).double()
    return cases.floats(rng, len(full)).double() * rng.choice([0.1, 1, 1, 5]) + full, full


def _long_gradients(rng: random.Random) -> Args:
    full = cases.floats(rng, 500).double()
    return full + cases.floats(rng, 500).double() * rng.choice([0.1, 1, 5]), full


def _no_drift(value: Any, gradient: Tensor, full: Tensor) -> str:
    cosine, relative = (scalar_of(part) for part in parts(value))
    if not -1 - 1e-6 <= cosine <= 1 + 1e-6:
        return f"a cosine lies between -1 and 1; yours is {cosine:.6g}"
    if relative < 0:
        return "a length is never negative"
    return ""


def _pair(*values: list[float]) -> Args:
    return tuple(torch.tensor(v, dtype=torch.float64) for v in values)


def _small() -> list[Args]:
    return [
        _pair([3.0, 4.0], [3.0, 4.0]),
        _pair([6.0, 8.0], [3.0, 4.0]),
        _pair([0.0, 2.0], [1.0, 0.0]),
        _pair([-3.0, -4.0], [3.0, 4.0]),
    ]


EXERCISES = (
    Exercise(
        id="L4.2",
        title="Weights for means",
        objective="Turn means of micro-batches back into the mean of the whole batch.",
        minutes=12,
        difficulty="hard",
        chapter=6,
        idea="a mean stands for as many targets as it was taken over, and must weigh as many.",
        prompt="Each rank takes the token mean of each of its micro-batches, multiplies it by a "
        "weight, and adds these up before its backward pass. DDP then averages over the ranks. "
        "Which weight for each micro-batch makes this the token mean over everything?",
        stub="def weights(counts):\n"
        '    """counts[rank][micro] targets -> [ranks, micros]"""\n    ...',
        hints=(
            "what share of all targets does the micro-batch hold? That is its weight in one sum.",
            "DDP divides by the number of ranks. What undoes that?",
            "check yourself: if all means are 1, the result must be 1.",
        ),
        returns=Numbers("weights", "float", ("rank", "micro-batch")),
        reference=_weights,
        checks=(
            Exact(
                "one rank of two micro-batches, two ranks, equal counts",
                lambda: [([[2, 5]],), ([[2, 5], [1, 4]],), ([[3, 3], [3, 3]],)],
            ),
            Property("equal means stay what they are", _counts, _not_one),
            Random("20 random sets of counts", _counts),
            Edges("one micro-batch, one for each rank, and many",
                  lambda: [([[3]],), ([[1], [9]],)], _many_counts),
        ),
        misconceptions={
            "share_of_all": lambda counts: _tensor(counts) / _tensor(counts).sum(),
            "share_of_the_rank": lambda c: _tensor(c) / _tensor(c).sum(1, keepdim=True),
            "equal_weights": lambda c: torch.full_like(_tensor(c), 1 / len(c[0])),
            "weights_of_sums": lambda c: torch.full_like(_tensor(c), len(c)) / _tensor(c).sum(),
            "shared_twice": lambda c: _weights(c) / len(c[0]),
        },
    ),
    Exercise(
        id="L4.1",
        title="Drift",
        objective="Tell a gradient that points elsewhere from one that is too long.",
        minutes=6,
        difficulty="medium",
        chapter=6,
        idea="the cosine compares directions only; the relative difference sees length as well.",
        prompt="Return the cosine between a gradient and the one of the full batch, and their "
        "relative difference: the length of the difference over the length of the full one.",
        stub="def drift(gradient, full):\n"
        '    """both [P] -> cosine, relative difference"""\n    ...',
        hints=(
            "cosine: the dot product over the product of both lengths.",
            "subtract the vectors first, then take the length of what is left.",
            "torch.linalg.vector_norm, or tensor.norm(), is the length.",
        ),
        returns=Items(
            (One("the cosine", "float"), One("the relative difference", "float")),
            ("cosine", "relative difference"),
        ),
        reference=_drift,
        checks=(
            Exact("the same, twice as long, a right angle, the other way round", _small),
            Property("a cosine and a length", _gradients, _no_drift),
            Random("20 random gradients", _gradients),
            Edges("one parameter, and many",
                  lambda: [_pair([2.0], [2.0]), _pair([2.0], [-4.0])], _long_gradients),
        ),
        misconceptions={
            "lengths_subtracted": lambda g, f: (_drift(g, f)[0], (g.norm() - f.norm()) / f.norm()),
            "over_own_length": lambda g, f: (_drift(g, f)[0], (g - f).norm() / g.norm()),
            "not_relative": lambda g, f: (_drift(g, f)[0], (g - f).norm()),
            "dot_product": lambda g, f: (g @ f, _drift(g, f)[1]),
            "cosine_distance": lambda g, f: (1 - _drift(g, f)[0], _drift(g, f)[1]),
            "squared_lengths": lambda g, f: (_drift(g, f)[0], _drift(g, f)[1] ** 2),
        },
    ),
)  # fmt: skip
