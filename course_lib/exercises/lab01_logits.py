"""Exercise L1.2: packed logits compared with separate ones; L1.4 stands beside it."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases, lab01_honest
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of


def _largest(packed: Tensor, separate: list[Tensor]) -> float:
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).abs().max().item()


def _signed(packed: Tensor, separate: list[Tensor]) -> float:
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).max().item()


def _mean(packed: Tensor, separate: list[Tensor]) -> float:
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).abs().mean().item()


def _from_slot_0(packed: Tensor, separate: list[Tensor]) -> float:
    return max(_largest(packed[: len(one)], [one]) for one in separate)


def _no_nan(packed: Tensor, separate: list[Tensor]) -> float:
    """What Python's max() makes of the differences, counted up from 0."""
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).abs().nan_to_num(nan=0.0).max().item()


def _padding_in(packed: Tensor, separate: list[Tensor]) -> float:
    return max(_largest(packed, separate), packed[sum(map(len, separate)) :].abs().sum().item())


def _logits(rng: random.Random) -> Args:
    separate = [cases.floats(rng, n, 3) for n in cases.lengths(rng)]
    packed = torch.cat([*separate, cases.floats(rng, rng.randint(0, 2), 3)])
    return packed + cases.floats(rng, *packed.shape) * rng.choice([0.0, 0.01, 0.01]), separate


def _small_logits() -> list[Args]:
    one, two = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 0.0], [4.0, 1.0]])
    padding = torch.tensor([[9.0, 9.0]])
    off = torch.tensor([[0.0, 0.0], [0.0, -0.5], [0.25, 0.0], [0.0, 0.0]])
    return [
        (torch.cat([one, two]), [one, two]),
        (torch.cat([one, two, padding]) + off, [one, two]),
        (torch.cat([one, two]) + off.abs()[1:], [one, two]),
    ]


def _many_logits(rng: random.Random) -> Args:
    """Over 16 documents, and padding that is NaN, as a hand-written softmax leaves it."""
    separate = [cases.floats(rng, n, 20) for n in cases.many_lengths(rng)]
    packed = torch.cat([*separate, torch.full((cases.many(rng), 20), torch.nan)])
    return packed + cases.floats(rng, *packed.shape) * 0.01, separate


def _odd_logits() -> list[Args]:
    """One number; padding that is NaN; a NaN that is compared."""
    one, three = torch.tensor([[2.0]]), torch.tensor([[1.0], [0.0], [4.0]])
    nan = torch.full((2, 1), torch.nan)
    return [
        (one.clone(), [one]),
        (torch.cat([one - 3, nan]), [one]),
        (torch.cat([one, three.index_fill(0, torch.tensor([1]), torch.nan) + 5]), [one, three]),
    ]


def _no_size(value: Any, packed: Tensor, separate: list[Tensor]) -> str:
    return "" if scalar_of(value) >= 0 else "a largest absolute difference is never negative"


EXERCISES = (
    Exercise(
        id="L1.2",
        title="Packed against separate",
        objective="Measure whether packing changed what the model computes.",
        minutes=10,
        difficulty="medium",
        chapter=5,
        idea="a packed row holds its documents one behind the other; padding has no partner.",
        prompt="Return the largest absolute difference between the logits of a packed row and "
        "those of its documents run separately. Padding at the end of the row stays out. Where a "
        "logit that is compared is NaN, the answer is NaN.",
        stub="def max_difference(packed, separate):\n"
        '    """[T, V], list of [n, V] -> one number"""\n    ...',
        hints=(
            "where in the row does the second document begin?",
            "join the separate logits along the token axis; how many rows does that give?",
            "differences have two signs; the largest size is asked for.",
        ),
        returns=One("the difference", "float"),
        reference=_largest,
        checks=(
            Exact("equal rows, a row with padding, a larger difference", _small_logits),
            Property("never negative", _logits, _no_size),
            Random("60 random rows", _logits, 60),
            Edges("one number, padding that is NaN, a NaN that counts, and large rows",
                  _odd_logits, _many_logits),
        ),
        misconceptions={
            "signed_difference": _signed,
            "mean_difference": _mean,
            "from_slot_0": _from_slot_0,
            "padding_compared": _padding_in,
            "nan_vanishes": _no_nan,
            "only_first_document": lambda packed, separate: _largest(packed, separate[:1]),
        },
    ),
    *lab01_honest.EXERCISES,
)  # fmt: skip
