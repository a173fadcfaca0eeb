"""Rules on isolation: are documents of a row kept apart, in attention and in targets?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.view import BatchView, places


def isolates(view: BatchView) -> bool:
    """Say whether anything given keeps documents of a row apart."""
    carriers = {"document_ids", "seq_idx", "seq_lengths", "cu_seqlens", "attention_mask"}
    if carriers & set(view.sources.ids):
        return True
    mask_hides = view.fields.get("attention_mask") is not None
    return "position_ids" in view.sources.ids and not mask_hides


@rule("no_document_mask", needs=("input_ids",))
def no_document_mask(view: BatchView) -> Iterator[Finding]:
    """Several documents, and nothing that keeps them apart."""
    if view.is_batch or isolates(view) or view.fields.dense is not None:
        return
    begins, said_by = view.starts, view.boundary_source
    severity = None
    if said_by is None:  # an EOS that is followed by a scored token
        begins = np.zeros(view.shape, bool)
        begins[:, 1:] = view.eos[:, :-1] & view.real[:, 1:] & view.real[:, :-1]
        begins &= view.trained
        said_by = "EOS"
        severity = None if view.has("position_ids") else "info"
    if begins.any():
        n = int(begins.sum())
        rows = int(begins.any(1).sum())
        yield finding(
            "no_document_mask",
            places(begins),
            f"{n + rows} documents share {rows} causal row{'s' * (rows != 1)} ({said_by} shows "
            f"{n} boundar{'ies' if n > 1 else 'y'}).",
            severity=severity,
        )


@rule("boundary_target", needs=("input_ids", "labels"))
def boundary_target(view: BatchView) -> Iterator[Finding]:
    """The last token of a document is scored on the first token of another one."""
    if view.options.boundary == "A" or view.decodes:
        return
    crossing = np.zeros(view.shape, bool)
    crossing[:, :-1] = view.starts[:, 1:]
    crossing &= view.live & (view.offsets == 1)[:, None]
    same = crossing.copy()
    same[:, :-1] &= view.targets[:, :-1] == view.ids[:, 1:]
    same &= ~_own_end(view)
    rolled = _rolled(view)
    severity = _severity(view, crossing, same, rolled)
    faulty = (same if severity else np.zeros_like(same)) | rolled
    if not faulty.any():
        return
    row, column = (int(i) for i in np.argwhere(faulty)[0])
    n = int(faulty.sum())
    yield finding(
        "boundary_target",
        view.label_places(faulty),
        f"{n} targets lie over a document boundary: {(row, column)} is the last token of its "
        f"document and is scored on {view.targets[row, column]}.",
        expected=[view.options.ignore_index] * min(n, 16),
        found=view.targets[faulty].tolist()[:16],
        severity="error" if rolled.any() else severity,
    )


def _severity(
    view: BatchView, crossing: np.ndarray, same: np.ndarray, rolled: np.ndarray
) -> str | None:
    """A declared convention decides; else how the labels were made."""
    if not same.any():
        return None
    if view.options.boundary == "B":
        return "error"
    if view.label_offset:
        return "info" if view.is_batch or not isolates(view) else "warn"
    last = view.live[:, -1] & ~rolled[:, -1]  # each document shifted by itself ends on a target
    if last.any():
        own = (crossing & ~same).any()
        return None if own else "warn"
    return "error" if isolates(view) else "info"


def _own_end(view: BatchView) -> np.ndarray:
    """Targets that may be the document's own EOS, though the next document begins with that id."""
    given = view.options.eos_token_id
    if view.label_offset or given is None:
        return np.zeros(view.shape, bool)
    return np.isin(view.targets, given) & ~view.eos


def _rolled(view: BatchView) -> np.ndarray:
    """The last slot of a row, scored on the first token that follows in the flat, rolled batch."""
    out = np.zeros(view.shape, bool)
    if view.label_offset or view.shape[1] < 3:
        return out
    following = np.roll(view.ids, -1, 0)[:, 0]
    following_own = view.ids[:, 0]
    last = view.targets[:, -1]
    hit = view.live[:, -1] & ((last == following) | (last == following_own))
    hit &= ~_own_end(view)[:, -1]
    body = view.live[:, :-1]
    copied = (view.targets[:, :-1] == view.ids[:, 1:]) | ~body
    over = np.zeros(view.shape[0], bool)
    over[:] = (view.starts[:, 1:] & body).any(1) | view.eos[:, -1]
    out[:, -1] = hit & copied.all(1) & over
    return out
