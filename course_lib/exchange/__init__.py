"""Between `Batch` and the mappings that other systems pass around.

The same row has many dialects. `to_dict` writes those of `FORMS`, each named after who takes it;
`from_dict` reads them back. A form keeps less than a `Batch` in most cases: `LOSES` says what is
gone, and what a form cannot hold at all is an error that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from course_lib.exchange.fields import field_of
from course_lib.exchange.flat import flash_attention, flattened, padding_free
from course_lib.exchange.megatron import megatron, megatron_thd, read_megatron
from course_lib.exchange.names import from_names
from course_lib.exchange.rows import document_ids, flex, packed, padded, read_torchtune, torchtune
from course_lib.exchange.shifted import read_shift_labels, read_shifted, shift_labels, shifted
from course_lib.inputs import choice
from course_lib.masks import document_mask, to_additive

if TYPE_CHECKING:
    from course_lib.batch import Batch

__all__ = ["FORMS", "LOSES", "from_dict", "to_dict"]


def dense(batch: Batch, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    """`packed` and a 4-D attention_mask [B, 1, T, T]: 0 may attend, the lowest number may not."""
    mask = to_additive(document_mask(batch), dtype)[:, None]
    return {**packed(batch), "attention_mask": mask}


WRITERS: dict[str, Callable[[Batch], dict[str, Any]]] = {
    "padded": padded,
    "packed": packed,
    "dense": dense,
    "flattened": flattened,
    "padding_free": padding_free,
    "flash_attention": flash_attention,
    "flex": flex,
    "document_ids": document_ids,
    "torchtune": torchtune,
    "megatron": megatron,
    "megatron_thd": megatron_thd,
    "shift_labels": shift_labels,
    "shifted": shifted,
}

READERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Tensor]]] = {
    "torchtune": read_torchtune,
    "megatron": read_megatron,
    "megatron_thd": read_megatron,
    "shift_labels": read_shift_labels,
    "shifted": read_shifted,
}
"""The forms whose names or whose shift are their own; names alone tell the others."""

FORMS = tuple(WRITERS)

NEEDS = {
    "padded": "attention_mask",
    "packed": "position_ids",
    "dense": "attention_mask",
    "flattened": "position_ids",
    "padding_free": "seq_idx",
    "flash_attention": "cu_seqlens_q",
    "flex": "document_ids",
    "document_ids": "attention_mask",
    "shift_labels": "position_ids",
}
"""What tells documents or padding in a form; without it others would be read, and silently."""

LOSES = {
    "padded": "",
    "packed": "which slots are padding: each pad looks like a document of one token",
    "dense": "",
    "flattened": "rows and padding",
    "padding_free": "rows and padding",
    "flash_attention": "rows and padding",
    "flex": "",
    "document_ids": "",
    "torchtune": "",
    "megatron": "whether the first slot of a row had a label, which no loss asks",
    "megatron_thd": "rows and padding",
    "shift_labels": "which slots are padding, and whether the first slot of a row had a label",
    "shifted": "the width of the rows; the convention: only B can be written",
}
"""What each form no longer knows about the rows; nothing where the text is empty.

`Batch.lost`, the account of what was cut on the way, is in no form.
"""


def to_dict(batch: Batch, form: str, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    """Return `batch` in one of `FORMS`; see `Batch.to_dict`."""
    choice(form, "form", FORMS)
    return dense(batch, dtype) if form == "dense" else WRITERS[form](batch)


def from_dict(mapping: Mapping[str, Any], form: str | None = None) -> dict[str, Tensor]:
    """Return the five tensors of a Batch, read from anybody's mapping; see `Batch.from_dict`."""
    if not isinstance(mapping, Mapping):
        raise TypeError(f"expected a mapping of tensors, got {type(mapping).__name__}.")
    if form is None and mapping.get("labels") is None and mapping.get("shift_labels") is not None:
        form = "shift_labels"
    if form is not None:
        choice(form, "form", FORMS)
        if form in NEEDS and mapping.get("shift_labels") is None:
            field_of(mapping, NEEDS[form], form)
    return READERS.get(form or "", from_names)(mapping)
