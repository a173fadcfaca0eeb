"""Rules on completion masks: are the declared tokens targets, and does each row have one?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.spans import segments
from course_lib.audit.view import BatchView, places


@rule("mask_offset", "prompt_target", "loss_mask_off_by_one", needs=("labels", "spans"))
def prompt_edges(view: BatchView) -> Iterator[Finding]:
    """The mask ends where the prompt ends."""
    early, late, whole = _edges(view)
    shifted_mask = view.label_offset == 0 or "loss_mask" in view.fields.arrays
    for faulty, said in ((early, "prompt tokens are targets"), (late, "answer tokens are masked")):
        if not faulty.any():
            continue
        runs = _runs(faulty)
        by_one = shifted_mask and all(stop - start == 1 for _, start, stop in runs)
        yield _edge(view, "loss_mask_off_by_one" if by_one else "mask_offset", faulty, said)
    if whole.any():
        yield _edge(view, "prompt_target", whole, "prompt tokens are targets")


def _edges(view: BatchView) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tokens trained before an answer, masked at its start, and trained in prompts left unmasked.

    Bool [B, T] each, over tokens.
    """
    scored, trained = view.scored, view.trained
    early, late, whole = (np.zeros(view.shape, bool) for _ in range(3))
    usable = (view.offsets == 1)[:, None]
    spurious = scored.unwanted & trained & usable
    missing = scored.wanted & ~trained & usable & ~view.starts & ~view.eos
    missing[:, 0] = False
    for row, first, stop in segments(view):
        if not (spurious[row, first:stop].any() or missing[row, first:stop].any()):
            continue
        for start, end in _true_runs(scored.wanted[row], first, stop):
            at = start
            while at > first and spurious[row, at - 1]:
                at -= 1
            untouched = at <= first + 1 and not _masked(view, row, first)
            (whole if untouched else early)[row, at:start] = spurious[row, at:start]
            at = start
            while at < end and missing[row, at]:
                at += 1
            if at < end:  # a span that is missing altogether is another finding
                late[row, start:at] = True
        if not scored.wanted[row, first:stop].any():
            whole[row, first:stop] = spurious[row, first:stop]
    return early, late, whole


def _masked(view: BatchView, row: int, slot: int) -> bool:
    """Say whether the label of a document's first token is off by itself."""
    if view.label_offset and view.labels is not None:
        return bool(view.labels[row, slot] == view.options.ignore_index)
    return False


def _edge(view: BatchView, code: str, faulty: np.ndarray, said: str) -> Finding:
    n = int(faulty.sum())
    ignore = [view.options.ignore_index] * min(n, 16)
    ids = view.ids[faulty].tolist()[:16] if view.ids is not None else None
    trained = bool(view.trained[faulty].any())
    return finding(
        code,
        [(r, c - 1 + view.label_offset) for r, c in places(faulty)],
        f"{n} {said} ({view.scored.said_by} says so): tokens {ids}.",
        expected=ignore if trained else ids,
        found=ids if trained else ignore,
    )


@rule("span_too_long", "span_too_short", "span_missing", needs=("labels", "spans"))
def span_ends(view: BatchView) -> Iterator[Finding]:
    """Targets stop where the answer stops, and no answer is left out."""
    long, short, absent = (np.zeros(view.shape, bool) for _ in range(3))
    wanted, trained = view.scored.wanted, view.trained
    spurious = view.scored.unwanted & trained
    early, late, whole = _edges(view)
    for row, first, stop in segments(view):
        spans = _true_runs(wanted[row], first, stop)
        for start, end in spans:
            at = end
            while at < stop and spurious[row, at] and not (early | whole)[row, at]:
                at += 1
            long[row, end:at] = True
            body = trained[row, start:end]
            if not body.any() and (end - start > 1 or start > first):
                absent[row, start:end] = True
            elif body.any():
                last = end - int(body[::-1].argmax())
                short[row, last:end] = ~view.eos[row, last:end]
    absent &= trained.any(1, keepdims=True)  # a row without any target is another finding
    for code, faulty, said in (
        ("span_too_long", long, "targets follow the end of an answer"),
        ("span_too_short", short & ~view.starts, "tokens at the end of an answer are masked"),
        ("span_missing", absent, "tokens of answers without any target"),
    ):
        if faulty.any():
            yield _edge(view, code, faulty, said)


@rule("row_without_targets", "row_too_short", needs=("labels",))
def row_without_targets(view: BatchView) -> Iterator[Finding]:
    """Every row is scored somewhere, if it can be."""
    empty = np.flatnonzero(~view.live.any(1))
    if not len(empty):
        return
    possible = view.real.copy()
    possible[:, 1:] &= view.real[:, :-1] & ~view.starts[:, 1:]
    possible[:, 0] = False
    short = [int(r) for r in empty if not possible[r].any()]
    rows = [int(r) for r in empty if possible[r].any()]
    if short:
        yield finding("row_too_short", short, f"{len(short)} rows can have no target.")
    if rows:
        said = f"{len(rows)} of {view.shape[0]} rows have no target."
        if view.scored is not None and view.scored.wanted[rows].any() and view.ids is not None:
            kept = view.ids[rows[0]][view.scored.wanted[rows[0]]].tolist()
            said += f" Tokens {kept} of row {rows[0]} belong to an answer and are not marked."
        yield finding("row_without_targets", rows, said, severity="warn" if view.is_batch else None)


def _true_runs(mask: np.ndarray, first: int, stop: int) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(mask[first:stop].astype(int), prepend=0, append=0)) + first
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _runs(mask: np.ndarray) -> list[tuple[int, int, int]]:
    return [
        (row, a, b) for row in range(len(mask)) for a, b in _true_runs(mask[row], 0, mask.shape[1])
    ]
