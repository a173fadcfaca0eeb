"""Rules on padding: what is trained on it, what is predicted from it, what counts it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.view import BatchView, places


@rule("pad_target", needs=("labels", "padding"))
def pad_target(view: BatchView) -> Iterator[Finding]:
    """A target stands on padding."""
    faulty = view.live & ~_target_slot(view, view.real)
    severity = None
    if view.label_offset == 0 and view.fields.get("effective_targets") is None:
        faulty, severity = _on_pads(view, faulty)
    if faulty.any():
        n, total = int(faulty.sum()), int(view.live.sum())
        yield finding(
            "pad_target",
            view.label_places(faulty),
            f"{n} of {total} targets are padding ({view.real_source} says so)."
            + _means(view, faulty),
            expected=[view.options.ignore_index] * min(n, 16),
            found=view.targets[faulty].tolist()[:16],
            severity=severity,
        )


def _on_pads(view: BatchView, faulty: np.ndarray) -> tuple[np.ndarray, str | None]:
    """With shifted labels the last target of a document may stand before padding by right.

    It is padding if the row goes on being scored, or if its document had ended before.
    """
    edge = faulty & view.real  # the slot holds a token, the one behind it padding
    if view.ids is None or not edge.any():
        return faulty, None
    same = np.zeros(view.shape, bool)
    same[:, :-1] = view.targets[:, :-1] == view.ids[:, 1:]
    goes_on = np.zeros(view.shape, bool)
    goes_on[:, :-1] = view.live[:, 1:]
    sure = edge & same & (goes_on | view.eos)
    faulty = faulty & (~edge | same)
    unsure = not (sure | (faulty & ~edge)).any()
    return faulty, "warn" if unsure else None


def _target_slot(view: BatchView, slots: np.ndarray) -> np.ndarray:
    """Return for each prediction what `slots` [B, T] says of the slot of its target."""
    out = np.ones(view.shape, bool)
    for k in np.unique(view.offsets):
        rows = view.offsets == k
        moved = np.ones((int(rows.sum()), view.shape[1]), bool)
        if k >= 0:
            moved[:, : view.shape[1] - k] = slots[rows][:, k:]
            if k:  # beyond the row nothing is known; a padded last slot goes on being padding
                moved[:, -k:] = slots[rows][:, -1:]
        out[rows] = moved
    return out


def _means(view: BatchView, faulty: np.ndarray) -> str:
    """Say what the padding does to the mean, if token losses were given."""
    if view.options.losses is None:
        return ""
    losses = np.atleast_2d(np.asarray(view.options.losses, dtype=float))
    width = losses.shape[1]
    live, clean = view.live[:, :width], (view.live & ~faulty)[:, :width]
    if losses.shape != live.shape or not clean.any():
        return ""
    return f" The mean is {losses[live].mean():.4g} instead of {losses[clean].mean():.4g}."


@rule("pad_target", needs=("input_ids", "labels", "pad"))
def pad_target_by_id(view: BatchView) -> Iterator[Finding]:
    """Without a mask: a row ends in a run of pad ids, all of them targets."""
    if view.has("padding") or view.has("position_ids") or view.sources.ids:
        return  # something better than ids says which slots are real
    tail = np.logical_and.accumulate((view.ids == view.options.pad_token_id)[:, ::-1], 1)[:, ::-1]
    tail &= ~tail.all(1, keepdims=True)
    behind = np.zeros(view.shape, bool)
    behind[:, 1:] = tail[:, 1:] & ~tail[:, :-1] & view.eos[:, :-1]  # a run right behind an EOS
    if view.eos[tail].any():  # pad is EOS: the first of a run is a document's end
        tail[:, 1:] &= tail[:, :-1]
        behind = tail
    suspects = view.trained & tail
    if suspects.any():
        yield finding(
            "pad_target",
            [(r, c - 1 + view.label_offset) for r, c in places(suspects)],
            f"{int(suspects.sum())} targets at the ends of rows have the pad id "
            f"{view.options.pad_token_id}; no mask says whether they are padding.",
            severity="error" if behind.any() else "warn",
        )


@rule("target_predicted_from_pad", needs=("labels", "padding"))
def predicted_from_pad(view: BatchView) -> Iterator[Finding]:
    """The slot that predicts a real token holds padding."""
    faulty = view.live & ~view.real & (view.offsets == 1)[:, None]
    faulty[:, :-1] &= view.real[:, 1:]
    faulty[:, -1] = False
    if faulty.any():
        slots = view.label_places(faulty)
        row, column = (int(i) for i in np.argwhere(faulty)[0])
        yield finding(
            "target_predicted_from_pad",
            slots,
            f"Target {view.targets[row, column]} in row {row} is predicted from the padding at "
            f"index {column}.",
            expected=[view.options.ignore_index] * len(slots),
            found=view.targets[faulty].tolist(),
        )


@rule("positions_count_padding", needs=("position_ids", "padding"))
def positions_count_padding(view: BatchView) -> Iterator[Finding]:
    """Behind left padding, positions are column numbers."""
    positions = view.fields.get("position_ids")
    first = view.real.argmax(1)
    rows = np.flatnonzero((first > 0) & view.real.any(1))
    faulty = [(int(r), int(first[r])) for r in rows if positions[r, first[r]] == first[r]]
    if faulty:
        yield finding(
            "positions_count_padding",
            faulty,
            "Positions start at "
            f"{', '.join(str(c) for _, c in faulty[:4])} on the first real token instead of 0.",
            expected=[0] * len(faulty),
            found=[c for _, c in faulty],
        )


@rule("mask_hole", needs=("padding",))
def mask_hole(view: BatchView) -> Iterator[Finding]:
    """Padding between real tokens of a row with one document."""
    if view.real_source != "attention_mask" or view.sources.segments or view.is_batch:
        return
    before = np.logical_or.accumulate(view.real, 1)
    behind = np.logical_or.accumulate(view.real[:, ::-1], 1)[:, ::-1]
    holes = ~view.real & before & behind
    if holes.any():
        yield finding(
            "mask_hole", places(holes), f"{int(holes.sum())} slots between real tokens are hidden."
        )


@rule("left_padding_unmasked", needs=("input_ids", "pad"))
def left_padding_unmasked(view: BatchView) -> Iterator[Finding]:
    """Rows begin with pad ids and nothing hides them."""
    fields = view.fields
    hidden = "attention_mask" in fields.raw or "position_ids" in fields.raw or view.sources.ids
    if hidden or view.options.lengths is not None:
        return
    left = np.logical_and.accumulate(view.ids == view.options.pad_token_id, 1)
    if fields.get("labels") is not None:
        left &= fields.get("labels") == view.options.ignore_index
    left &= ~left.all(1, keepdims=True)
    if left.any():
        yield finding(
            "left_padding_unmasked",
            places(left),
            f"{int(left.any(1).sum())} rows begin with padding that every later token sees.",
        )


@rule("real_token_masked_as_pad", needs=("input_ids", "labels", "padding", "pad"))
def masked_by_id(view: BatchView) -> Iterator[Finding]:
    """Inside scored text a real token with the pad's id is no target."""
    slots = _masked_inside(view, view.ids == view.options.pad_token_id) & ~view.eos
    slots &= ~view.starts
    if slots.any() and view.real_source != "pad_token_id":
        yield finding(
            "real_token_masked_as_pad",
            [(r, c - 1 + view.label_offset) for r, c in places(slots)],
            f"{int(slots.sum())} real tokens with the id {view.options.pad_token_id} are masked.",
        )


def _masked_inside(view: BatchView, which: np.ndarray) -> np.ndarray:
    """Tokens in `which` that are no target although the token before and behind them is one."""
    inside = np.zeros(view.shape, bool)
    trained = view.trained
    inside[:, 2:-1] = trained[:, 1:-2] & trained[:, 3:]
    return inside & which & view.real & ~trained
