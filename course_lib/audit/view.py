"""`BatchView`: a batch as the rules see it, whatever form it came in.

Two questions are answered here once for all rules. Which token is each prediction scored on
(`targets`, over predictions, not labels)? Which slots hold tokens, and of which document (`real`,
`documents`)? Everything is a numpy array of shape [B, T].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from course_lib.audit.options import Options
from course_lib.audit.reading import Fields, to_array, vector
from course_lib.audit.real_slots import found_padding, free_slots, stated_padding
from course_lib.audit.sources import UNKNOWN, Sources, inner_starts, read_sources
from course_lib.batch import Batch


class BatchView:
    """A batch and what was said about it, read once. See the module's first lines."""

    def __init__(self, batch: Any, options: Options, shape: tuple[int, int] | None = None) -> None:
        self.options = options
        self.is_batch = isinstance(batch, Batch)
        self.fields = Fields(_mapping(batch), options.ignore_index)
        if self.fields.shape is None:
            self.fields.shape = shape or _shape_elsewhere(self.fields)
        self.shape = self.fields.shape or (0, 0)
        self.ids = self.fields.get("input_ids")
        known = stated_padding(self.fields, options)
        self.sources: Sources = read_sources(self.fields, known, free_slots(self.fields, options))
        source = "attention_mask"
        if known is None:
            known, source = found_padding(self.fields, options, self.sources, self.shape)
        self._real, self.real_source = known, source

    # --- what is there

    def has(self, need: str) -> bool:
        """Say whether a rule's need is met."""
        if need == "labels":
            return self.targets is not None
        if need == "padding":
            return self._real is not None
        if need == "boundaries":
            return bool(self.sources.ids) or self.options.documents is not None
        if need == "ends":
            return self.has("boundaries") or self.has("eos") or self.shape[1] < 2
        if need == "attention":
            return self._attention_known
        if need == "spans":
            return self.scored is not None
        if need == "eos":
            return self.options.eos_token_id is not None
        if need == "pad":
            return self.options.pad_token_id is not None
        if need == "vocab_size":
            return self.options.vocab_size is not None
        if need == "reported":
            given = self.options
            return given.denominator is not None or None not in (given.loss_sum, given.reported)
        return self.fields.get(need) is not None

    @cached_property
    def _attention_known(self) -> bool:
        """False where it depends on the attention whether boundaries in the batch are read."""
        from course_lib.audit.rules_isolation import kept_apart

        return kept_apart(self) is not None or not self.starts.any()

    @cached_property
    def real(self) -> np.ndarray:
        """Bool [B, T]: the slot holds a token, as far as is known."""
        return np.ones(self.shape, bool) if self._real is None else self._real

    # --- documents

    @cached_property
    def boundary_source(self) -> str | None:
        """The source that `documents` is taken from."""
        order = ("document_ids", "seq_idx", "seq_lengths", "cu_seqlens", "attention_mask")
        for name in (*order, "position_ids"):
            if name in self.sources.ids:
                return name
        return "documents" if self.traced is not None else None

    @cached_property
    def documents(self) -> np.ndarray:
        """Document ids [B, T], -1 on padding; one document a row where nothing is known."""
        if self.boundary_source is None:
            return np.where(self.real, 0, UNKNOWN)
        known = self.sources.ids.get(self.boundary_source)
        return np.where(self.real, self.traced if known is None else known, UNKNOWN)

    @cached_property
    def traced(self) -> np.ndarray | None:
        """Document ids [B, T] found by looking for the given documents in the rows."""
        if self.options.documents is None or self.ids is None:
            return None
        from course_lib.audit.tracing import trace

        rows = [row[keep].tolist() for row, keep in zip(self.ids, self.real, strict=True)]
        owners = trace(self.options.documents, rows).owners
        out = np.full(self.shape, UNKNOWN)
        for row, owner in enumerate(owners):
            out[row, self.real[row]] = _fill(owner)
        return out

    @cached_property
    def starts(self) -> np.ndarray:
        """Bool [B, T]: a later document of the row begins here."""
        return inner_starts(self.documents)

    # --- targets

    @cached_property
    def label_offset(self) -> int:
        """Where the label of prediction t stands: slot t + label_offset."""
        effective = self.fields.get("effective_targets") is not None
        shifted = effective or "shift_labels" in self.fields.arrays or self.decodes
        return 0 if shifted else min(int(self.options.loss_shifts), 1)

    @cached_property
    def decodes(self) -> bool:
        """An encoder-decoder batch: labels belong to decoder_input_ids."""
        return "decoder_input_ids" in self.fields.arrays

    @cached_property
    def labels(self) -> np.ndarray | None:
        """Labels [B, T] as the loss gets them, with the loss mask applied, before its shift."""
        get = self.fields.get
        labels = get("shift_labels") if get("shift_labels") is not None else get("labels")
        mask = get("loss_mask")
        if labels is None and mask is not None and self.ids is not None:
            labels = self.ids
        if labels is None or mask is None:
            return labels
        if mask.shape[1] == labels.shape[1] - 1:
            mask = np.pad(mask, ((0, 0), (0, 1)))
        return np.where(mask != 0, labels, self.options.ignore_index)

    @cached_property
    def targets(self) -> np.ndarray | None:
        """What each prediction is scored on, [B, T]; ignore_index where on nothing."""
        effective = self.fields.get("effective_targets")
        if effective is not None:
            return effective
        labels, ignore = self.labels, self.options.ignore_index
        if labels is None:
            return None
        if self.label_offset == 0:
            return labels
        moved = np.full(labels.shape, ignore)
        moved[:, :-1] = labels[:, 1:]
        if int(self.options.loss_shifts) > 1:  # by hand, flattened, then once more inside
            flat = moved[:, :-1].reshape(-1)
            again = np.append(flat[1:], ignore).reshape(moved[:, :-1].shape)
            moved = np.pad(again, ((0, 0), (0, 1)), constant_values=ignore)
        return moved

    @cached_property
    def live(self) -> np.ndarray:
        """Bool [B, T]: this prediction is scored."""
        if self.targets is None:
            return np.zeros(self.shape, bool)
        return self.targets != self.options.ignore_index

    @cached_property
    def trained(self) -> np.ndarray:
        """Bool [B, T], over tokens: the token is a target of the prediction before it."""
        out = np.zeros(self.shape, bool)
        out[:, 1:] = self.live[:, :-1]
        return out

    @cached_property
    def offsets(self) -> np.ndarray:
        """For each row, how far its targets are ahead of the inputs: 1 is right. [B]"""
        from course_lib.audit.rules_shift import row_offsets

        return row_offsets(self)

    @cached_property
    def eos(self) -> np.ndarray:
        """Bool [B, T]: the id is (one of) eos_token_id."""
        eos = self.options.eos_token_id
        if eos is None or self.ids is None:
            return np.zeros(self.shape, bool)
        if isinstance(eos, int):
            return self.ids == eos
        return np.isin(self.ids, vector(eos))

    @cached_property
    def scored(self) -> Any:
        """Which tokens were declared to be targets (`spans.Scored`), or None."""
        from course_lib.audit.spans import declared

        return declared(self)

    def label_places(self, mask: np.ndarray) -> list[tuple[int, int]]:
        """Return where the labels of the predictions in `mask` [B, T] stand, as (row, index)."""
        rows, columns = mask.nonzero()
        return list(zip(rows.tolist(), (columns + self.label_offset).tolist(), strict=True))


