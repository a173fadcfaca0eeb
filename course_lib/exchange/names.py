"""A mapping whose names are the usual ones → the five tensors of a Batch.

Boundaries and padding are read from the first field that tells them. What is not read here: forms
whose labels were shifted, and names that belong to one system (`rows`, `megatron`, `shifted`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import (
    PADDING,
    document_ids_from_lengths,
    document_ids_from_position_ids,
    lengths_from_cu_seqlens,
    position_ids_from_document_ids,
)
from course_lib.exchange.fields import lengths_of_rows, maybe_rows, numbers_of
from course_lib.targets import labels_by_length, mask_boundaries


def from_names(mapping: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the five tensors of a Batch, each [B, T]; see `Batch.from_dict`."""
    if mapping.get("input_ids") is None:
        have = ", ".join(map(str, mapping)) or "nothing"
        say = " Say its form: form='torchtune' or 'megatron'." if "tokens" in mapping else ""
        raise ValueError(f"the mapping has no 'input_ids' (it has: {have}).{say}")
    ids = maybe_rows(mapping, "input_ids")
    documents = read_document_ids(mapping, ids)
    attention = (documents >= 0).long()
    labels = maybe_rows(mapping, "labels", like=ids)
    if labels is None:
        labels = mask_boundaries(labels_by_length(ids, attention), documents)
    positions = maybe_rows(mapping, "position_ids", like=ids)
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
        given = maybe_rows(mapping, name, like=ids)
        if given is not None:
            return _renumber(given.where(real, torch.tensor(PADDING)))
    lengths = _lengths(mapping)
    if lengths is not None:
        if len(lengths) != len(ids):
            raise ValueError(f"boundaries for {len(lengths)} rows, but input_ids has {len(ids)}.")
        return torch.stack([_lay(sizes, row) for sizes, row in zip(lengths, real, strict=True)])
    if mask is not None and mask.max() > 1:
        return _renumber(mask.where(real, torch.tensor(PADDING)))
    positions = maybe_rows(mapping, "position_ids", like=ids)
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
    if mapping.get("attention_mask") is None:
        return None
    mask = numbers_of(mapping["attention_mask"], "attention_mask")
    if mask.ndim < 3:
        return maybe_rows(mapping, "attention_mask", like=ids)
    (rows, width), whole = ids.shape, tuple(mask.shape)
    fits = mask.ndim == 4 and 0 not in whole and all(
        have in (1, want) for have, want in zip(
            whole, (rows, whole[1], width, width), strict=True))  # fmt: skip
    if not fits:
        raise ValueError(
            f"attention_mask has shape {whole}; for input_ids {tuple(ids.shape)} it must be [B, T] "
            f"or [B, 1, T, T] = {(rows, 1, width, width)}. A mask [B, T, T] gets a second axis: "
            "mask[:, None]."
        )
    if mask.isnan().any():
        raise ValueError("attention_mask holds nan; a 4-D mask is 0 and a low number, or boolean.")
    # an axis of 1 stands for all rows or all queries
    own = mask[:, 0].expand(rows, width, width).diagonal(dim1=-2, dim2=-1)
    if mask.dtype == torch.bool:
        return own.long()
    digits = bool((mask >= 0).all() and (mask > 0).any())  # 1 and 0 instead of 0 and a low number
    return (own > 0 if digits else own == 0).long()


def _lengths(mapping: Mapping[str, Any]) -> list[list[int]] | None:
    lengths = mapping.get("seq_lengths")
    if lengths is not None:
        return lengths_of_rows(lengths, "seq_lengths")
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
