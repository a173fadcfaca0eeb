"""Exercise 6.3: sums and counts of micro-batches."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.chapter06_means import (
    boolean,
    lesson,
    losses_and_mask,
    losses_in,
    scored_sum,
)
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.loss import LossSum, reduce_losses

Micro = list[tuple[Tensor, Tensor]]
MEAN = One("the mean", "float")


def _whole(micro_batches: Micro) -> Any:
    return sum(LossSum.of(losses, mask) for losses, mask in micro_batches).mean


def _mean_of_means(micro_batches: Micro) -> Any:
    means = [reduce_losses(x, m) if m.any() else x.sum() * 0 for x, m in micro_batches]
    return torch.stack(means).mean()


def _mean_of_means_nan(micro_batches: Micro) -> Any:
    return torch.stack([losses[mask].mean() for losses, mask in micro_batches]).mean()


def _mean_of_scored_means(micro_batches: Micro) -> Any:
    return _mean_of_means([(x, m) for x, m in micro_batches if m.any()])


def _per_prediction(micro_batches: Micro) -> Any:
    predictions = sum(mask.numel() for _, mask in micro_batches)
    return sum(scored_sum(*pair) for pair in micro_batches) / predictions


def _per_micro_batch(micro_batches: Micro) -> Any:
    return sum(scored_sum(*pair) for pair in micro_batches) / len(micro_batches)


def _micro_batches(rng: random.Random) -> Args:
    batches = [losses_and_mask(rng) for _ in range(rng.randint(2, 4))]
    if cases.coin(rng, 0.3):
        losses, mask = batches[-1]
        batches[-1] = losses, mask & False
    return (batches,)


def _many_micro_batches(rng: random.Random) -> Args:
    """Over 16 of unlike shapes; about one in five has no target."""
    masks = [cases.some_true(rng, rng.randint(1, 4), rng.randint(1, 20)) for _ in range(20)]
    masks[1:] = [mask & cases.coin(rng, 0.8) for mask in masks[1:]]
    return ([(losses_in(rng, mask), mask) for mask in masks],)


def _split_matters(value: Any, micro_batches: Micro) -> str:
    """The same losses in one micro-batch of a single row must give the same mean."""
    losses = torch.cat([x.flatten() for x, _ in micro_batches])[None]
    mask = torch.cat([m.flatten() for _, m in micro_batches])[None]
    one = _whole([(losses, mask)]).item()
    if abs(scalar_of(value) - one) < 1e-4:
        return ""
    return f"all losses in one batch have the mean {one:.6g}: cutting it up must not change that"


EXERCISES = (
    Exercise(
        id="6.3",
        title="Accumulation",
        objective="Get the mean of a batch from its micro-batches.",
        minutes=8,
        difficulty="medium",
        chapter=6,
        idea="add sums and counts over all micro-batches, and divide once.",
        prompt="Return the token mean of the whole batch from its micro-batches. One of them may "
        "hold no target at all.",
        stub="def accumulate(micro_batches):\n"
        '    """list of (losses, target_mask) -> one number"""\n    ...',
        hints=(
            "which two numbers of a micro-batch can be added to those of another?",
            "a micro-batch without targets adds 0 to both.",
            "divide after the loop, not in it.",
        ),
        returns=MEAN,
        reference=_whole,
        checks=(
            Exact(
                "the lesson's sequences as two micro-batches, and one without targets",
                lambda: [
                    ([(x[None], m[None]) for x, m in zip(*lesson(), strict=True)],),
                    ([lesson(), (torch.tensor([[4.0]]), boolean([[0]]))],),
                ],
            ),
            Property("how the batch is cut does not matter", _micro_batches, _split_matters),
            Random("20 random batches", _micro_batches),
            Edges(
                "one micro-batch, the first without targets, losses of 0, and long lists",
                lambda: [
                    ([lesson()],),
                    ([(torch.tensor([[4.0]]), boolean([[0]])), lesson()],),
                    ([(torch.tensor([[0.0, 0.0]]), boolean([[1, 1]])), lesson()],),
                ],
                _many_micro_batches,
            ),
        ),
        misconceptions={
            "mean_of_means": _mean_of_means,
            "mean_of_scored_means": _mean_of_scored_means,
            "divides_by_predictions": _per_prediction,
            "divides_by_micro_batches": _per_micro_batch,
            "mean_of_means_nan": _mean_of_means_nan,
            "means_added": lambda micro_batches: _mean_of_means(micro_batches) * len(micro_batches),
            "not_divided": lambda micro_batches: sum(scored_sum(*pair) for pair in micro_batches),
        },
        own=("loss.reduce_losses", "loss.LossSum"),
    ),
)  # fmt: skip
