"""Shift, token losses, and the denominators. A loss is a pair (sum, count) until the last moment.

The shift happens here and nowhere else: logits at column t are scored on the label at column t+1.
Left out here: weights (`turns`), the head in chunks (`head`), z-loss, label smoothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from course_lib.inputs import choice
from course_lib.vocabulary import IGNORE_INDEX


def shift(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return logits [B, T-1, V] without the last column and labels [B, T-1] without the first.

    Raises ValueError if the two do not share [B, T]: labels that are one column shorter were
    shifted before.

    >>> _, targets = shift(torch.zeros(1, 4, 5), torch.tensor([[1, 2, 3, 4]]))
    >>> targets.tolist()
    [[2, 3, 4]]
    """
    _check_shapes(logits, labels)
    return logits[:, :-1], labels[:, 1:]


def token_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each prediction [B, T-1] in nats, float32, 0 where ignored.

    `logits` is [B, T, V], `labels` is [B, T] and *not* shifted. float64 logits stay float64.
    Equal to `F.cross_entropy` on what `shift` returns; the labels are moved instead of the logits,
    which saves a copy of the larger tensor.

    >>> token_losses(torch.zeros(1, 3, 7), torch.tensor([[1, 2, -100]])).shape
    torch.Size([1, 2])
    """
    _check_shapes(logits, labels)
    vocab = logits.shape[-1]
    _check_labels(labels, vocab)
    moved = F.pad(labels[:, 1:].long(), (0, 1), value=IGNORE_INDEX)
    wide = logits if logits.dtype == torch.float64 else logits.float()
    losses = F.cross_entropy(
        wide.reshape(-1, vocab), moved.reshape(-1), ignore_index=IGNORE_INDEX, reduction="none"
    )
    return losses.view(moved.shape)[:, :-1]


@dataclass(frozen=True)
class LossSum:
    """A sum of token losses and the number of targets in it; add them, then divide once.

    `total` is a float or a scalar tensor (which keeps its graph), `count` an int, or a sum of
    weights (`turns.weighted_sum`).

    >>> (LossSum(4.0, 2) + LossSum(5.0, 5)).mean
    1.2857142857142858
    """

    total: float | Tensor
    count: float

    @classmethod
    def of(cls, losses: Tensor, target_mask: Tensor) -> LossSum:
        """Return the pair of `losses` [B, T-1] over `target_mask` [B, T-1], summed in float64.

        >>> LossSum.of(torch.tensor([[1.0, 3.0]]), torch.tensor([[True, False]])).count
        1
        """
        _check_mask(losses, target_mask)
        kept = losses.masked_fill(~target_mask, 0)
        return cls(kept.sum(dtype=torch.float64), int(target_mask.sum()))

    def __add__(self, other: LossSum) -> LossSum:
        if not isinstance(other, LossSum):
            return NotImplemented
        return LossSum(self.total + other.total, self.count + other.count)

    def __radd__(self, other: object) -> LossSum:
        return self if other == 0 else NotImplemented  # so that sum(pairs) works

    @property
    def mean(self) -> float | Tensor:
        """The token mean. Raises ValueError where there is nothing to divide by."""
        if self.count == 0:
            raise ValueError(
                "this LossSum has zero targets, so it has no mean. Add other sums to it first, "
                "or leave the batch out; every label may be -100."
            )
        return self.total / self.count


def reduce_losses(
    losses: Tensor,
    target_mask: Tensor,
    by: str = "token",
    document_ids: Tensor | None = None,
) -> Tensor:
    """Return the mean of `losses` [B, T-1] over the targets in `target_mask` [B, T-1], a scalar.

    - by="token"     sum / number of targets
    - by="sequence"  mean of each sequence's own mean. A sequence is a row or, under packing, a
      document: give `document_ids` [B, T] (or [B, T-1], those of the targets); a target belongs to
      the document of its *token*. Sequences without a target do not count.
    - by="slot"      sum / number of slots, targets or not: the slots of `document_ids` [B, T] where
      given, else the entries of `losses`. It understates the loss; it is here to be recognised.

    Raises ValueError when there is no target at all.

    >>> reduce_losses(torch.tensor([[1.0, 3.0]]), torch.tensor([[True, True]])).item()
    2.0
    """
    choice(by, "by", ("token", "sequence", "slot"))
    pair = LossSum.of(losses, target_mask)
    if pair.count == 0:
        raise ValueError(
            "no targets: target_mask is all False, so no mean exists. "
            "Every label may be -100 (prompts, padding, or rows of one token)."
        )
    if document_ids is not None and document_ids.shape not in (
        losses.shape,
        (losses.shape[0], losses.shape[1] + 1),
    ):
        raise ValueError(
            f"document_ids has shape {tuple(document_ids.shape)}; for losses "
            f"{tuple(losses.shape)} it must be [B, T] = "
            f"{(losses.shape[0], losses.shape[1] + 1)}."
        )
    if by == "token":
        return pair.mean.to(losses.dtype)
    if by == "slot":
        slots = losses.numel() if document_ids is None else document_ids.numel()
        return (pair.total / slots).to(losses.dtype)
    return _sequence_mean(losses, target_mask, document_ids)


def _sequence_mean(losses: Tensor, target_mask: Tensor, document_ids: Tensor | None) -> Tensor:
    rows = torch.arange(len(losses), device=losses.device)[:, None].expand_as(losses)
    if document_ids is None:
        sequence = rows
    else:
        owner = document_ids[:, -losses.shape[1] :]  # the document of the target token
        sequence = rows * (int(document_ids.max()) + 1) + owner.clamp(min=0)
    kept, which = losses[target_mask].double(), sequence[target_mask]
    _, which = torch.unique(which, return_inverse=True)
    n = int(which.max()) + 1
    sums = torch.zeros(n, dtype=kept.dtype, device=kept.device).index_add(0, which, kept)
    return (sums / torch.bincount(which)).mean().to(losses.dtype)


def _check_shapes(logits: Tensor, labels: Tensor) -> None:
    if logits.ndim != 3 or labels.ndim != 2 or logits.shape[:2] != labels.shape:
        raise ValueError(
            f"logits {tuple(logits.shape)} and labels {tuple(labels.shape)} must be [B, T, V] and "
            "[B, T] with the same B and T. Labels are not shifted before the loss; "
            "the loss does it once."
        )
    if labels.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"labels must be int64, got {labels.dtype}. Convert them with .long().")


def _check_labels(labels: Tensor, vocab: int) -> None:
    bad = (labels != IGNORE_INDEX) & ((labels < 0) | (labels >= vocab))
    if bad.any():
        row, column = (int(i) for i in bad.nonzero()[0])
        raise ValueError(
            f"labels[{row}, {column}] is {int(labels[row, column])}, but the logits know the ids "
            f"0 to {vocab - 1} and {IGNORE_INDEX} for 'no target'."
        )


def _check_mask(losses: Tensor, target_mask: Tensor) -> None:
    for name, value in (("losses", losses), ("target_mask", target_mask)):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name} must be a tensor [B, T-1], got {type(value).__name__}. "
                f"Wrap it: torch.tensor({name})."
            )
    if not losses.is_floating_point():
        raise TypeError(f"losses must be floating-point numbers, got {losses.dtype}.")
    if losses.shape != target_mask.shape:
        raise ValueError(
            f"losses {tuple(losses.shape)} and target_mask {tuple(target_mask.shape)} differ. "
            "Both are [B, T-1], over shifted predictions; Batch.target_mask has that shape."
        )
    if target_mask.dtype != torch.bool:
        raise TypeError(
            f"target_mask must be boolean, got {target_mask.dtype}. Use labels[:, 1:] != -100."
        )
