"""The output head and the loss together, a chunk of targets at a time, so that the logits of a
large vocabulary are never all there: [B, T, V] is the largest tensor of a training step.

A chunk's logits give its losses and, at once, its part of both gradients; then they are dropped.
The idea is that of fused linear cross-entropy kernels (Liger Kernel,
https://doi.org/10.48550/arXiv.2410.10989); slots that are no targets cost nothing here. The chunks
of a gradient are added up in float32 at least: in bfloat16 each of hundreds of small parts would be
rounded away. Left out: second derivatives, label smoothing, z-loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from course_lib.inputs import as_int
from course_lib.loss import LossSum
from course_lib.vocabulary import IGNORE_INDEX

__all__ = ["head_loss"]


def head_loss(
    hidden: Tensor, weight: Tensor, labels: Tensor, *, bias: Tensor | None = None, chunk: int = 256
) -> LossSum:
    """Return (sum, count) of the token losses of `hidden @ weight.T + bias`, without the logits.

    `hidden` [B, T, d] is what the head reads, `weight` [V, d] and `bias` [V] are the head,
    `labels` [B, T] are *not* shifted, -100 where a slot is no target. `chunk`: targets whose
    logits exist at a time, [chunk, V]. The sum has a gradient for `hidden`, `weight` and `bias`.
    Raises ValueError for shapes that do not fit and for labels outside the vocabulary.

    >>> pair = head_loss(torch.zeros(1, 3, 4), torch.zeros(7, 4), torch.tensor([[1, 2, -100]]))
    >>> pair.count, round(pair.total.item(), 4)
    (1, 1.9459)
    """
    chunk = as_int(chunk, "chunk", at_least=1)
    _check(hidden, weight, labels, bias)
    targets = labels[:, 1:]
    kept = targets != IGNORE_INDEX
    read, wanted = hidden[:, :-1][kept], targets[kept].long()
    bad = (wanted < 0) | (wanted >= len(weight))
    if bad.any():
        raise ValueError(
            f"labels hold {int(wanted[bad][0])}, but the head knows the ids 0 to "
            f"{len(weight) - 1} and {IGNORE_INDEX} for 'no target'."
        )
    return LossSum(_HeadLoss.apply(read, weight, bias, wanted, chunk), len(wanted))


class _HeadLoss(torch.autograd.Function):
    """The sum of the losses; its gradients are made on the way, where somebody needs them."""

    @staticmethod
    def forward(
        ctx: Any, read: Tensor, weight: Tensor, bias: Tensor | None, wanted: Tensor, chunk: int
    ) -> Tensor:
        needed = ctx.needs_input_grad[:3]
        ctx.dtype = read.dtype
        grads = [
            torch.zeros_like(part, dtype=_wide(part.dtype)) if needs else None
            for part, needs in zip((read, weight, bias), needed, strict=True)
        ]
        total = torch.zeros((), dtype=torch.float64, device=read.device)
        for part in _parts(len(read), chunk):
            logits = read[part] @ weight.T
            if bias is not None:
                logits += bias
            log_chances = torch.log_softmax(logits.to(_wide(logits.dtype)), 1)
            right = wanted[part, None]
            total -= log_chances.gather(1, right).sum(dtype=torch.float64)
            if any(needed):
                _add_gradients(log_chances.exp_(), right, read, weight, part, grads)
        ctx.save_for_backward(*grads)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        scaled = (  # before rounding: the scale of a GradScaler, 65536, is no float16
            None if g is None else (g * upstream.to(g.dtype)).to(ctx.dtype)
            for g in ctx.saved_tensors
        )
        return *scaled, None, None


def _add_gradients(
    chances: Tensor, right: Tensor, read: Tensor, weight: Tensor, part: slice,
    grads: list[Tensor | None],
) -> None:  # fmt: skip
    """The gradient of a loss by its logits is softmax minus one-hot; `chances` becomes it."""
    chances.scatter_add_(1, right, torch.full_like(right, -1, dtype=chances.dtype))
    by_logits = chances.to(weight.dtype)
    of_read, of_weight, of_bias = grads
    if of_read is not None:
        of_read[part] = by_logits @ weight
    if of_weight is not None:
        if of_weight.dtype == by_logits.dtype:
            of_weight.addmm_(by_logits.T, read[part])
        else:
            of_weight += by_logits.T @ read[part]
    if of_bias is not None:
        of_bias += chances.sum(0)


def _wide(dtype: torch.dtype) -> torch.dtype:
    """The type to add up in: float32, or float64 where that is given."""
    return torch.promote_types(dtype, torch.float32)


def _parts(size: int, chunk: int) -> Iterator[slice]:
    return (slice(start, start + chunk) for start in range(0, size, chunk))


def _check(hidden: Tensor, weight: Tensor, labels: Tensor, bias: Tensor | None) -> None:
    parts = {"hidden": hidden, "weight": weight, "labels": labels, "bias": bias}
    for name, value in parts.items():
        if not isinstance(value, Tensor) and not (name == "bias" and value is None):
            raise TypeError(
                f"{name} must be a tensor, got {type(value).__name__}. Of a torch.nn.Linear give "
                "weight=head.weight, bias=head.bias."
            )
    if not hidden.is_floating_point():
        raise TypeError(f"hidden must be floating-point numbers, got {hidden.dtype}.")
    if hidden.ndim != 3 or labels.ndim != 2 or hidden.shape[:2] != labels.shape:
        raise ValueError(
            f"hidden {tuple(hidden.shape)} and labels {tuple(labels.shape)} must be [B, T, d] and "
            "[B, T] with the same B and T. Labels are not shifted before; the loss does it once."
        )
    if weight.ndim != 2 or weight.shape[1] != hidden.shape[2]:
        raise ValueError(
            f"weight {tuple(weight.shape)} must be [V, d] with d = {hidden.shape[2]}, as in "
            "torch.nn.Linear(d, V).weight."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"bias {tuple(bias.shape)} must be [V] = [{len(weight)}].")
    if labels.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"labels must be int64, got {labels.dtype}. Convert them with .long().")
    for name, value in parts.items():
        if value is not None and value.device != hidden.device:
            raise ValueError(f"{name} is on {value.device} and hidden on {hidden.device}.")
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value.dtype != hidden.dtype:
            raise TypeError(
                f"{name} is {value.dtype} and hidden {hidden.dtype}; use one dtype. Under autocast "
                f"give {name}.to(hidden.dtype): its gradient arrives in its own type."
            )
