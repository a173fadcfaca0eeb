"""Forms without rows: all documents of a batch behind one another, padding removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from course_lib.boundaries import document_ids_from_lengths
from course_lib.vocabulary import IGNORE_INDEX

if TYPE_CHECKING:
    from course_lib.batch import Batch


def flattened(batch: Batch) -> dict[str, Any]:
    """One row [1, N], as transformers' DataCollatorWithFlattening makes it.

    cu_seq_lens_q and cu_seq_lens_k are int32 [D+1], max_length_q and max_length_k whole numbers. A
    first slot of a row is no target; behind the row before it, it would become one, so its label is
    switched off here. Raises ValueError for padding only, and where positions would join documents.
    """
    real = batch.document_ids >= 0
    if not real.any():
        raise ValueError(
            "a row without padding needs a document, and this batch is padding only. Leave it out."
        )
    labels = batch.labels.clone()
    labels[:, 0] = IGNORE_INDEX
    marks = batch.cu_seqlens().to(real.device)
    longest = int(marks.diff().max())
    positions = batch.position_ids[real]
    joints = marks[1:-1].long()
    joined = positions[joints] == positions[joints - 1] + 1
    if joined.any():
        at = int(joints[joined][0])
        raise ValueError(
            f"a document begins at position {int(positions[at])}, right behind position "
            f"{int(positions[at - 1])} of the one before, so in one row its position_ids would "
            "hide the boundary. Count its positions from 0."
        )
    return {
        "input_ids": batch.input_ids[real][None],
        "labels": labels[real][None],
        "position_ids": positions[None],
        "cu_seq_lens_q": marks,
        "cu_seq_lens_k": marks,
        "max_length_q": longest,
        "max_length_k": longest,
    }


def padding_free(batch: Batch) -> dict[str, Any]:
    """`flattened` and seq_idx, int32 [1, N], the document of each token: as TRL's collator does."""
    flat = flattened(batch)
    sizes = flat["cu_seq_lens_q"].diff().tolist()
    owners = document_ids_from_lengths(sizes)[None].to(flat["input_ids"].device, torch.int32)
    return {**flat, "seq_idx": owners}


def flash_attention(batch: Batch) -> dict[str, Any]:
    """input_ids, labels, position_ids [N], and four arguments of `flash_attn_varlen_func`.

    cu_seqlens_q, cu_seqlens_k, max_seqlen_q and max_seqlen_k go to the function by name;
    `torch.nn.attention.varlen.varlen_attn` takes the same four in this order.
    """
    flat = flattened(batch)
    return {
        **{name: flat[name][0] for name in ("input_ids", "labels", "position_ids")},
        "cu_seqlens_q": flat["cu_seq_lens_q"],
        "cu_seqlens_k": flat["cu_seq_lens_k"],
        "max_seqlen_q": flat["max_length_q"],
        "max_seqlen_k": flat["max_length_k"],
    }
