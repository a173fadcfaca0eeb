"""Does a way compute what separate documents compute? Logits, loss and gradient, one by one.

The yardstick runs each document alone, as a batch of one row. Differences are taken relative to
the size of what is compared, and allowed up to `TOLERANCE`, which depends on the numbers used.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from course_lib.bench.ways import Feed
from course_lib.loss import token_losses


@dataclass(frozen=True)
class Tolerance:
    """Largest relative difference that rounding explains."""

    logits: float
    loss: float
    gradient: float


TOLERANCE = {
    torch.float32: Tolerance(logits=1e-4, loss=1e-5, gradient=1e-4),
    torch.bfloat16: Tolerance(logits=4e-2, loss=5e-3, gradient=1e-1),
}
"""float32 keeps 24 bits of a number, bfloat16 keeps 8 (a step of 0.4 %)."""


@dataclass(frozen=True)
class Check:
    """How far a way is from separate documents; `gradient` is None where only forward runs.

    logits: largest difference over largest logit. loss: relative. gradient: length of the
    difference over the length, all parameters taken as one vector.
    """

    way: str
    dtype: str
    logits: float
    loss: float
    gradient: float | None

    @property
    def equal(self) -> bool:
        """Whether all differences are within the tolerance of the dtype."""
        limit = TOLERANCE[getattr(torch, self.dtype)]
        return (
            self.logits <= limit.logits
            and self.loss <= limit.loss
            and (self.gradient is None or self.gradient <= limit.gradient)
        )


def check_way(model: nn.Module, feed: Feed, documents: list[Tensor], *, backward: bool = True
              ) -> Check:  # fmt: skip
    """Compare `feed` with the same documents one at a time, under the same `model`.

    >>> from course_lib.bench import draw_documents, make_feed
    >>> from course_lib.decoder import TinyDecoder
    >>> docs = draw_documents(4, 12, 7)
    >>> check_way(TinyDecoder(), make_feed("padded", docs, 12), docs).equal
    True
    """
    device = feed.batch.input_ids.device
    ordered = [documents[i].to(device) for i in feed.order.tolist()]
    with torch.set_grad_enabled(backward):
        alone = _alone(model, ordered)
        ours = _together(model, feed)
    size = alone[0].abs().max()
    gradient = None
    if backward:
        gradient = float((ours[2] - alone[2]).norm() / alone[2].norm())
    return Check(
        way=feed.way,
        dtype=str(alone[0].dtype).removeprefix("torch."),
        logits=float((ours[0].float() - alone[0].float()).abs().max() / size),
        loss=float((ours[1] - alone[1]).abs() / alone[1]),
        gradient=gradient,
    )


def _together(model: nn.Module, feed: Feed) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return logits of real tokens [N, V], the loss, and the gradient as one vector."""
    batch = feed.batch
    logits = model(batch.input_ids, mask=feed.mask, position_ids=batch.position_ids)
    loss = token_losses(logits, batch.labels).sum() / batch.num_targets
    return logits[batch.attention_mask.bool()].detach(), loss.detach(), _gradient(model, loss)


def _alone(model: nn.Module, documents: list[Tensor]) -> tuple[Tensor, Tensor, Tensor | None]:
    """The same with each document in a batch of its own; losses are added, then divided once."""
    parts, total, count = [], torch.zeros((), device=documents[0].device), 0
    for document in documents:
        logits = model(document[None])
        total = total + token_losses(logits, document[None]).sum()
        count += len(document) - 1
        parts.append(logits[0].detach())
    loss = total / count
    return torch.cat(parts), loss.detach(), _gradient(model, loss)


def _gradient(model: nn.Module, loss: Tensor) -> Tensor | None:
    if not loss.requires_grad:
        return None
    grads = torch.autograd.grad(loss, list(model.parameters()))
    return torch.cat([g.flatten().double() for g in grads])
