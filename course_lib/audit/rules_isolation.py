"""Rules on isolation: are documents of a row kept apart, in attention and in targets?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.view import BatchView, places

VARLEN = ("document_ids", "seq_idx", "seq_lengths", "cu_seqlens")
"""Fields of boundaries that reach a varlen kernel or a mask of one's own, and nothing else."""

DEAF = ("eager", "sdpa", "flex_attention")
"""Implementations of transformers that read `attention_mask` and `position_ids` alone."""


def isolates(view: BatchView) -> bool:
    """Say whether anything given is meant to keep documents of a row apart."""
    if {*VARLEN, "attention_mask"} & set(view.sources.ids):
        return True
    mask_hides = view.fields.get("attention_mask") is not None
    return "position_ids" in view.sources.ids and not mask_hides


def kept_apart(view: BatchView) -> bool | None:
    """Say whether the model will keep the documents apart; None: that depends on its attention.

    `attention_mask` does, with document ids or a pattern. Position ids do while no mask of ones
    stands beside them. cu_seqlens are read by varlen kernels only, other fields by other layers.
    """
    if view.is_batch or view.fields.dense is not None or "attention_mask" in view.sources.ids:
        return True
    mask_hides = view.fields.get("attention_mask") is not None
    by_position = "position_ids" in view.sources.ids
    if by_position and not mask_hides:
        return True
    if not set(VARLEN) & set(view.sources.ids) or view.options.attn_implementation in DEAF:
        return False
    if view.options.attn_implementation is not None:
        return by_position or "cu_seqlens" in view.sources.ids
    all_ones = mask_hides and bool(view.fields.get("attention_mask").all())
    return False if by_position and all_ones else None


def after_eos(view: BatchView) -> np.ndarray:
    """Bool [B, T]: the token before is EOS; taken for a boundary where nothing else names one."""
    begins = np.zeros(view.shape, bool)
    begins[:, 1:] = view.eos[:, :-1] & view.real[:, 1:] & view.real[:, :-1]
    return begins


@rule("no_document_mask", needs=("input_ids", "ends", "attention"))
def no_document_mask(view: BatchView) -> Iterator[Finding]:
    """Several documents, and nothing that keeps them apart."""
    if kept_apart(view) is not False:
        return
    begins, said_by = view.starts, view.boundary_source
    varlen = bool(set(VARLEN) & set(view.sources.ids))
    severity = "info" if varlen and view.options.attn_implementation is None else None
    if said_by is None:  # an EOS that is followed by a scored token
        begins = after_eos(view) & view.trained
        said_by = "EOS"
        severity = None if view.has("position_ids") else "info"
    if begins.any():
        n = int(begins.sum())
        rows = int(begins.any(1).sum())
        yield finding(
            "no_document_mask",
            places(begins),
            f"{n + rows} documents share {rows} causal row{'s' * (rows != 1)} ({said_by} shows "
            f"{n} boundar{'ies' if n > 1 else 'y'}).{_unread(view)}",
            severity=severity,
        )


def _unread(view: BatchView) -> str:
    """Which of the fields that were given keep nothing apart, and why."""
    varlen = ", ".join(name for name in VARLEN if name in view.sources.ids)
    said = ""
    if "position_ids" in view.sources.ids:
        said = " position_ids are not read for boundaries while attention_mask is there."
    if varlen:
        kind = view.options.attn_implementation
        said += f" {kind} does not read {varlen}." if kind else (
            f" Only a varlen kernel reads {varlen}: say which attn_implementation the model has."
        )
    return said


@rule("boundary_target", needs=("input_ids", "labels", "ends"))
def boundary_target(view: BatchView) -> Iterator[Finding]:
    """The last token of a document is scored on the first token of another one."""
    if view.options.boundary == "A" or view.decodes:
        return
    inferred = view.boundary_source is None and view.options.boundary == "B"
    begins = after_eos(view) if inferred else view.starts
    crossing = np.zeros(view.shape, bool)
    crossing[:, :-1] = begins[:, 1:]
    crossing &= view.live & (view.offsets == 1)[:, None]
    same = crossing.copy()
    same[:, :-1] &= view.targets[:, :-1] == view.ids[:, 1:]
    same &= ~_own_end(view)
    rolled = _rolled(view)
    severity = "warn" if inferred and same.any() else _severity(view, crossing, same, rolled)
    faulty = (same if severity else np.zeros_like(same)) | rolled
    if not faulty.any():
        return
    row, column = (int(i) for i in np.argwhere(faulty)[0])
    n = int(faulty.sum())
    yield finding(
        "boundary_target",
        view.label_places(faulty),
        f"{n} targets lie over a document boundary: {(row, column)} is the last token of its "
        f"document{' (it is EOS)' * inferred} and is scored on {view.targets[row, column]}.",
        expected=[view.options.ignore_index] * min(n, 16),
        found=view.targets[faulty].tolist()[:16],
        severity="error" if rolled.any() else severity,
    )


@rule("boundary_target_missing", needs=("input_ids", "labels", "ends"))
def boundary_target_missing(view: BatchView) -> Iterator[Finding]:
    """Convention A was declared, and the first token of a later document is no target.

    Only where the token behind it is one: a longer run without targets is a prompt.
    """
    if view.options.boundary != "A" or view.decodes:
        return
    inferred = view.boundary_source is None
    begins = after_eos(view) if inferred else view.starts
    missing = begins & ~view.trained & (view.offsets == 1)[:, None]
    missing[:, :-1] &= view.trained[:, 1:] & ~begins[:, 1:]
    missing[:, -1] = False
    if view.scored is not None:
        missing &= ~view.scored.unwanted
    if missing.any():
        n, (row, column) = int(missing.sum()), places(missing)[0]
        by = "EOS shows the boundaries" if inferred else f"by {view.boundary_source}"
        yield finding(
            "boundary_target_missing",
            [(r, c - 1 + view.label_offset) for r, c in places(missing)],
            f"{n} of {int(begins.sum())} later documents ({by}) begin with a token that is no "
            f"target, the first at {(row, column)}: convention B, and A was declared.",
            expected=view.ids[missing].tolist()[:16],
            found=[view.options.ignore_index] * min(n, 16),
            severity="warn" if inferred else None,
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
