"""A mapping whose names are the usual ones → the five tensors of a Batch.

Boundaries and padding are read from the first field that tells them. What is not read here: forms
whose labels were shifted, and names that belong to one system (`rows`, `megatron`, `shifted`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
from course_lib.inputs import as_rows
from course_lib.targets import labels_by_length, mask_boundaries


def from_names(mapping: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the five tensors of a Batch, each [B, T]; see `Batch.from_dict`."""
    if mapping.get("input_ids") is None:
        have = ", ".join(map(str, mapping)) or "nothing"
        say = " Say its form: form='torchtune' or 'megatron'." if "tokens" in mapping else ""
        raise ValueError(f"the mapping has no 'input_ids' (it has: {have}).{say}")
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


def field_of(mapping: Mapping[str, Any], name: str, form: str) -> Any:
    """Return mapping[name], or say that this form needs it.

    >>> field_of({"tokens": [1]}, "tokens", "torchtune")
    [1]
    """
    if mapping.get(name) is None:
        have = ", ".join(map(str, mapping)) or "nothing"
        raise ValueError(f"form {form!r} needs {name!r}; the mapping has: {have}.")
    return mapping[name]


def rows_of(value: Any, name: str) -> Tensor:
    """Return `value` as int64 rows [B, T]; one row [T] becomes [1, T], truth values 0 and 1.

    >>> rows_of([True, False], "loss_mask").tolist()
    [[1, 0]]
    """
    rows = _rows({name: value}, name)
    assert rows is not None
    return rows


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
    for name in ("cu_seqlens", "cu_seq_lens_q", "cu_seqlens_q"):
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
