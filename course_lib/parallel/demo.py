"""One step of data-parallel training, the same code in a notebook's forks and under torchrun."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.loss import LossSum, token_losses
from course_lib.parallel.reduce import average_gradients, backward
from course_lib.vocabulary import IGNORE_INDEX

Documents = Sequence[Sequence[int]]


def toy_model() -> nn.Module:
    """Return a bigram table of 7 × 7 numbers, in float64 and the same on every rank."""
    table = nn.Embedding(7, 7, dtype=torch.float64)
    weights = torch.linspace(-1, 1, 49, dtype=torch.float64).view(7, 7)
    table.weight = nn.Parameter(weights)
    return table


def loss_of(model: nn.Module, documents: Documents) -> LossSum:
    """Return the (sum, count) of `documents` under `model`, with its graph."""
    width = max(len(d) for d in documents)
    ids = torch.tensor([[*d, *[0] * (width - len(d))] for d in documents])
    sizes = torch.tensor([len(d) for d in documents])
    labels = ids.masked_fill(torch.arange(width) >= sizes[:, None], IGNORE_INDEX)
    losses = token_losses(model(ids), labels)
    return LossSum.of(losses, labels[:, 1:] != IGNORE_INDEX)


def one_step(
    rank: int, ranks: int, documents: Documents, micro: int = 1, rule: str = "global_mean"
) -> tuple[float, Tensor]:
    """Return the reported loss and the averaged gradient of one step on this rank's documents.

    Rank r takes documents r, r + ranks, …, in micro-batches of `micro`.
    """
    model = toy_model()
    mine = documents[rank::ranks]
    parts = [mine[i : i + micro] for i in range(0, len(mine), micro)]
    loss = backward((loss_of(model, part) for part in parts), rule)
    average_gradients(model)
    return loss, model.weight.grad


def distance(a: Tensor, b: Tensor) -> float:
    """Return how far gradient `a` is from `b`, as a share of the length of `b`."""
    return float(F.pairwise_distance(a.flatten(), b.flatten(), eps=0) / b.norm())
