"""Between `Batch` and the mappings that other systems pass around.

Each system writes boundaries and padding down in its own way. `to_dict` writes four of these forms;
`from_dict` reads most of them. Where a form loses something, the function says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from course_lib.boundaries import (
    PADDING,
    document_ids_from_lengths,
    document_ids_from_position_ids,
    lengths_from_cu_seqlens,
    position_ids_from_document_ids,
)
from course_lib.inputs import as_rows, choice
from course_lib.masks import document_mask, to_additive
from course_lib.targets import labels_by_length, mask_boundaries
from course_lib.vocabulary import IGNORE_INDEX

if TYPE_CHECKING:
    from course_lib.batch import Batch

FORMS = ("padded", "packed", "dense", "flattened")


def to_dict(batch: Batch, form: str, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    """Return `batch` in one of `FORMS`; see `Batch.to_dict`."""
    choice(form, "form", FORMS)
    if form == "flattened":
        return _flattened(batch)
    out: dict[str, Any] = {
        "input_ids": batch.input_ids,
        "labels": batch.labels,
        "position_ids": batch.model_position_ids,
    }
    if form == "padded":
        out["attention_mask"] = batch.attention_mask
    if form == "dense":
        out["attention_mask"] = to_additive(document_mask(batch), dtype)[:, None]
    return out


def _flattened(batch: Batch) -> dict[str, Any]:
    """Return one row without padding, as transformers' DataCollatorWithFlattening makes it.

    A first slot of a row is no target; behind the row before it, it would become one, so its label
    is switched off here.
    """
    real = batch.attention_mask.bool()
    labels = batch.labels.clone()
    labels[:, 0] = IGNORE_INDEX
    marks = batch.cu_seqlens()
    longest = int(marks.diff().max())
    return {
        "input_ids": batch.input_ids[real][None],
        "labels": labels[real][None],
        "position_ids": batch.position_ids[real][None],
        "cu_seq_lens_q": marks,
        "cu_seq_lens_k": marks,
        "max_length_q": longest,
        "max_length_k": longest,
    }


def from_dict(mapping: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the five tensors of a Batch, read from anybody's mapping; see `Batch.from_dict`."""
    if not isinstance(mapping, Mapping):
        raise TypeError(f"expected a mapping of tensors, got {type(mapping).__name__}.")
    if mapping.get("input_ids") is None:
        have = ", ".join(map(str, mapping)) or "nothing"
        raise ValueError(f"the mapping has no 'input_ids' (it has: {have}).")
    ids = _rows(mapping, "input_ids")
    documents = read_document_ids(mapping, ids)
    attention = (documents >= 0).long()
    labels = _rows(mapping, "labels", like=ids)
    if labels is None:
        labels = mask_boundaries(labels_by_length(ids, attention), documents)
    positions = _rows(mapping, "position_ids", like=ids)
    if positions is None:
        positions = position_ids_from_document_ids(documents)
    return {
        "input_ids": ids,
        "labels": labels,
        "attention_mask": attention,
        "position_ids": positions.where(documents >= 0, torch.tensor(PADDING)),
        "document_ids": documents,
    }


def read_document_ids(mapping: Mapping[str, Any], ids: Tensor) -> Tensor:
    """Return document ids [B, T] from the first source of boundaries in `mapping`."""
    mask = _key_mask(mapping, ids)
    real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask > 0
    for name in ("document_ids", "seq_idx"):
        given = _rows(mapping, name, like=ids)
        if given is not None:
            return _renumber(given.where(real, torch.tensor(PADDING)))
    lengths = _lengths(mapping)
    if lengths is not None:
        if len(lengths) != len(ids):
            raise ValueError(f"boundaries for {len(lengths)} rows, but input_ids has {len(ids)}.")
        return torch.stack([_lay(sizes, row) for sizes, row in zip(lengths, real, strict=True)])
    if mask is not None and mask.max() > 1:
        return _renumber(mask.where(real, torch.tensor(PADDING)))
    positions = _rows(mapping, "position_ids", like=ids)
    if positions is not None:
        return document_ids_from_position_ids(positions.where(real, torch.tensor(PADDING)))
    return real.long() - 1


def _lay(sizes: list[int], real: Tensor) -> Tensor:
    """Return document ids [T]: over the real slots if they are as many, else from the left."""
    if int(real.sum()) != sum(sizes):
        return document_ids_from_lengths(sizes, len(real))
    ids = torch.full((len(real),), PADDING)
    ids[real] = document_ids_from_lengths(sizes)
    return ids


def _key_mask(mapping: Mapping[str, Any], ids: Tensor) -> Tensor | None:
    """Return attention_mask as [B, T]; of a 4-D mask only the diagonal: a token sees itself."""
    mask = mapping.get("attention_mask")
    if mask is None or torch.as_tensor(mask).ndim < 4:
        return _rows(mapping, "attention_mask", like=ids)
    mask = torch.as_tensor(mask)
    own = mask[:, 0].diagonal(dim1=-2, dim2=-1).expand(ids.shape)
    if mask.dtype == torch.bool:
        return own.long()
    digits = bool((mask >= 0).all() and (mask > 0).any())  # 1 and 0 instead of 0 and a low number
    return (own > 0 if digits else own == 0).long()


def _rows(mapping: Mapping[str, Any], name: str, like: Tensor | None = None) -> Tensor | None:
    value = mapping.get(name)
    if value is None:
        return None
    if _is_boolean(value):
        value = torch.as_tensor(value).long()
    rows = as_rows(value, name, ndim=(1, 2))
    rows = rows[None] if rows.ndim == 1 else rows
    if like is not None and rows.shape != like.shape:
        raise ValueError(
            f"{name} has shape {tuple(rows.shape)}, input_ids {tuple(like.shape)}; they must agree."
        )
    return rows


def _is_boolean(value: Any) -> bool:
    if isinstance(value, Tensor | np.ndarray):
        return value.dtype in (torch.bool, np.dtype(bool))
    first = value
    while isinstance(first, list | tuple) and first:
        first = first[0]
    return isinstance(first, bool)


def _lengths(mapping: Mapping[str, Any]) -> list[list[int]] | None:
    lengths = mapping.get("seq_lengths")
    if lengths is not None:
        rows = [torch.as_tensor(row).tolist() for row in lengths]
        return [rows] if isinstance(rows[0], int) else rows
    for name in ("cu_seqlens", "cu_seq_lens_q"):
        if mapping.get(name) is not None:
            return [lengths_from_cu_seqlens(mapping[name])]
    return None


def _renumber(ids: Tensor) -> Tensor:
    """Return the same runs, numbered 0, 1, … in each row; negative stays padding."""
    real = ids >= 0
    begins = torch.ones_like(real)
    begins[:, 1:] = ids.diff(dim=1) != 0
    begins &= real
    return (torch.cumsum(begins, 1) - 1).where(real, torch.tensor(PADDING))
