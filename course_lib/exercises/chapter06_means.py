"""Exercises 6.1 and 6.2: the mean over tokens, and over sequences."""

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


def _row_means(losses: Tensor, target_mask: Tensor) -> Tensor:
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


def _by_document(losses: Tensor, target_mask: Tensor, document_ids: Tensor) -> Tensor:
    return reduce_losses(losses, target_mask, "sequence", document_ids)


def _by_input(losses: Tensor, target_mask: Tensor, document_ids: Tensor) -> Tensor:
    return reduce_losses(losses, target_mask, "sequence", document_ids[:, :-1])


def _rows_forgotten(losses: Tensor, target_mask: Tensor, document_ids: Tensor) -> Tensor:
    flat = document_ids[:, 1:].reshape(1, -1)
    return reduce_losses(losses.reshape(1, -1), target_mask.reshape(1, -1), "sequence", flat)


def _empty_count(losses: Tensor, target_mask: Tensor, document_ids: Tensor) -> Tensor:
    """Documents without a target enter the mean of means as 0."""
    scored = document_ids[:, 1:].where(target_mask, -1)
    pairs = [(r, d) for r, row in enumerate(document_ids) for d in row[row >= 0].unique()]
    with_target = sum(bool((scored[r] == d).any()) for r, d in pairs)
    return _by_document(losses, target_mask, document_ids) * with_target / len(pairs)


def _packed_losses(rng: random.Random) -> Args:
    mask, ids = cases.packed_targets(rng)
    return cases.losses(rng, len(mask), mask.shape[1]), mask, ids


def _many_packed_losses(rng: random.Random) -> Args:
    ids = cases.many_ids(rng, cases.many(rng))
    mask = cases.some_true(rng, len(ids), ids.shape[1] - 1) & (ids[:, 1:] >= 0)
    mask[0, 0] = True
    return losses_in(rng, mask), mask, ids


def _few_or_nothing() -> list[Args]:
    """One target; losses of 0; a row without targets; over four documents in a row."""
    return [
        (torch.tensor([[2.0]]), boolean([[1]]), cases.rectangle([[0, 0]])),
        (torch.tensor([[0.0, 0.0, 4.0]]), boolean([[1, 1, 1]]), cases.rectangle([[0, 0, 0, 1]])),
        (torch.tensor([[9.0, -1.0], [1.0, 9.0]]), boolean([[0, 0], [1, 0]]),
         cases.rectangle([[0, 0, 0], [0, 0, -1]])),
        (torch.tensor([[1.0, 1.0, 1.0, 1.0, 8.0], [2.0, 4.0, 0.0, 0.0, 0.0]]),
         boolean([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]),
         cases.rectangle([[0, 1, 2, 3, 4, 5], [0, 0, 0, -1, -1, -1]])),
    ]


def _small_packed() -> list[Args]:
    return [
        (
            torch.tensor([[1.0, 3.0, 1.0, 1.0, 1.0, 0.0]]),
            boolean([[1, 1, 1, 1, 1, 0]]),
            cases.rectangle([[0, 0, 0, 1, 1, 1, -1]]),
        ),
        (
            torch.tensor([[1.0, 3.0, 0.0], [5.0, 2.0, 2.0]]),
            boolean([[1, 0, 0], [1, 1, 1]]),
            cases.rectangle([[0, 0, 1, -1], [0, 0, 1, 1]]),
        ),
    ]


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
            "mean_of_row_means": _row_means,
            "divides_by_predictions": lambda losses, mask: scored_sum(losses, mask) / mask.numel(),
            "divides_by_slots": lambda losses, mask: scored_sum(losses, mask)
            / (mask.numel() + len(mask)),
            "ignored_scored": lambda losses, mask: losses.mean(),
            "not_divided": scored_sum,
            "divides_by_rows": lambda losses, mask: scored_sum(losses, mask) / len(losses),
        },
        own=("loss.reduce_losses", "loss.LossSum"),
    ),
    Exercise(
        id="6.2",
        title="Sequence mean under packing",
        objective="Average documents, not rows, when several documents share a row.",
        minutes=15,
        difficulty="hard",
        chapter=6,
        idea="a target belongs to the document of its own token, one slot right of its prediction.",
        prompt="Return the mean of the documents' own mean losses. A target belongs to the "
        "document of its token; documents without a target do not count. Document ids start at 0 "
        "in each row, -1 is padding.",
        stub="def sequence_mean(losses, target_mask, document_ids):\n"
        '    """[B, T-1], [B, T-1], [B, T] -> one number"""\n    ...',
        hints=(
            "losses have one column fewer than document_ids. Which column of ids fits the targets?",
            "document 0 of row 0 and document 0 of row 1 are two documents.",
            "for each row and each id: the losses of its targets, their mean if there are any; "
            "then the mean of these means.",
        ),
        returns=MEAN,
        reference=_by_document,
        checks=(
            Exact("a packed row, and two rows of two documents", _small_packed),
            Random("40 random packed batches", _packed_losses, 40),
            Edges("one target, losses of 0, a row without targets, and large batches",
                  _few_or_nothing, _many_packed_losses),
        ),
        misconceptions={
            "mean_of_row_means": lambda losses, mask, ids: _row_means(losses, mask),
            "document_of_the_input": _by_input,
            "rows_share_documents": _rows_forgotten,
            "empty_documents_count": _empty_count,
            "token_for_sequence": lambda losses, mask, ids: reduce_losses(losses, mask),
        },
        own=("loss.reduce_losses",),
    ),
)  # fmt: skip
