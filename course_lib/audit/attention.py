"""`audit_attention`: may each query see the right keys, and no others?

A pattern is boolean (True = may attend), additive (0 where allowed), weights (0 where not), or what
a probe collected. What the right pattern is follows from the batch beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from course_lib.audit.options import Options
from course_lib.audit.reading import to_array
from course_lib.audit.registry import run_rules
from course_lib.audit.report import Report
from course_lib.audit.view import BatchView

BLOCKED = -1.0  # additive masks write 0 where allowed and something far below elsewhere


def audit_attention(
    allowed: Any,
    batch: Any = None,
    *,
    window: int | None = None,
    causal: bool = True,
    documents: Any = None,
    pad_token_id: int | None = None,
) -> Report:
    """Return what is wrong with a pattern of visible keys.

    `allowed` is [T, T], [B, T, T] or [B, H, T, T] (batch, head, query, key); heads are joined: a
    key that one head sees is visible. `batch` is a Batch, a mapping or document ids [B, T] and says
    which slots are padding and where documents begin. `window`: query q sees key k only if
    q - k < window; 0 and None mean no limit.

    Raises ValueError for a pattern of another shape than the batch.

    >>> from course_lib import document_mask, pack_documents
    >>> batch = pack_documents([[1, 2], [3]], 4)
    >>> audit_attention(document_mask(batch), batch).ok
    True
    """
    array = to_array(allowed, "allowed", 0)
    if array is None or array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        shape = None if array is None else array.shape
        raise ValueError(f"allowed must be [T, T], [B, T, T] or [B, H, T, T], got shape {shape}.")
    if batch is not None and hasattr(batch, "shape"):
        batch = {"document_ids": batch}
    options = Options(documents=documents, pad_token_id=pad_token_id)
    rows = array.shape[0] if array.ndim > 2 else 1
    view = BatchView({} if batch is None else batch, options, (rows, array.shape[-1]))
    pattern = to_allowed(array, view.shape)
    if pattern is None:
        raise ValueError(f"allowed has shape {array.shape}, the batch has {view.shape} slots.")
    subject = Pattern(pattern, view, window, causal, additive(array))
    B, T = view.shape
    return run_rules("attention", subject, Report(f"attention of {B} × {T} queries"))


def to_allowed(array: np.ndarray, shape: tuple[int, int]) -> np.ndarray | None:
    """Return a pattern as bool [B, T, T], or None if its shape does not fit."""
    array = np.asarray(array)
    if array.ndim == 4:
        joined = _allows(array)
        joined = joined.any(1)
    elif array.ndim in (2, 3):
        joined = _allows(array)
        joined = joined[None] if array.ndim == 2 else joined
    else:
        return None
    B, T = shape
    if joined.shape[1] == 1 and T > 1:
        joined = np.broadcast_to(joined, (joined.shape[0], T, joined.shape[2]))
    if joined.shape[1:] != (T, T) or joined.shape[0] not in (1, B):
        return None
    return np.broadcast_to(joined, (B, T, T))


def additive(array: np.ndarray) -> bool:
    """Say whether a pattern is numbers to add: 0 where allowed, far below 0 elsewhere.

    >>> additive(np.array([[0.0, -1e9]])), additive(np.array([[1, 0]]))
    (True, False)
    """
    if array.dtype == bool or array.dtype.kind == "u":
        return False
    return bool(array.min(initial=0) < 0 or (array.dtype.kind == "f" and not array.any()))


def _allows(array: np.ndarray) -> np.ndarray:
    return array > BLOCKED if additive(array) else array != 0


@dataclass
class Pattern:
    """A pattern [B, T, T] beside the batch that it belongs to."""

    allowed: np.ndarray
    view: BatchView
    window: int | None
    causal: bool
    additive: bool

    def has(self, need: str) -> bool:
        """Say whether a rule's need is met."""
        return bool(self.window) if need == "window" else self.view.has(need)

    @cached_property
    def real_pairs(self) -> np.ndarray:
        """Bool [B, T, T]: query and key are real, and the query is allowed to see the key."""
        real = self.view.real
        return self.allowed & real[:, :, None] & real[:, None, :]

    @cached_property
    def distance(self) -> np.ndarray:
        """Query minus key, [T, T]."""
        slots = np.arange(self.allowed.shape[-1])
        return slots[:, None] - slots[None, :]

    @cached_property
    def inverted(self) -> bool:
        """No query sees itself, and nearly all of the future is allowed."""
        future = self.distance < 0
        if not future.any() or not self.causal:
            return False
        itself = np.einsum("btt->bt", self.allowed)
        return not itself.any() and self.allowed[:, future].mean() > 0.99
