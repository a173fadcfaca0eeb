"""From each rank's (sum, count) to one loss and one gradient.

Data-parallel training averages gradients over ranks. Whether that average is the gradient of the
token mean depends on what each rank divided by before: its own count (then it is a mean of means),
or the count of all ranks, with the factor that undoes the averaging.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn

from course_lib.inputs import choice
from course_lib.loss import LossSum

RULES = ("global_mean", "mean_of_means")
"""The two ways to reduce losses over ranks; the first is right."""


def ranks_in_group() -> int:
    """How many ranks take part; 1 without a process group."""
    return dist.get_world_size() if dist.is_initialized() else 1


def all_sum(pair: LossSum) -> LossSum:
    """Return the sum of the pairs of all ranks, the same on each; it carries no graph.

    >>> all_sum(LossSum(4.0, 2)).count
    2
    """
    total = pair.total.detach() if isinstance(pair.total, Tensor) else pair.total
    both = torch.tensor([float(total), float(pair.count)], dtype=torch.float64)
    if dist.is_initialized():
        dist.all_reduce(both)
    return LossSum(both[0].item(), int(both[1]))


def ddp_factor(count: int) -> float:
    """Return the factor for each rank's own *sum* so that averaging gives the global token mean.

    `count` is the number of targets of all ranks (and of all micro-batches between two steps).
    Raises ValueError when there are none.

    >>> ddp_factor(7) == 1 / 7
    True
    """
    if count < 1:
        raise ValueError("no rank has a target in this step: skip it, there is nothing to learn.")
    return ranks_in_group() / count


def backward(pairs: Iterable[LossSum], rule: str = "global_mean") -> float:
    """Run backward for this rank's micro-batches; return the loss that all ranks report.

    `pairs` are the rank's micro-batches of one step, each with its graph. Under "global_mean" every
    sum is divided by the targets of all micro-batches of all ranks. Under "mean_of_means" each
    micro-batch divides by its own targets, then by the number of micro-batches: what a loop does
    that takes `loss.mean()` and averages. Call `average_gradients` afterwards.

    >>> x = torch.ones(1, requires_grad=True)
    >>> backward([LossSum((4 * x).sum(), 2), LossSum((5 * x).sum(), 5)]) == 9 / 7
    True
    """
    parts = list(pairs)
    choice(rule, "rule", RULES)
    whole = all_sum(sum(parts, LossSum(0.0, 0)))
    if rule == "global_mean":
        factor = ddp_factor(whole.count)
        for part in parts:
            (part.total * factor).backward()
        return float(whole.mean)
    filled = [part for part in parts if part.count]
    means = [part.mean / len(parts) for part in filled]
    for mean in means:
        mean.backward()
    here = sum(float(mean.detach()) for mean in means)
    return all_sum(LossSum(here, 0)).total / ranks_in_group()


def average_gradients(model: nn.Module) -> None:
    """Average the gradients of all ranks in place, as DistributedDataParallel does.

    A parameter without a gradient counts as zero, so that every rank takes part in every call.
    """
    for parameter in model.parameters():
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        if dist.is_initialized():
            dist.all_reduce(parameter.grad)
            parameter.grad /= ranks_in_group()
