"""Forms that keep the rows [B, T], padding included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from course_lib.boundaries import PADDING, document_ids_from_lengths
from course_lib.exchange.fields import field_of, lengths_of_rows, rows_of
from course_lib.exchange.names import from_names

if TYPE_CHECKING:
    from course_lib.batch import Batch


def packed(batch: Batch) -> dict[str, Any]:
    """input_ids, labels, position_ids; no attention_mask, so that positions tell the documents."""
    return {
        "input_ids": batch.input_ids,
        "labels": batch.labels,
        "position_ids": batch.model_position_ids,
    }


def padded(batch: Batch) -> dict[str, Any]:
    """`packed` and the 2-D attention_mask: 1 real, 0 padding."""
    return {**packed(batch), "attention_mask": batch.attention_mask}


def document_ids(batch: Batch) -> dict[str, Any]:
    """`packed` and an attention_mask that counts documents: 1, 2, … in each row, 0 on padding.

    So it travels in Axolotl and LLaMA-Factory. Only code that knows it reads it as documents.
    """
    return {**packed(batch), "attention_mask": batch.document_ids + 1}


def flex(batch: Batch) -> dict[str, Any]:
    """`packed` and document_ids, from 0, -1 on padding: what a rule of FlexAttention compares."""
    return {**packed(batch), "document_ids": batch.document_ids}


def torchtune(batch: Batch) -> dict[str, Any]:
    """tokens, labels, input_pos [B, T] and seq_lens, one tensor for each row.

    The padding of a row is one more length, and its positions carry on from the last document, up
    to T - 1. Raises ValueError for padding on the left and for rows of padding only, which this
    form cannot say.
    """
    real = batch.document_ids >= 0
    if bool((real[:, 1:] & ~real[:, :-1]).any()):
        raise ValueError(
            "form 'torchtune' has padding at the end of a row only, and this batch has some before "
            'a document. Pad on the right: side="right".'
        )
    if not bool(real.any(1).all()):
        row = int(real.any(1).int().argmin())
        raise ValueError(
            f"form 'torchtune' has no row without a document; row {row} is padding only. "
            "Leave it out."
        )
    width = batch.input_ids.shape[1]
    carried = torch.arange(width, device=real.device).expand_as(real) - real.sum(1, keepdim=True)
    last = batch.position_ids.gather(1, (real.sum(1, keepdim=True) - 1).clamp(min=0))
    positions = batch.position_ids.where(real, (last + 1 + carried).clamp(max=width - 1))
    lengths = [
        torch.tensor([*sizes, width - sum(sizes)][: len(sizes) + (sum(sizes) < width)])
        for sizes in batch.document_lengths
    ]
    return {
        "tokens": batch.input_ids,
        "labels": batch.labels,
        "input_pos": positions,
        "seq_lens": lengths,
    }


def read_torchtune(mapping: Mapping[str, Any]) -> dict[str, Tensor]:
    """Read that form; a last length whose positions do not begin at 0 is padding."""
    ids = rows_of(field_of(mapping, "tokens", "torchtune"), "tokens")
    positions = rows_of(field_of(mapping, "input_pos", "torchtune"), "input_pos", like=ids)
    lengths = lengths_of_rows(field_of(mapping, "seq_lens", "torchtune"), "seq_lens")
    if len(lengths) != len(ids):
        raise ValueError(f"seq_lens has {len(lengths)} rows, but tokens has {len(ids)}.")
    documents = []
    for row, sizes in enumerate(lengths):
        if sum(sizes) != ids.shape[1]:
            raise ValueError(
                f"seq_lens[{row}] adds up to {sum(sizes)}, but a row has {ids.shape[1]} slots. "
                "In form 'torchtune' the padding of a row is one more length."
            )
        numbers = document_ids_from_lengths(sizes)
        begin = ids.shape[1] - sizes[-1]
        if int(positions[row, begin]) != 0:
            numbers = numbers.where(torch.arange(ids.shape[1]) < begin, torch.tensor(PADDING))
        documents.append(numbers)
    known = torch.stack(documents)
    rest = {"labels": mapping.get("labels"), "position_ids": positions, "document_ids": known}
    return from_names({"input_ids": ids, **rest, "attention_mask": (known >= 0).long()})
