"""`BatchView`: a batch as the rules see it, whatever form it came in.

Two questions are answered here once for all rules. Which token is each prediction scored on
(`targets`, over predictions, not labels)? Which slots hold tokens, and of which document (`real`,
`documents`)? Everything is a numpy array of shape [B, T].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from course_lib.audit.reading import Fields, to_array, vector
from course_lib.audit.sources import UNKNOWN, Sources, inner_starts, read_sources
from course_lib.batch import Batch
from course_lib.vocabulary import IGNORE_INDEX


@dataclass(frozen=True)
class Options:
    """What the caller said beside the batch; see `audit`."""

    loss_shifts: bool | int = True
    documents: Sequence[Sequence[int]] | None = None
    pad_token_id: int | None = None
    eos_token_id: int | Sequence[int] | None = None
    ignore_index: int = IGNORE_INDEX
    vocab_size: int | None = None
    boundary: str | None = None
    prompt_lengths: Sequence | None = None
    completion_spans: Sequence | None = None
    role_ids: Mapping[str, Any] | None = None
    response_template: Sequence[int] | None = None
    lengths: Sequence[int] | None = None
    losses: Any = None
    loss_sum: float | None = None
    denominator: float | None = None
    reported: float | None = None
    window: int | None = None
    attn_implementation: str | None = None


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
        known = self._stated_padding()
        self.sources: Sources = read_sources(self.fields, known, self._free())
        self.real_source = "attention_mask" if known is not None else None
        self._real = known if known is not None else self._uncovered()

    # --- what is there

    def has(self, need: str) -> bool:
        """Say whether a rule's need is met."""
        if need == "labels":
            return self.targets is not None
        if need == "padding":
            return self._real is not None
        if need == "boundaries":
            return bool(self.sources.ids) or self.options.documents is not None
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

    # --- padding

    def _stated_padding(self) -> np.ndarray | None:
        for name, least in (("attention_mask", 1), ("document_ids", 0), ("position_ids", 0)):
            array = self.fields.get(name)
            if array is not None and (name != "position_ids" or (array < 0).any()):
                return array >= least
        if self.options.lengths is not None and self.fields.shape:
            lengths = vector(self.options.lengths)[:, None]
            return np.arange(self.fields.shape[1]) < lengths
        return None

    def _free(self) -> np.ndarray | None:
        """Slots that a list of lengths may leave out: no target, or the pad id."""
        labels, pad = self.fields.get("labels"), self.options.pad_token_id
        if labels is not None:
            return labels == self.options.ignore_index
        if self.ids is not None and pad is not None:
            return self.ids == pad
        return None

    def _uncovered(self) -> np.ndarray | None:
        for name in ("seq_lengths", "cu_seqlens", "attention_mask"):
            ids = self.sources.ids.get(name)
            if ids is not None and (ids < 0).any():
                self.real_source = name
                return ids >= 0
            if ids is not None and name != "attention_mask":
                tail = self._pad_segments(ids)
                if tail.any():
                    self.real_source = name
                    return ~tail
        if self.fields.dense is not None:
            return self._silent_slots()
        return self._padding_by_id()

    def _pad_segments(self, ids: np.ndarray) -> np.ndarray:
        """The last segment of a row, if it holds the pad id alone and no target."""
        pad, labels = self.options.pad_token_id, self.fields.get("labels")
        if pad is None or self.ids is None or labels is None:
            return np.zeros(self.shape, bool)
        last = ids == ids[:, -1:]
        off = (self.ids == pad) & (labels == self.options.ignore_index)
        return last & (off | ~last).all(1, keepdims=True)

    def _silent_slots(self) -> np.ndarray | None:
        """A slot that sees nothing, is seen by nothing and is no target: padding."""
        from course_lib.audit.attention import to_allowed

        allowed = to_allowed(self.fields.dense, self.shape)
        labels = self.fields.get("labels")
        if allowed is None:
            return None
        silent = ~(allowed.any(-1) | allowed.any(-2))
        if labels is not None:
            silent &= labels == self.options.ignore_index
        self.real_source = "attention_mask"
        return ~silent if silent.any() else None

    def _padding_by_id(self) -> np.ndarray | None:
        """Runs of the pad id at the ends of rows whose labels are all off: surely padding."""
        pad, labels = self.options.pad_token_id, self.fields.get("labels")
        if pad is None or self.ids is None or labels is None:
            return None
        if self.sources.ids or "position_ids" in self.fields.arrays:
            return None
        off = (self.ids == pad) & (labels == self.options.ignore_index)
        tail = np.logical_and.accumulate(off[:, ::-1], 1)[:, ::-1]
        if not tail.any():
            return None
        self.real_source = "pad_token_id"
        return ~tail

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
