"""Which slots hold tokens and which are padding: what is stated, and what can be inferred."""

from __future__ import annotations

import numpy as np

from course_lib.audit.options import Options
from course_lib.audit.reading import Fields, vector
from course_lib.audit.sources import Sources

Padding = tuple[np.ndarray | None, str | None]
"""Bool [B, T], True on tokens (None: nothing is known), and the field that says so."""


def stated_padding(fields: Fields, options: Options) -> np.ndarray | None:
    """Return what a field or an option says outright."""
    for name, least in (("attention_mask", 1), ("document_ids", 0), ("position_ids", 0)):
        array = fields.get(name)
        if array is not None and (name != "position_ids" or (array < 0).any()):
            return array >= least
    if options.lengths is not None and fields.shape:
        return np.arange(fields.shape[1]) < vector(options.lengths)[:, None]
    return None


def free_slots(fields: Fields, options: Options) -> np.ndarray | None:
    """Return slots that a list of lengths may leave out: no target, or the pad id."""
    labels, ids, pad = fields.get("labels"), fields.get("input_ids"), options.pad_token_id
    if labels is not None:
        return labels == options.ignore_index
    return ids == pad if ids is not None and pad is not None else None


def found_padding(
    fields: Fields, options: Options, sources: Sources, shape: tuple[int, int]
) -> Padding:
    """Return what follows from boundaries, from a pattern, or at last from ids."""
    for name in ("seq_lengths", "cu_seqlens", "attention_mask"):
        ids = sources.ids.get(name)
        if ids is None:
            continue
        if (ids < 0).any():
            return ids >= 0, name
        tail = _pad_segments(fields, options, ids)
        if name != "attention_mask" and tail is not None and tail.any():
            return ~tail, name
    if fields.dense is not None:
        return _silent_slots(fields, options, shape)
    return _by_id(fields, options, sources)


def _off(fields: Fields, options: Options) -> np.ndarray | None:
    """Slots with the pad id that are no target."""
    ids, labels, pad = fields.get("input_ids"), fields.get("labels"), options.pad_token_id
    if pad is None or ids is None or labels is None:
        return None
    return (ids == pad) & (labels == options.ignore_index)


def _pad_segments(fields: Fields, options: Options, ids: np.ndarray) -> np.ndarray | None:
    """The last segment of a row, if it holds the pad id alone and no target."""
    off = _off(fields, options)
    if off is None:
        return None
    last = ids == ids[:, -1:]
    return last & (off | ~last).all(1, keepdims=True)


def _silent_slots(fields: Fields, options: Options, shape: tuple[int, int]) -> Padding:
    """A slot that sees nothing, is seen by nothing and is no target: padding."""
    from course_lib.audit.attention import to_allowed

    allowed = to_allowed(fields.dense, shape)
    if allowed is None:
        return None, None
    silent = ~(allowed.any(-1) | allowed.any(-2))
    labels = fields.get("labels")
    if labels is not None:
        silent &= labels == options.ignore_index
    return (~silent, "attention_mask") if silent.any() else (None, None)


def _by_id(fields: Fields, options: Options, sources: Sources) -> Padding:
    """Runs of the pad id at the ends of rows, all without a target, if nothing else speaks."""
    off = _off(fields, options)
    if off is None or sources.ids or "position_ids" in fields.arrays:
        return None, None
    tail = np.logical_and.accumulate(off[:, ::-1], 1)[:, ::-1]
    return (~tail, "pad_token_id") if tail.any() else (None, None)
