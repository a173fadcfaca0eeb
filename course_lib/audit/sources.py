"""Every source of document boundaries in a batch, each brought to the same form.

The common form is an array of document ids [B, T] with -1 where a source says padding or nothing.
What is compared later is where documents begin inside a row, on slots that both sources know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.audit.reading import Fields, vector

UNKNOWN = -1


@dataclass
class Sources:
    """Document ids by source, and what was wrong with the sources themselves.

    - ids        name → [B, T], -1 where the source knows no token
    - segments   (start, stop) in flat slots of each segment of cu_seqlens, padding included
    - malformed  sentences on cu_seqlens
    """

    ids: dict[str, np.ndarray] = field(default_factory=dict)
    segments: list[tuple[int, int]] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    too_long: str = ""
    padding_removed: bool = False


def read_sources(fields: Fields, real: np.ndarray | None, free: np.ndarray | None) -> Sources:
    """Return all sources of boundaries in `fields`.

    `real` [B, T] says which slots are known to hold tokens (None: unknown); `free` [B, T] where a
    boundary list may leave a slot out (None: nowhere known).
    """
    out = Sources()
    shape = fields.shape
    if shape is None:  # no tokens beside it: they end where it says
        marks = vector(fields.raw.get("cu_seqlens", [0]))
        shape = (1, max(int(marks.max(initial=0)), 0))
    for name in ("document_ids", "seq_idx"):
        if (array := fields.get(name)) is not None:
            out.ids[name] = np.where(array >= 0, array, UNKNOWN)
    mask = fields.get("attention_mask")
    if mask is not None and mask.max(initial=0) > 1:
        out.ids["attention_mask"] = mask - 1
    flags = fields.raw.get("segment_is_real")
    if "seq_lengths" in fields.raw:
        _from_lengths(out, fields.raw["seq_lengths"], shape, flags)
    if "cu_seqlens" in fields.raw:
        _from_cu_seqlens(out, vector(fields.raw["cu_seqlens"]), shape, real, free, flags)
    positions = fields.get("position_ids")
    if positions is not None:
        _from_positions(out, positions, real)
    if fields.dense is not None:
        _from_dense(out, fields.dense, shape, real)
    return out


def _from_lengths(out: Sources, value: Any, shape: tuple[int, int], flags: Any) -> None:
    rows = [list(map(int, vector(row))) for row in value] if _nested(value) else [
        list(map(int, vector(value)))
    ]
    B, T = shape
    if len(rows) == 1 and B > 1:  # one flat list over all rows
        lengths = np.array(rows[0])
        if lengths.sum() != B * T:
            out.too_long = f"{lengths.sum()} tokens in {len(lengths)} lengths for {B} rows of {T}"
            return
        out.ids["seq_lengths"] = np.repeat(np.arange(len(lengths)), lengths).reshape(shape)
        return
    ids = np.full(shape, UNKNOWN)
    if len(rows) != B:
        out.too_long = f"{len(rows)} rows for {B} rows of tokens"
        return
    kinds = [True] * sum(map(len, rows)) if flags is None else [bool(v) for v in vector(flags)]
    number = 0
    for row, lengths in enumerate(rows):
        lengths = [n for n in lengths if n >= 0]  # -1000 and -1 are fillers
        if sum(lengths) > T:
            out.too_long = f"row {row} has {T} slots, its lengths add up to {sum(lengths)}"
            return
        at = 0
        for n in lengths:
            if number >= len(kinds) or kinds[number]:
                ids[row, at : at + n] = number
            at, number = at + n, number + 1
    out.ids["seq_lengths"] = ids


def _from_cu_seqlens(
    out: Sources,
    marks: np.ndarray,
    shape: tuple[int, int],
    real: np.ndarray | None,
    free: np.ndarray | None,
    flags: Any,
) -> None:
    total = shape[0] * shape[1]
    while len(marks) > 1 and (marks[-1] < 0):
        marks = marks[:-1]  # -1 is a filler
    if len(marks) == 0 or marks[0] != 0 or len(marks) == 1:
        first = f"it begins with {marks[0]}" if len(marks) and marks[0] else "it has no segment"
        out.malformed.append(first)
    if (np.diff(marks) < 0).any():
        out.malformed.append("it falls")
    if out.malformed:
        return
    if total == 0:
        return
    end = int(marks[-1])
    count = total if real is None else int(real.sum())
    known = real if real is not None else np.ones(shape, bool)
    last = total - int(known.reshape(-1)[::-1].argmax()) if known.any() else 0
    outside = np.ones(total, bool) if free is None else ~free.reshape(-1)
    if end == count != total and (shape[0] > 1 or end != last):
        out.padding_removed = True
    elif end > total or (end not in (total, last) and outside[end:].any()):
        out.malformed.append(f"it ends at {end}")
        return
    kinds = [True] * (len(marks) - 1) if flags is None else [bool(v) for v in vector(flags)]
    ids = np.repeat(np.arange(len(marks) - 1), np.diff(marks))
    if flags is not None:
        kept = np.array([*kinds, *[True] * len(marks)])[: len(marks) - 1]
        ids = np.where(kept[ids], ids, UNKNOWN)
    whole = np.full(total, UNKNOWN)
    if out.padding_removed:
        whole[known.reshape(-1)] = ids
    else:
        whole[:end] = ids
        pairs = zip(marks[:-1].tolist(), marks[1:].tolist(), strict=True)
        out.segments = [pair for pair, kind in zip(pairs, kinds, strict=False) if kind]
    out.ids["cu_seqlens"] = whole.reshape(shape)


def _from_positions(out: Sources, positions: np.ndarray, real: np.ndarray | None) -> None:
    """A step other than +1 begins a document; a row without such a step is no source."""
    known = positions >= 0 if real is None else real & (positions >= 0)
    begins = np.ones(positions.shape, bool)
    begins[:, 1:] = positions[:, 1:] - positions[:, :-1] != 1
    ids = np.where(known, np.cumsum(begins, 1), UNKNOWN)
    if inner_starts(ids).any():
        out.ids["position_ids"] = ids


def _from_dense(
    out: Sources, dense: np.ndarray, shape: tuple[int, int], real: np.ndarray | None
) -> None:
    """A token that does not see the one before it begins a document."""
    from course_lib.audit.attention import to_allowed

    allowed = to_allowed(dense, shape)
    if allowed is None or shape[1] < 2:
        return
    sees_before = np.einsum("btt->bt", allowed[:, 1:, :-1])
    begins = np.ones(shape, bool)
    begins[:, 1:] = ~sees_before
    known = allowed.any(-1) if real is None else real
    ids = np.where(known, np.cumsum(begins, 1), UNKNOWN)
    if inner_starts(ids).any():
        out.ids["attention_mask"] = ids


def inner_starts(ids: np.ndarray) -> np.ndarray:
    """Return bool [B, T]: a document begins here and another one ends right before.

    >>> inner_starts(np.array([[0, 0, 1, -1]])).tolist()
    [[False, False, True, False]]
    """
    out = np.zeros(ids.shape, bool)
    out[:, 1:] = (ids[:, 1:] != ids[:, :-1]) & (ids[:, 1:] >= 0) & (ids[:, :-1] >= 0)
    return out


def _nested(value: Any) -> bool:
    """A list of lists, or an array of two axes."""
    first = next(iter(value), None)
    return hasattr(first, "__len__") or getattr(first, "ndim", 0) > 0
