"""One row of a batch as plain lists, from any of the records that hold one, for `rows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from course_lib.batch import Batch
from course_lib.boundaries import document_starts
from course_lib.targets import slot_reasons
from course_lib.vocabulary import IGNORE_INDEX

REASONS = ("target", "row start", "boundary", "prompt", "padding")
"""Why a slot is scored or not, in the order of `targets.REASONS`; "prompt" is any other -100."""
FIELDS = ("input_ids", "document_ids", "position_ids", "labels")
MOST = 64


@dataclass(frozen=True)
class Row:
    """One row, every field a list [T]."""

    input_ids: list[int]
    document_ids: list[int]
    position_ids: list[int]
    labels: list[int]
    reasons: list[str]
    starts: list[int]
    shifted: bool

    @property
    def last(self) -> str:
        """What the last numbers are called: targets stand under their predictions already."""
        return "target" if self.shifted else "label"


def read_row(batch: Any, row: int) -> Row:
    """Return the row as plain lists, from any of the records that hold one."""
    if isinstance(batch, Mapping):
        batch = Batch.from_dict(batch)
    shifted = hasattr(batch, "targets")
    if not shifted and not isinstance(batch, Batch):
        raise TypeError(
            f"expected a Batch, got {type(batch).__name__}. Make one with pad_documents, "
            "pack_documents or Batch.from_dict."
        )
    count, width = batch.input_ids.shape
    if not 0 <= row < count:
        raise ValueError(f"row must be from 0 to {count - 1} in this batch, got {row}.")
    if width > MOST:
        raise ValueError(f"a row of {width} slots cannot be read; at most {MOST} are drawn.")
    labels = batch.targets if shifted else batch.labels
    ids = batch.document_ids
    starts = document_starts(ids)[row].nonzero().flatten().tolist()
    fields = [getattr(batch, name)[row].tolist() for name in FIELDS[:3]]
    return Row(*fields, labels[row].tolist(), _reasons(labels, ids, shifted)[row], starts, shifted)


def _reasons(labels: Tensor, ids: Tensor, shifted: bool) -> list[list[str]]:
    if not shifted:
        return [[REASONS[code] for code in codes] for codes in slot_reasons(labels, ids).tolist()]
    codes = torch.full_like(ids, REASONS.index("target"))
    codes[labels == IGNORE_INDEX] = REASONS.index("prompt")
    codes[ids < 0] = REASONS.index("padding")
    return [[REASONS[code] for code in row] for row in codes.tolist()]
