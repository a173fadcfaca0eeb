"""Megatron's forms: labels that were shifted already, and a loss mask beside them.

A label is the next id whatever it is; `loss_mask` says whether it counts. The last slot of a row
has no next token here, so its label is a filler, 0, under a loss mask of 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from course_lib.exchange.fields import field_of, numbers_of, rows_of
from course_lib.exchange.flat import flattened
from course_lib.exchange.names import from_names
from course_lib.masks import document_mask
from course_lib.vocabulary import IGNORE_INDEX

if TYPE_CHECKING:
    from course_lib.batch import Batch

FILLER = 0


def megatron(batch: Batch) -> dict[str, Any]:
    """tokens, labels, loss_mask (float32), position_ids [B, T]; attention_mask [B, 1, T, T].

    The mask is boolean, and True means *masked*.
    """
    return {
        **_shifted_once(batch.input_ids, batch.labels),
        "position_ids": batch.model_position_ids,
        "attention_mask": ~document_mask(batch)[:, None],
    }


def megatron_thd(batch: Batch) -> dict[str, Any]:
    """The same over one row [1, N] without padding, and the arguments of `PackedSeqParams`.

    No mask: the kernel takes `packed_seq_params`, a mapping with qkv_format "thd", cu_seqlens_q,
    cu_seqlens_kv (int32 [D+1]), max_seqlen_q and max_seqlen_kv.
    """
    flat = flattened(batch)
    return {
        **_shifted_once(flat["input_ids"], flat["labels"]),
        "position_ids": flat["position_ids"],
        "packed_seq_params": {
            "qkv_format": "thd",
            "cu_seqlens_q": flat["cu_seq_lens_q"],
            "cu_seqlens_kv": flat["cu_seq_lens_k"],
            "max_seqlen_q": flat["max_length_q"],
            "max_seqlen_kv": flat["max_length_k"],
        },
    }


def read_megatron(mapping: Mapping[str, Any]) -> dict[str, Tensor]:
    """Read either; documents from packed_seq_params, else from position_ids and the mask.

    Raises ValueError where something would be lost: a weight in the loss mask, a target that is
    not the next token, and the target of a last slot, which Megatron's own rows have.
    """
    ids = rows_of(field_of(mapping, "tokens", "megatron"), "tokens")
    counted = _counted(mapping, ids)
    labels = ids.clone()
    labels[:, 1:] = ids[:, 1:].where(counted[:, :-1], torch.tensor(IGNORE_INDEX))
    out = {"input_ids": ids, "labels": labels, "position_ids": mapping.get("position_ids")}
    params = mapping.get("packed_seq_params")
    if params is not None:
        name = "cu_seqlens_q"  # of a mapping, or of a PackedSeqParams itself
        named = params if isinstance(params, Mapping) else {name: getattr(params, name, None)}
        out["cu_seqlens"] = field_of(named, name, "megatron_thd")
    elif mapping.get("attention_mask") is not None:
        masked = numbers_of(mapping["attention_mask"], "attention_mask")
        out["attention_mask"] = ~masked.bool()
    tensors = from_names(out)
    off = torch.tensor(IGNORE_INDEX)
    return {**tensors, "labels": tensors["labels"].where(tensors["document_ids"] >= 0, off)}


def _counted(mapping: Mapping[str, Any], ids: Tensor) -> Tensor:
    """Return bool [B, T]: True where a slot counts, by a loss mask that fits tokens and labels."""
    mask = numbers_of(field_of(mapping, "loss_mask", "megatron"), "loss_mask")
    other = mask[(mask != 0) & (mask != 1)]
    if other.numel():
        raise ValueError(
            f"loss_mask holds {other[0].item()}, and a Batch has no weights: 1 counts, 0 does not. "
            "Keep the weights beside the batch, and give loss_mask > 0."
        )
    counted = rows_of(mask.bool(), "loss_mask", like=ids).bool()
    if mapping.get("labels") is not None:
        labels = rows_of(mapping["labels"], "labels", like=ids)
        wrong = counted[:, :-1] & (labels[:, :-1] != ids[:, 1:])
        if wrong.any():
            r, c = wrong.nonzero()[0].tolist()
            raise ValueError(
                f"labels[{r}, {c}] is {int(labels[r, c])}, but the next token is "
                f"{int(ids[r, c + 1])}: labels of form 'megatron' are shifted already."
            )
    if counted[:, -1].any():
        row = int(counted[:, -1].int().argmax())
        raise ValueError(
            f"loss_mask counts the last slot of row {row}, whose target is not in tokens. Append "
            "it to the row, or set the last column of loss_mask to 0."
        )
    return counted


def _shifted_once(ids: Tensor, labels: Tensor) -> dict[str, Tensor]:
    following = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=FILLER)
    counted = torch.nn.functional.pad(labels[:, 1:] != IGNORE_INDEX, (0, 1), value=False)
    return {"tokens": ids, "labels": following, "loss_mask": counted.float()}
