"""Which slots are targets, and an account of the slots that are not.

A label stands in the same column as its token and says whether that token is a target for the
prediction one column to the left. It is the id itself, or -100. Three rules switch labels off:
padding (by length, never by id), prompts, and the boundary convention:

- A   the first token of the next document stays a target, predicted from the end of the one before
- B   that label is -100; the slot stays
- B′  the slot is gone, because each document is shifted by itself (`packing.preshift`)

What is *not* decided here is who may attend to whom: that is `masks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import torch
from torch import Tensor

from course_lib.boundaries import document_starts, position_ids_from_document_ids
from course_lib.inputs import as_prompt_lengths
from course_lib.vocabulary import IGNORE_INDEX


def labels_by_length(input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """Return labels [B, T]: a copy of `input_ids` with -100 on padding.

    Padding is what `attention_mask` [B, T] calls 0. A real token whose id equals the pad id keeps
    its label.

    >>> labels_by_length(torch.tensor([[4, 4]]), torch.tensor([[1, 0]])).tolist()
    [[4, -100]]
    """
    return input_ids.masked_fill(attention_mask == 0, IGNORE_INDEX)


def prompt_slots(document_ids: Tensor, prompt_lengths: Sequence[Sequence[int]]) -> Tensor:
    """Return bool [B, T]: True on the first `prompt_lengths[row][document]` slots of each document.

    `document_ids` is [B, T], from 0 in each row, -1 on padding.

    >>> prompt_slots(torch.tensor([[0, 0, 1, 1]]), [[1, 0]]).tolist()
    [[True, False, False, False]]
    """
    positions = position_ids_from_document_ids(document_ids)
    slots = torch.zeros_like(document_ids, dtype=torch.bool)
    if len(prompt_lengths) != len(document_ids):
        raise ValueError(
            f"prompt_lengths has {len(prompt_lengths)} rows for {len(document_ids)} rows of tokens."
        )
    for row, lengths in enumerate(prompt_lengths):
        ids = document_ids[row]
        sizes = torch.bincount(ids[ids >= 0]).numpy()
        limits = torch.as_tensor(as_prompt_lengths(lengths, sizes))
        slots[row] = (ids >= 0) & (positions[row] < limits[ids.clamp(min=0)])
    return slots


def mask_prompts(
    labels: Tensor, document_ids: Tensor, prompt_lengths: Sequence[Sequence[int]]
) -> Tensor:
    """Return labels [B, T] with -100 on every prompt slot.

    >>> mask_prompts(torch.tensor([[5, 1, 4]]), torch.tensor([[0, 0, 0]]), [[2]]).tolist()
    [[-100, -100, 4]]
    """
    return labels.masked_fill(prompt_slots(document_ids, prompt_lengths), IGNORE_INDEX)


def mask_boundaries(labels: Tensor, document_ids: Tensor) -> Tensor:
    """Return labels [B, T] under convention B: -100 on the first token of each later document.

    The first slot of a row keeps its label, because no prediction is ever scored on it. A first
    token behind left padding is switched off: what stands before it is no context.

    >>> mask_boundaries(torch.tensor([[1, 4, 2]]), torch.tensor([[0, 0, 1]])).tolist()
    [[1, 4, -100]]
    """
    starts = document_starts(document_ids)
    starts[:, 0] = False
    return labels.masked_fill(starts, IGNORE_INDEX)


@dataclass(frozen=True)
class Lost:
    """What did not get into the rows as it was. Tokens count the appended EOS.

    `cuts` are the places where a document was cut in two. The token behind a cut has lost its
    context: it stands first in its row (and is no target), or behind another document.

    >>> Lost(truncated_tokens=3, truncated_documents=1).tokens
    3
    """

    truncated_tokens: int = 0
    truncated_documents: int = 0
    dropped_tokens: int = 0
    dropped_documents: int = 0
    split_documents: int = 0
    cuts: int = 0

    @property
    def tokens(self) -> int:
        """Tokens that are in no row at all."""
        return self.truncated_tokens + self.dropped_tokens


@dataclass(frozen=True)
class Ledger:
    """Every slot with its one reason, and what was lost before there were slots.

    `targets + row_starts + boundaries + prompts + padding == slots`, always:

    - targets      labels that a prediction is scored on
    - row_starts   first slot of a row: nothing in the row predicts it
    - boundaries   first token of a later document (or behind left padding), switched off
    - prompts      switched off inside a document: prompts, or whatever else the caller masked
    - padding      slots without a token

    >>> Ledger(targets=3, row_starts=1, padding=2).slots
    6
    """

    targets: int = 0
    row_starts: int = 0
    boundaries: int = 0
    prompts: int = 0
    padding: int = 0
    lost: Lost = field(default_factory=Lost)

    @property
    def slots(self) -> int:
        """All slots, B·T."""
        return self.targets + self.row_starts + self.boundaries + self.prompts + self.padding

    def rows(self) -> list[tuple[str, int]]:
        """Return (reason, count) in reading order; of what was lost, only what is not zero."""
        reasons = [(name, getattr(self, name)) for name in REASONS]
        lost = [(name.replace("_", " "), n) for name, n in asdict(self.lost).items() if n]
        return [(n.replace("_", " "), c) for n, c in reasons] + [("slots", self.slots)] + lost

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        return "\n".join(f"{name:<{width}}  {count:>6,}" for name, count in self.rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th scope="row" style="text-align:left">{name}</th><td>{count:,}</td></tr>'
            for name, count in self.rows()
        )
        head = '<tr><th scope="col">reason</th><th scope="col">slots</th></tr>'
        return f"<table><thead>{head}</thead><tbody>{cells}</tbody></table>"


REASONS = ("targets", "row_starts", "boundaries", "prompts", "padding")
"""The reasons of a slot, in the order of the codes that `slot_reasons` returns."""


def slot_reasons(labels: Tensor, document_ids: Tensor) -> Tensor:
    """Return the reason of each slot [B, T] as an index into `REASONS`.

    >>> slot_reasons(torch.tensor([[1, 2, -100]]), torch.tensor([[0, 0, -1]])).tolist()
    [[1, 0, 4]]
    """
    ids = document_ids
    codes = torch.full_like(ids, REASONS.index("prompts"))
    codes[document_starts(ids)] = REASONS.index("boundaries")
    codes[labels != IGNORE_INDEX] = REASONS.index("targets")
    codes[:, 0] = REASONS.index("row_starts")
    codes[ids < 0] = REASONS.index("padding")
    return codes


def make_ledger(labels: Tensor, document_ids: Tensor, lost: Lost | None = None) -> Ledger:
    """Return the ledger of a batch from its labels and document ids, both [B, T].

    >>> make_ledger(torch.tensor([[1, 2, -100]]), torch.tensor([[0, 0, -1]])).targets
    1
    """
    codes = slot_reasons(labels, document_ids).flatten().cpu().numpy()
    counts = np.bincount(codes, minlength=len(REASONS)).tolist()
    return Ledger(*counts, lost=lost or Lost())
