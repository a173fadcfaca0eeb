"""Exercises 6.3 and 6.4: sums and counts of micro-batches and of ranks."""

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
from course_lib.exercises.containers import Items, parts
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


def _ranks(pairs: list[tuple[float, int]]) -> tuple[float, float]:
    whole = sum(LossSum(total, count) for total, count in pairs)
    return float(whole.mean), len(pairs) / whole.count


def _rank_means(pairs: list[tuple[float, int]]) -> tuple[float, float]:
    means = [LossSum(total, max(count, 1)).mean for total, count in pairs]
    return sum(means) / len(pairs), _ranks(pairs)[1]


def _pairs(rng: random.Random) -> Args:
    return ([(rng.randint(1, 40) / 4, rng.randint(1, 9)) for _ in range(rng.randint(2, 4))],)


def _many_pairs(rng: random.Random) -> Args:
    """Over 16 ranks, some of them without targets."""
    counts = [5, *(rng.randint(0, 9) for _ in range(cases.many(rng)))]
    return ([(rng.randint(0, 40) / 4 if count else 0.0, count) for count in counts],)


def _gradient(value: Any, pairs: list[tuple[float, int]]) -> str:
    """What DDP's average of the scaled sums comes to must be the global mean."""
    factor = scalar_of(parts(value)[1])
    averaged = sum(factor * total for total, _ in pairs) / len(pairs)
    if abs(averaged - _ranks(pairs)[0]) < 1e-4:
        return ""
    return (
        f"the ranks' sums times your factor average to {averaged:.6g}, "
        f"and the global mean is {_ranks(pairs)[0]:.6g}"
    )


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
            "not_divided": lambda micro_batches: sum(scored_sum(*pair) for pair in micro_batches),
        },
        own=("loss.reduce_losses", "loss.LossSum"),
    ),
    Exercise(
        id="6.4",
        title="Ranks",
        objective="Correct what data-parallel averaging does to a token mean.",
        minutes=10,
        difficulty="hard",
        chapter=6,
        idea="DDP divides the sum of gradients by the number of ranks; the loss must undo that.",
        prompt="Each rank has a sum of losses and a count of targets, which may be 0. Return the "
        "global token mean, and the factor by which every rank multiplies its own sum so that the "
        "average of the gradients over ranks is the gradient of that mean.",
        stub="def ranks(pairs):\n"
        '    """one (sum, count) for each rank -> mean, factor"""\n    ...',
        hints=(
            "the global mean needs one sum and one count over all ranks.",
            "DDP gives (f·sum_0 + f·sum_1 + …) / number of ranks. What should it give?",
            "solve for f: it holds the number of ranks and the global count.",
        ),
        returns=Items((One("the global mean", "float"), One("the factor", "float")),
                      ("mean", "factor")),
        reference=_ranks,
        checks=(
            Exact(
                "the lesson's sums on two ranks, equal counts, three ranks",
                lambda: [
                    ([(4.0, 2), (5.0, 5)],),
                    ([(3.0, 2), (1.0, 2)],),
                    ([(6.0, 1), (1.0, 4), (2.0, 4)],),
                ],
            ),
            Property("the averaged gradient is that of the global mean", _pairs, _gradient),
            Random("20 random sets of ranks", _pairs),
            Edges(
                "one rank, a rank without targets, losses of 0, and many ranks",
                lambda: [
                    ([(4.0, 2)],),
                    ([(0.0, 0), (6.0, 3)],),
                    ([(0.0, 3), (2.0, 1)],),
                ],
                _many_pairs,
            ),
        ),
        misconceptions={
            "mean_of_rank_means": _rank_means,
            "ddp_average_forgotten": lambda pairs: (
                _ranks(pairs)[0], _ranks(pairs)[1] / len(pairs)
            ),
            "counts_forgotten": lambda pairs: (_ranks(pairs)[0], 1 / len(pairs)),
            "ranks_multiplied_only": lambda pairs: (_ranks(pairs)[0], float(len(pairs))),
            "divided_by_ranks_twice": lambda pairs: (
                _ranks(pairs)[0], _ranks(pairs)[1] / len(pairs) ** 2
            ),
        },
        own=("loss.LossSum",),
    ),
)  # fmt: skip
