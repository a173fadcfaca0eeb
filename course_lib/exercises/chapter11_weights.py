"""Exercise 11.2: a weighted mean over micro-batches."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.chapter06_means import boolean
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.turns import weighted_sum

Micro = list[tuple[Tensor, Tensor, Tensor]]


def _whole(micro_batches: Micro) -> Any:
    return sum(weighted_sum(*part) for part in micro_batches).mean


def _total(micro_batches: Micro) -> Any:
    return sum(weighted_sum(*part).total for part in micro_batches)


def _per_target(micro_batches: Micro) -> Any:
    return _total(micro_batches) / sum(int(mask.sum()) for _, mask, _ in micro_batches)


def _mean_of_means(micro_batches: Micro) -> Any:
    pairs = [weighted_sum(*part) for part in micro_batches]
    return sum(p.total / p.count if p.count else p.total for p in pairs) / len(pairs)


def _all_weights(micro_batches: Micro) -> Any:
    return _total(micro_batches) / sum(weights.sum() for _, _, weights in micro_batches)


def _unweighted(micro_batches: Micro) -> Any:
    return _whole([(x, mask, torch.ones_like(x)) for x, mask, _ in micro_batches])


def _unweighted_sum(micro_batches: Micro) -> Any:
    """Weights in the denominator only."""
    plain = [(x, mask, torch.ones_like(x)) for x, mask, _ in micro_batches]
    return _total(plain) / sum(weighted_sum(*part).count for part in micro_batches)


def _part(rng: random.Random, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Losses that are 0 where nothing is scored, as `token_losses` has them, and weights."""
    weights = torch.tensor([[rng.choice([0.0, 0.25, 0.5, 2.0]) for _ in row] for row in mask])
    return cases.losses(rng, *mask.shape).masked_fill(~mask, 0), mask, weights + 0.25


def _micro_batches(rng: random.Random) -> Args:
    masks = [cases.some_true(rng, rng.randint(1, 3), rng.randint(2, 5)) for _ in range(2)]
    masks[0][0, 0], masks[1][0, 0] = True, False  # a target, and a slot that is none
    masks[1][0, 1] = True
    if cases.coin(rng, 0.3):
        masks.append(masks[0] & False)
    return ([_part(rng, mask) for mask in masks],)


def _many(rng: random.Random) -> Args:
    masks = [cases.some_true(rng, rng.randint(1, 3), rng.randint(2, 20)) for _ in range(20)]
    return ([_part(rng, mask) for mask in masks],)


def _between(value: Any, micro_batches: Micro) -> str:
    scored = torch.cat([losses[mask] for losses, mask, _ in micro_batches])
    low, high = scored.min().item(), scored.max().item()
    if low - 1e-4 <= scalar_of(value) <= high + 1e-4:
        return ""
    return f"no mean: the losses of the targets lie between {low:g} and {high:g}"


def _lesson() -> Micro:
    """An answer of two tokens and one of six, each with the weight 1 in all."""
    short = (torch.tensor([[0.0, 3.0, 3.0]]), boolean([[0, 1, 1]]), torch.tensor([[9.0, 0.5, 0.5]]))
    long = (torch.ones(1, 6), boolean([[1] * 6]), torch.full((1, 6), 1 / 6))
    return [short, long]


def _open() -> Micro:
    """A micro-batch without targets, then one with weights above 1."""
    losses, weights = torch.tensor([[1.0, 4.0]]), torch.tensor([[2.0, 4.0]])
    return [(losses * 0, boolean([[0, 0]]), weights), (losses, boolean([[1, 1]]), weights)]


EXERCISES = (
    Exercise(
        id="11.2",
        title="A weighted mean",
        objective="Keep weights in the sum and in the denominator, over micro-batches.",
        minutes=10,
        difficulty="medium",
        chapter=11,
        idea="a weight stands twice: on the loss above, and in place of the count below.",
        prompt="Each micro-batch is (losses, target_mask, weights), all [B, T-1]. Return the "
        "weighted mean over the targets of the whole batch. Weights stand on every slot, also "
        "where there is no target. One micro-batch may hold no target at all.",
        stub="def weighted_mean(micro_batches):\n"
        '    """list of (losses, target_mask, weights)\n    -> one number"""\n    ...',
        hints=(
            "with all weights 1 it must be the token mean. What is its denominator then?",
            "two numbers of each micro-batch add up: sum of weight · loss, and sum of weights.",
            "take both sums over the targets only, and divide after the loop.",
        ),
        returns=One("the mean", "float"),
        reference=_whole,
        checks=(
            Exact(
                "a short and a long answer with equal weight, and a micro-batch without targets",
                lambda: [(_lesson(),), (_open(),)],
            ),
            Property("a mean lies between its losses", _micro_batches, _between),
            Random("20 random batches", _micro_batches),
            Edges(
                "one micro-batch of one target, losses of 0, and long lists",
                lambda: [
                    ([(torch.tensor([[4.0]]), boolean([[1]]), torch.tensor([[0.5]]))],),
                    ([(torch.zeros(1, 2), boolean([[1, 0]]), torch.ones(1, 2))],),
                ],
                _many,
            ),
        ),
        misconceptions={
            "weights_not_counted": _per_target,
            "weights_of_all_slots": _all_weights,
            "mean_of_means": _mean_of_means,
            "weights_ignored": _unweighted,
            "weights_only_below": _unweighted_sum,
        },
        own=(),
    ),
)