def places(mask: np.ndarray) -> list[tuple[int, int]]:
    """Return the True entries of [B, T] as (row, index).

    >>> places(np.array([[False, True]]))
    [(0, 1)]
    """
    return [(int(r), int(c)) for r, c in np.argwhere(mask)]


def _mapping(batch: Any) -> Mapping[str, Any]:
    if isinstance(batch, Batch):
        names = ("input_ids", "labels", "attention_mask", "position_ids", "document_ids")
        return {name: getattr(batch, name) for name in names}
    if isinstance(batch, Mapping):
        return batch
    if hasattr(batch, "data") and isinstance(batch.data, Mapping):
        return batch.data  # transformers' BatchEncoding
    raise TypeError(
        f"expected a Batch or a mapping of tensors, got {type(batch).__name__}. "
        "Pass the dictionary that your collator returns."
    )


def _shape_elsewhere(fields: Fields) -> tuple[int, int] | None:
    """The shape of a batch that has no slotwise field, from a dense mask."""
    if fields.dense is not None:
        array = to_array(fields.dense, "attention_mask", 0)
        rows = array.shape[0] if array.ndim > 2 else 1
        return rows, array.shape[-1]
    return None


def _fill(owner: Sequence[int]) -> np.ndarray:
    """Give tokens of no document (an added EOS) to the document before them."""
    ids = np.asarray(owner, dtype=np.int64).reshape(-1)
    index = np.maximum.accumulate(np.where(ids >= 0, np.arange(len(ids)), 0))
    return ids[index] if len(ids) else ids
