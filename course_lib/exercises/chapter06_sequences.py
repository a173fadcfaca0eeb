"""Exercise 6.2: the mean over sequences, under packing."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.chapter06_means import MEAN, boolean, losses_in, row_means
from course_lib.exercises.checks import Args, Edges, Exact, Random
from course_lib.exercises.exercise import Exercise
from course_lib.loss import reduce_losses


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
            "mean_of_row_means": lambda losses, mask, ids: row_means(losses, mask),
            "document_of_the_input": _by_input,
            "rows_share_documents": _rows_forgotten,
            "empty_documents_count": _empty_count,
            "token_for_sequence": lambda losses, mask, ids: reduce_losses(losses, mask),
        },
        own=("loss.reduce_losses",),
    ),
)  # fmt: skip
