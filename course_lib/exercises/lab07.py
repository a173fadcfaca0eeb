"""Exercise of lab 7: a sequence that is cut over ranks."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.vocabulary import IGNORE_INDEX


def _targets(labels: Tensor, ranks: int) -> Tensor:
    """The specification: what follows each slot, looked up one by one."""
    rows, width = labels.shape
    out = torch.full((ranks, rows, width // ranks), IGNORE_INDEX)
    for row in range(rows):
        for column in range(width - 1):
            rank, place = divmod(column, width // ranks)
            out[rank, row, place] = labels[row, column + 1]
    return out


def _moved(labels: Tensor) -> Tensor:
    return torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], IGNORE_INDEX)], 1)


def _cut(labels: Tensor, ranks: int) -> Tensor:
    return torch.stack(labels.chunk(ranks, 1))


def _labels(rng: random.Random) -> Args:
    ranks = rng.randint(2, 4)
    width = ranks * rng.randint(2, 4)
    rows = [cases.tokens(rng, width) for _ in range(rng.randint(1, 3))]
    labels = torch.tensor(rows)
    return labels.masked_fill(cases.coins(rng, *labels.shape, 0.2), IGNORE_INDEX), ranks


def _many_ranks(rng: random.Random) -> Args:
    ranks = cases.many(rng)
    width = ranks * rng.randint(1, 3)
    labels = cases.rectangle(
        [cases.tokens(rng, width, 0, cases.MOST_ID) for _ in range(cases.many(rng))]
    )
    return labels.masked_fill(cases.coins(rng, *labels.shape, 0.2), IGNORE_INDEX), ranks


def _nothing_lost(value: Any, labels: Tensor, ranks: int) -> str:
    """All targets of the row are there, and no other."""
    wanted = int((labels[:, 1:] != IGNORE_INDEX).sum())
    found = int((numbers(value) != IGNORE_INDEX).sum())
    if wanted == found:
        return ""
    return f"the whole rows have {wanted} targets, and your ranks have {found} between them"


EXERCISES = (
    Exercise(
        id="L7.1",
        title="A row over several ranks",
        objective="Cut rows over ranks without losing a target.",
        minutes=10,
        difficulty="medium",
        chapter=2,
        idea="shift the whole row, then cut it: a rank cannot see the first token of the next one.",
        prompt="Each of R ranks holds a stretch of T / R columns. Return what each prediction is "
        "scored on, rank by rank; -100 where nothing follows in the row.",
        stub="def rank_targets(labels, ranks):\n"
        '    """labels [B, T], not shifted -> [R, B, T / R]"""\n    ...',
        hints=(
            "which label is the target of the last column of rank 0? Where does it stand?",
            "do the shift while the row is still whole.",
            "tensor.chunk(ranks, dim=1) cuts columns; torch.stack puts the parts one behind "
            "another.",
        ),
        returns=Numbers("targets", "int", ("rank", "row", "place")),
        reference=_targets,
        checks=(
            Exact(
                "two ranks, four columns; three ranks; two rows with a label switched off",
                lambda: [
                    (torch.tensor([[5, 6, 7, 8]]), 2),
                    (torch.tensor([[1, 2, 3, 1, 2, 3]]), 3),
                    (torch.tensor([[1, 2, IGNORE_INDEX, 4], [3, 3, 1, 1]]), 2),
                ],
            ),
            Property("no target is lost", _labels, _nothing_lost),
            Random("20 random batches", _labels),
            Edges(
                "one rank, one column for each rank, nothing but -100, and many ranks",
                lambda: [
                    (torch.tensor([[5, 6, 7]]), 1),
                    (torch.tensor([[5, 0]]), 2),
                    (torch.full((2, 4), IGNORE_INDEX), 2),
                ],
                _many_ranks,
            ),
        ),
        misconceptions={
            "cut_then_shift": lambda y, ranks: torch.stack(
                [_moved(part) for part in y.chunk(ranks, 1)]
            ),
            "cut_unshifted": _cut,
            "one_too_many_shifts": lambda y, ranks: torch.stack(
                [_moved(part) for part in _moved(y).chunk(ranks, 1)]
            ),
            "stripes": lambda y, ranks: torch.stack([_moved(y)[:, r::ranks] for r in range(ranks)]),
            "wrapped_around": lambda y, ranks: _cut(y.roll(-1, 1), ranks),
        },
    ),
)
