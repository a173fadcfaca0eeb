"""A batch put to a model: right, or with one decision made wrongly on purpose.

A `Setup` names the decisions, and `prepare` carries all of them out. A wrong set-up is a wrong
mask, wrong positions or wrong labels in the `Feed`; the model, the loss and the training loop that
take it stay the right ones.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.batch import Batch
from course_lib.inputs import choice
from course_lib.loss import LossSum, token_losses
from course_lib.masks import causal_mask, document_mask
from course_lib.vocabulary import IGNORE_INDEX


@dataclass(frozen=True)
class Setup:
    """How a batch is put to a model. The defaults are right; each other value is a known fault.

    - mask          "document", or "causal", which lets documents of a row see each other
    - reset         positions start from 0 in each document, or run through the row
    - shift         how often labels are shifted in all: 1, or 0 (missing), or 2 (double)
    - pads_in_loss  padding counts as a target

    The boundary convention is not here: `pack_documents` has put it into the labels.

    >>> Setup(shift=2)
    Setup(mask='document', reset=True, shift=2, pads_in_loss=False)
    """

    mask: str = "document"
    reset: bool = True
    shift: int = 1
    pads_in_loss: bool = False

    def __post_init__(self) -> None:
        choice(self.mask, "mask", ("document", "causal"))
        if self.shift not in (0, 1, 2):
            raise ValueError(f"shift must be 0 (missing), 1 or 2 (double); got {self.shift!r}.")


@dataclass(frozen=True)
class Feed:
    """What a model and a loss get: input_ids, position_ids and labels [B, T], mask [B, T, T]."""

    input_ids: Tensor
    position_ids: Tensor
    labels: Tensor
    mask: Tensor

    def rows(self, index: Tensor) -> Feed:
        """Return the rows of `index`."""
        return Feed(*(getattr(self, f.name)[index] for f in fields(self)))

    def loss(self, model: nn.Module) -> LossSum:
        """Return the sum of the token losses, with its graph, and the number of targets."""
        logits = model(self.input_ids, mask=self.mask, position_ids=self.position_ids)
        count = int((self.labels[:, 1:] != IGNORE_INDEX).sum())
        return LossSum(token_losses(logits, self.labels).sum(), count)


def prepare(batch: Batch, setup: Setup | None = None) -> Feed:
    """Return the `Feed` of a batch under a `Setup` (the right one by default).

    The loss shifts once, so a double shift is labels that were moved one slot to the left before,
    and a missing shift labels that were moved one slot to the right.

    >>> from course_lib import pad_documents
    >>> prepare(pad_documents([[1, 2, 3]]), Setup(shift=2)).labels.tolist()
    [[2, 3, -100]]
    """
    setup = setup or Setup()
    rows, width = batch.input_ids.shape
    running = torch.arange(width, device=batch.input_ids.device).expand(rows, width)
    causal = causal_mask(width).to(batch.input_ids.device).expand(rows, width, width)
    labels = batch.labels
    if setup.pads_in_loss:
        labels = torch.where(batch.attention_mask == 0, batch.input_ids, labels)
    return Feed(
        input_ids=batch.input_ids,
        position_ids=batch.model_position_ids if setup.reset else running,
        labels=_move_left(labels, setup.shift - 1),
        mask=document_mask(batch) if setup.mask == "document" else causal,
    )


def _move_left(labels: Tensor, by: int) -> Tensor:
    """Move labels [B, T] `by` slots to the left; what becomes free is no target."""
    if by == 0:
        return labels
    kept = labels[:, by:] if by > 0 else labels[:, :by]
    return F.pad(kept, (0, by) if by > 0 else (-by, 0), value=IGNORE_INDEX)
