"""Fields of anybody's mapping → numpy arrays of one shape [B, T], with a note of what did not fit.

Nothing is refused here that can be said as a finding: floats, fields of another length, odd
`cu_seqlens`. What cannot be read at all (text, objects) raises a TypeError that names the field.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

ALIASES = {
    "doc_ids": "document_ids",
    "seq_lens": "seq_lengths",
    "input_pos": "position_ids",
    "cu_seq_lens_q": "cu_seqlens",
    "cu_seqlens_q": "cu_seqlens",
    "cu_seq_lens": "cu_seqlens",
    "max_length_q": "max_seqlen",
    "max_seqlen_q": "max_seqlen",
}
"""Other names of the same field."""

SLOTWISE = (
    "input_ids",
    "labels",
    "shift_labels",
    "loss_mask",
    "assistant_masks",
    "attention_mask",
    "position_ids",
    "document_ids",
    "seq_idx",
    "effective_targets",
    "decoder_input_ids",
)
"""Fields with one number for each slot, in the order in which they set the shape."""

BESIDE = ("completion_mask", "seq_lengths", "cu_seqlens", "cu_seqlens_k", "cu_seq_lens_k",
          "max_seqlen", "max_length_k", "max_seqlen_k", "segment_is_real")  # fmt: skip
"""Fields that are read, and are not one number for each slot."""

KNOWN = frozenset({*SLOTWISE, *BESIDE, *ALIASES})

INTEGRAL = ("input_ids", "labels", "shift_labels", "decoder_input_ids", "position_ids")


def to_array(value: Any, name: str, missing: int) -> np.ndarray | None:
    """Return `value` as an array; None entries become `missing`, ragged rows give None.

    >>> to_array([[1, None]], "effective_targets", -100).tolist()
    [[1, -100]]
    """
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = value.float() if value.dtype == torch.bfloat16 else value
        return value.numpy()
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    if array.dtype == object:
        try:
            array = np.array([[missing if v is None else v for v in row] for row in array])
        except (TypeError, ValueError):
            return None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold numbers, got {type(value).__name__} {value!r:.40}.")
    return array


def misspelt(raw: Mapping[str, Any]) -> dict[str, str]:
    """Return field → the known name that it resembles, for fields that are not known.

    >>> misspelt({"input_ids": [[1]], "lables": [[1]]})
    {'lables': 'labels'}
    """
    unknown = [name for name in raw if name not in KNOWN]
    near = {name: difflib.get_close_matches(name, KNOWN, 1, 0.8) for name in unknown}
    return {name: match[0] for name, match in near.items() if match and match[0] not in raw}


def refuse_no_batch(raw: Mapping[str, Any]) -> None:
    """Raise ValueError where no field of a batch is there at all.

    >>> refuse_no_batch({"labels": [[1]]})
    """
    if KNOWN & set(raw):
        return
    hint = "".join(f" Did you mean {near} for {name}?" for name, near in misspelt(raw).items())
    have = ", ".join(map(repr, raw)) or "nothing"
    raise ValueError(
        f"no field of a batch is among {have}; expected input_ids, labels, attention_mask or "
        f"others that audit's docstring names.{hint}"
    )


class Fields:
    """The slotwise fields of a mapping as [B, T] arrays, and the faults of their form.

    - arrays      name → array, int64 (masks too)
    - dense       a 3-D or 4-D attention_mask as it came, or None
    - mismatched  name → what its shape is, for fields that do not fit
    - floats      names of integer fields that came as floats
    """

    def __init__(self, mapping: Mapping[str, Any], ignore_index: int = -100) -> None:
        self.raw = {ALIASES.get(str(k), str(k)): v for k, v in mapping.items() if v is not None}
        if "completion_mask" in self.raw:  # beside labels it says what they should be
            name = "assistant_masks" if "labels" in self.raw else "loss_mask"
            self.raw.setdefault(name, self.raw.pop("completion_mask"))
        self.misspelt = misspelt(self.raw)
        self.arrays: dict[str, np.ndarray] = {}
        self.dense: np.ndarray | None = None
        self.mismatched: dict[str, str] = {}
        self.floats: list[str] = []
        self.shape: tuple[int, int] | None = None
        for name in SLOTWISE:
            if name in self.raw:
                self._read(name, ignore_index)

    def _read(self, name: str, ignore_index: int) -> None:
        array = to_array(self.raw[name], name, ignore_index)
        if array is None:
            self.mismatched[name] = f"rows of lengths {[len(r) for r in self.raw[name]]}"
            return
        if name == "attention_mask" and array.ndim > 2:
            self.dense = array
            return
        if array.dtype.kind == "f":
            if name in INTEGRAL:
                self.floats.append(name)
            if name == "attention_mask" and array.size and array.min() < 0:
                array = array >= 0  # additive in two dimensions: 0 or a large negative number
        array = np.atleast_2d(array).astype(np.int64, copy=False)
        if array.size == 0:
            raise ValueError(f"{name} has no elements (shape {array.shape}): nothing to audit.")
        if array.ndim != 2:
            self.mismatched[name] = f"shape {array.shape}"
            return
        self._fit(name, array, ignore_index)

    def _fit(self, name: str, array: np.ndarray, ignore_index: int) -> None:
        free = ("decoder_input_ids", "effective_targets")
        if self.shape is None and name not in free:
            self.shape = array.shape
        if name in ("shift_labels", "labels", "loss_mask", "effective_targets") and self.shape:
            rows, width = self.shape  # one column less: the last prediction was left out
            if array.shape == (rows, width - 1) and (name != "labels" or width > 1):
                if name in ("shift_labels", "effective_targets"):
                    filler = ignore_index
                    array = np.pad(array, ((0, 0), (0, 1)), constant_values=filler)
        if name == "position_ids" and self.shape and array.shape == (1, self.shape[1]):
            array = np.broadcast_to(array, self.shape)
        if self.shape is not None and array.shape != self.shape and name not in free[:1]:
            self.mismatched[name] = _lengths_said(array.shape, self.shape)
            return
        self.arrays[name] = array

    def get(self, name: str) -> np.ndarray | None:
        """Return the array of a field, or None if it is not there or does not fit."""
        return self.arrays.get(name)


def _lengths_said(shape: tuple[int, ...], wanted: tuple[int, int]) -> str:
    if shape[0] == wanted[0]:
        return f"{shape[1]} entries for {wanted[1]} tokens"
    return f"shape {shape} for tokens {wanted}"


def vector(value: Any) -> np.ndarray:
    """Return a flat int64 array from a tensor, an array or a list, of any number of axes.

    >>> vector([[0, 2]]).tolist()
    [0, 2]
    """
    array = to_array(value, "cu_seqlens", -1)
    return np.zeros(0, np.int64) if array is None else array.reshape(-1).astype(np.int64)
