"""Exercise 6.1: the mean over tokens."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.loss import reduce_losses

Micro = list[tuple[Tensor, Tensor]]
MEAN = One("the mean", "float")


def boolean(rows: list[list[int]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.bool)


def row_means(losses: Tensor, target_mask: Tensor) -> Tensor:
    return reduce_losses(losses, target_mask, "sequence")


def scored_sum(losses: Tensor, target_mask: Tensor) -> Tensor:
    return losses.masked_fill(~target_mask, 0).sum()


def lesson() -> Args:
    """The lesson's two sequences: 1 and 3 nats, and five times 1; four entries are no targets."""
    losses = [[1.0, 3.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]]
    return torch.tensor(losses), boolean([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])


def losses_and_mask(rng: random.Random) -> Args:
    rows, columns = rng.randint(1, 4), rng.randint(2, 6)
    return cases.losses(rng, rows, columns), cases.some_true(rng, rows, columns)


def losses_in(rng: random.Random, target_mask: Tensor) -> Tensor:
    """Losses of targets, some of them 0, and any other number where there is no target."""
    losses = cases.losses(rng, *target_mask.shape) * cases.coins(rng, *target_mask.shape, 0.9)
    other = torch.tensor([rng.choice([-5.0, 0.0, 3.0, 1e6]) for _ in range(losses.numel())])
    return torch.where(target_mask, losses, other.view_as(losses))


def many_losses_and_mask(rng: random.Random) -> Args:
    mask = cases.some_true(rng, cases.many(rng), cases.many(rng))
    return losses_in(rng, mask), mask


def _outside(value: Any, losses: Tensor, target_mask: Tensor) -> str:
    low, high = losses[target_mask].min().item(), losses[target_mask].max().item()
    if low - 1e-4 <= scalar_of(value) <= high + 1e-4:
        return ""
    return f"no mean: the scored losses lie between {low:g} and {high:g}"


EXERCISES = (
    Exercise(
        id="6.1",
        title="Token mean",
        objective="Divide a sum of losses by the number of targets in it.",
        minutes=5,
        difficulty="easy",
        chapter=6,
        idea="the token mean is the sum over targets, divided by the number of targets.",
        prompt="Return the token mean of the losses. Entries outside of target_mask are no "
        "targets, whatever number stands there.",
        stub="def token_mean(losses, target_mask):\n"
        '    """both [B, T-1] -> one number"""\n    ...',
        hints=(
            "two numbers are needed, and a division at the very end.",
            "a boolean mask picks the entries: losses[target_mask].",
            "how many are picked? That is the denominator, over all rows together.",
        ),
        returns=MEAN,
        reference=reduce_losses,
        checks=(
            Exact(
                "the lesson's two sequences, a row with one target, entries that do not count",
                lambda: [
                    lesson(),
                    (torch.tensor([[2.0, 7.0]]), boolean([[0, 1]])),
                    (torch.tensor([[1.0, 9.0], [2.0, 9.0]]), boolean([[1, 0], [1, 0]])),
                ],
            ),
            Property("a mean lies between its smallest and its largest loss", losses_and_mask,
                     _outside),
            Random("20 random batches", losses_and_mask),
            Edges(
                "one target, losses of 0, a row without targets, and large batches",
                lambda: [
                    (torch.tensor([[2.0]]), boolean([[1]])),
                    (torch.tensor([[0.0, 0.0, 3.0]]), boolean([[1, 1, 1]])),
                    (torch.tensor([[1.0, -1e6], [1e6, 0.0]]), boolean([[1, 0], [0, 0]])),
                ],
                many_losses_and_mask,
            ),
        ),
        misconceptions={
            "mean_of_row_means": row_means,
            "divides_by_predictions": lambda losses, mask: scored_sum(losses, mask) / mask.numel(),
            "divides_by_slots": lambda losses, mask: scored_sum(losses, mask)
            / (mask.numel() + len(mask)),
            "ignored_scored": lambda losses, mask: losses.mean(),
            "not_divided": scored_sum,
            "divides_by_rows": lambda losses, mask: scored_sum(losses, mask) / len(losses),
        },
        own=("loss.reduce_losses", "loss.LossSum"),
    ),
)  # fmt: skip
