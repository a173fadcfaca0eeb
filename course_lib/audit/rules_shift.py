"""Rules on the shift: how far ahead of its input is each target?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.view import BatchView, places

ENOUGH = 0.8  # share of a row's targets that an offset must explain
OFFSETS = (2, 0, 3, -1)
CODES = {2: "double_shift", 0: "missing_shift"}
SAID = {
    2: "Targets are two tokens ahead at {n} positions",
    0: "Each of {n} scored positions is scored on its own token",
}


def expected_targets(view: BatchView) -> np.ndarray:
    """Return the next token of each slot, [B, T]; ignore_index where the row has none."""
    out = np.full(view.shape, view.options.ignore_index)
    out[:, :-1] = view.ids[:, 1:]
    return out


def wrong_targets(view: BatchView) -> np.ndarray:
    """Return bool [B, T]: scored on something else than the next token of the same document."""
    inside = np.zeros(view.shape, bool)
    inside[:, :-1] = view.real[:, 1:] & view.real[:, :-1] & ~view.starts[:, 1:]
    if view.fields.get("effective_targets") is not None:
        inside[:, -1] = True  # these were collected, so the last one must be empty
    return inside & view.live & (view.targets != expected_targets(view))


def row_offsets(view: BatchView) -> np.ndarray:
    """Return for each row the distance from inputs to targets that explains it best, [B]."""
    offsets = np.ones(view.shape[0], int)
    if view.ids is None or view.targets is None or view.decodes:
        return offsets
    for row in np.flatnonzero(wrong_targets(view).any(1)):
        columns = np.flatnonzero(view.live[row])
        scores = {k: _explained(view.ids[row], view.targets[row], columns, k) for k in OFFSETS}
        best = max(OFFSETS, key=lambda k: scores[k])
        if scores[best] >= ENOUGH and scores[best] > _explained(
            view.ids[row], view.targets[row], columns, 1
        ):
            offsets[row] = best
    return offsets


def _explained(ids: np.ndarray, targets: np.ndarray, columns: np.ndarray, k: int) -> float:
    at = columns[(columns + k >= 0) & (columns + k < len(ids))]
    return float((targets[at] == ids[at + k]).mean()) if len(at) else 0.0


@rule("double_shift", "missing_shift", "wrong_shift", needs=("input_ids", "labels"))
def constant_offset(view: BatchView) -> Iterator[Finding]:
    """A whole row follows its inputs at the wrong distance."""
    for k in OFFSETS:
        rows = view.offsets == k
        if not rows.any():
            continue
        faulty = view.live & rows[:, None]
        said = SAID.get(k, "Targets are {k} tokens from their inputs at {n} positions")
        yield finding(
            CODES.get(k, "wrong_shift"),
            places(faulty),
            said.format(n=int(faulty.sum()), k=k) + _unused(view, rows, k),
            expected=expected_targets(view)[faulty].tolist()[:16],
            found=view.targets[faulty].tolist()[:16],
        )


def _unused(view: BatchView, rows: np.ndarray, k: int) -> str:
    """Say which token is never a target, and what crossed into the next row."""
    if k != 2:
        return "."
    row = int(np.flatnonzero(rows)[0])
    said = f"; token {view.ids[row, 1]} of row {row} is never a target" if view.shape[1] > 1 else ""
    last = view.shape[1] - 2
    if last >= 0 and view.live[row, last]:
        said += f", and position {(row, last)} is scored on {view.targets[row, last]}"
    return said + "."


@rule("separator_used_as_target", "label_mismatch", needs=("input_ids", "labels"))
def single_labels(view: BatchView) -> Iterator[Finding]:
    """Single labels differ from the token that they label."""
    if view.decodes:
        return
    plain = (view.offsets == 1)[:, None]
    differs = view.live & plain & (view.targets != expected_targets(view))
    behind_end = np.zeros(view.shape, bool)  # this prediction looks over a document boundary
    behind_end[:, :-1] = view.starts[:, 1:] | (view.eos[:, :-1] & (view.boundary_source is None))
    within = wrong_targets(view) & plain & ~behind_end
    shifted_outside = view.label_offset == 0 and view.fields.get("effective_targets") is None
    if not shifted_outside:
        separators = differs & behind_end
        separators[:, -1] = False
        if separators.any():
            yield _single(view, "separator_used_as_target", separators)
    if within.any():
        # shifted by itself, each document ends on a token that is no input: no fault
        unsure = shifted_outside and view.boundary_source is None
        yield _single(view, "label_mismatch", within, "info" if unsure else None)


def _single(
    view: BatchView, code: str, mask: np.ndarray, severity: str | None = None
) -> Finding:
    row, column = (int(i) for i in np.argwhere(mask)[0])
    said = (
        f"Position {(row, column)} (token {view.ids[row, column]}) is scored on "
        f"{view.targets[row, column]}, but its row goes on with {view.ids[row, column + 1]}"
        if column + 1 < view.shape[1]
        else f"Position {(row, column)} is the last of its row, yet it is scored on "
        f"{view.targets[row, column]}"
    )
    expected = expected_targets(view)[mask].tolist()
    if code == "separator_used_as_target":
        expected = [view.options.ignore_index] * len(expected)
    return finding(
        code,
        view.label_places(mask),
        said + ".",
        expected=expected[:16],
        found=view.targets[mask].tolist()[:16],
        severity=severity,
    )
