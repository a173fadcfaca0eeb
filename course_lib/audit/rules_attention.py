"""Rules on attention patterns: which keys does each query see?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.attention import Pattern
from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.view import places


@rule("mask_inverted", on="attention")
def mask_inverted(pattern: Pattern) -> Iterator[Finding]:
    """True means masked."""
    if pattern.inverted:
        yield finding(
            "mask_inverted", "allowed", "The future is allowed and no query sees itself."
        )


@rule("fully_masked_row", on="attention")
def fully_masked_row(pattern: Pattern) -> Iterator[Finding]:
    """A query without a key."""
    empty = ~pattern.allowed.any(-1)
    if not empty.any() or pattern.inverted:
        return
    real = pattern.view.real
    pads_only = not (empty & real).any()
    severity = None
    if pads_only and (pattern.additive or _by_convention(pattern, empty)):
        severity = "info"
    who = "padded queries have" if pads_only else "queries have"
    yield finding(
        "fully_masked_row",
        places(empty),
        f"{int(empty.sum())} {who} no visible key.",
        expected="at least the query itself",
        found=[],
        severity=severity,
    )


def _by_convention(pattern: Pattern, empty: np.ndarray) -> bool:
    """A document mask leaves all rows and columns of padding empty, on purpose."""
    view = pattern.view
    dense = view.fields.dense is not None
    stated = view.is_batch or dense or "document_ids" in view.sources.ids
    return stated and bool((empty == ~view.real).all())


@rule("future_key_visible", on="attention")
def future_key_visible(pattern: Pattern) -> Iterator[Finding]:
    """A key behind its query."""
    if not pattern.causal or pattern.inverted:
        return
    seen = pattern.real_pairs & (pattern.distance < 0)
    if seen.any():
        yield _queries("future_key_visible", seen, "sees later keys")


@rule("pad_key_visible", on="attention", needs=("padding",))
def pad_key_visible(pattern: Pattern) -> Iterator[Finding]:
    """A real query that sees padding."""
    real = pattern.view.real
    seen = pattern.allowed & real[:, :, None] & ~real[:, None, :]
    if seen.any() and not pattern.inverted:
        yield _queries("pad_key_visible", seen, "sees padded keys")


@rule("cross_document_attention", on="attention", needs=("boundaries",))
def cross_document_attention(pattern: Pattern) -> Iterator[Finding]:
    """A query that sees another document."""
    ids = pattern.view.documents
    seen = pattern.real_pairs & (ids[:, :, None] != ids[:, None, :]) & (pattern.distance >= 0)
    if seen.any() and not pattern.inverted:
        yield _queries("cross_document_attention", seen, "sees keys of another document")


@rule("own_key_hidden", on="attention")
def own_key_hidden(pattern: Pattern) -> Iterator[Finding]:
    """A key of the own document that should be visible and is not."""
    if pattern.inverted:
        return
    real, ids = pattern.view.real, pattern.view.documents
    right = real[:, :, None] & (ids[:, :, None] == ids[:, None, :]) & (pattern.distance >= 0)
    if pattern.window:
        right &= pattern.distance < pattern.window
    hidden = right & ~pattern.allowed
    hidden &= pattern.allowed.any(-1)[:, :, None]  # an empty row is another finding
    if hidden.any():
        said = "does not see keys of its own document"
        yield _queries("own_key_hidden", hidden, said)


@rule("window_ignored", on="attention", needs=("window",))
def window_ignored(pattern: Pattern) -> Iterator[Finding]:
    """A key outside the window."""
    seen = pattern.real_pairs & (pattern.distance >= pattern.window)
    if seen.any():
        said = f"sees keys outside the window of {pattern.window}"
        yield _queries("window_ignored", seen, said)


def _queries(code: str, pairs: np.ndarray, said: str) -> Finding:
    queries = pairs.any(-1)
    row, query = (int(i) for i in np.argwhere(queries)[0])
    keys = np.flatnonzero(pairs[row, query]).tolist()
    hidden = code == "own_key_hidden"
    return finding(
        code,
        places(queries),
        f"{int(queries.sum())} queries; {(row, query)} {said}: {keys[:8]}.",
        expected=f"keys {keys[:8]} {'visible' if hidden else 'hidden'}",
        found="hidden" if hidden else "visible",
    )
