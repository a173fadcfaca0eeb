"""On which label does a loss function score each column of logits?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from course_lib.inputs import as_int
from course_lib.probes.result import Probe
from course_lib.vocabulary import IGNORE_INDEX


@dataclass(frozen=True, repr=False)
class Shift(Probe):
    """`Probe` with the shift, and for each (row, column) of logits the (row, column) of its label.

    `shift` is 1 for a loss that shifts, 0 for one that expects shifted labels, None when the
    columns disagree. `ignores` says whether a label of -100 is left out.
    """

    shift: int | None = None
    ignores: bool = True
    pairs: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = ()

    def lines(self) -> list[str]:
        rows = [f"logits{list(a)} is scored on labels{list(b)}" for a, b in self.pairs[:4]]
        return rows if self.shift is None or not self.ok else []


def probe_shift(
    loss_fn: Callable[[Tensor, Tensor], Any],
    *,
    rows: int = 2,
    length: int = 6,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> Shift:
    """Find the label that each column of logits is scored on, from the gradient alone.

    `loss_fn(logits [B, T, V], labels [B, T])` returns a scalar (or something with `.loss`). Every
    label is another id; the one entry of a column's gradient that is negative is the id it was
    scored on. That holds for any cross-entropy, whatever it divides by: a gradient counts as none
    below `tolerance` times the largest one.

    `ok` means: one shift for all columns, 0 or 1, inside the row, and -100 is left out.

    Raises TypeError if the loss has no gradient with respect to the logits.

    >>> from course_lib import reduce_losses, token_losses
    >>> def loss(logits, labels):
    ...     return reduce_losses(token_losses(logits, labels), labels[:, 1:] != -100)
    >>> probe_shift(loss).shift
    1
    """
    b, t = as_int(rows, "rows", at_least=1), as_int(length, "length", at_least=3)
    rng = torch.Generator().manual_seed(as_int(seed, "seed"))
    labels = torch.arange(b * t).view(b, t)
    logits = torch.randn(b, t, b * t, generator=rng)
    pairs = _pairs(loss_fn, logits, labels, tolerance)
    hidden = labels.clone()
    hidden[:, t // 2] = IGNORE_INDEX
    left = _pairs(loss_fn, logits, hidden, tolerance)
    ignores = len(left) == len(pairs) - sum(column == t // 2 for _, (_, column) in pairs)
    steps = {y[1] - x[1] if x[0] == y[0] else None for x, y in pairs}
    shift = steps.pop() if len(steps) == 1 else None
    ok = shift in (0, 1) and ignores
    return Shift(
        "shift", ok, _sentence(shift, pairs, ignores), 2, tolerance, seed, shift, ignores,
        tuple(pairs),
    )  # fmt: skip


def _pairs(
    loss_fn: Callable[[Tensor, Tensor], Any], logits: Tensor, labels: Tensor, tolerance: float
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    logits = logits.clone().requires_grad_()
    try:
        out = loss_fn(logits, labels)
    except (IndexError, RuntimeError) as error:
        raise TypeError(
            f"the loss function failed on logits {tuple(logits.shape)} and labels "
            f"{tuple(labels.shape)}: {error}"
        ) from error
    loss = getattr(out, "loss", out)
    if not isinstance(loss, Tensor) or loss.numel() != 1 or not loss.requires_grad:
        raise TypeError(
            "the loss function must return a scalar tensor with a gradient, got "
            f"{type(out).__name__}. Wrap it: probe_shift(lambda logits, labels: …)."
        )
    (grad,) = torch.autograd.grad(loss, logits, allow_unused=True)
    if grad is None:
        raise TypeError("the loss does not depend on the logits; nothing can be found out.")
    width, pairs = labels.shape[1], []
    largest = grad.abs().amax(-1)
    for row, column in (largest > tolerance * largest.max()).nonzero().tolist():
        target = int(grad[row, column].argmin())
        pairs.append(((row, column), divmod(target, width)))
    return pairs


def _sentence(shift: int | None, pairs: list, ignores: bool) -> str:
    if not pairs:
        return "no column of logits has a gradient; nothing is trained."
    crossing = [x for x, y in pairs if x[0] != y[0]]
    if crossing:
        return (
            f"{len(crossing)} columns are scored on a label of another row: "
            "the tensors are flattened before the shift."
        )
    tail = "" if ignores else " A label of -100 is not left out."
    if shift == 1:
        return "the loss shifts once; give it labels that are a copy of the ids." + tail
    if shift == 0:
        return "the loss does not shift; give it labels that are shifted already." + tail
    if shift is None:
        return "different columns are shifted differently." + tail
    return f"every column is scored on the label {shift} columns on; right is 0 or 1." + tail
