"""Rules on document boundaries: are the sources sound, do they agree, do positions follow them?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from course_lib.audit.reading import to_array, vector
from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.rules_isolation import isolates
from course_lib.audit.sources import inner_starts
from course_lib.audit.view import BatchView, places


@rule("length_mismatch")
def length_mismatch(view: BatchView) -> Iterator[Finding]:
    """A field does not have the shape of the tokens."""
    wrong = dict(view.fields.mismatched)
    if view.sources.too_long:
        wrong["seq_lengths"] = view.sources.too_long
    dense = view.fields.dense
    if dense is not None and view.shape[1] and dense.shape[-1] != view.shape[1]:
        wrong["attention_mask"] = f"shape {tuple(dense.shape)} for {view.shape[1]} tokens"
    for name, said in wrong.items():
        yield finding(
            "length_mismatch", name, f"{name} has {said}.", expected=list(view.shape), found=said
        )


@rule("cu_seqlens_malformed", "cu_seqlens_dtype", "max_seqlen_wrong")
def cu_seqlens(view: BatchView) -> Iterator[Finding]:
    """cu_seqlens is int32, from 0 to the number of tokens, and its maximum is known."""
    raw = view.fields.raw.get("cu_seqlens")
    if raw is None:
        return
    marks = vector(raw)
    if view.sources.malformed:
        total = view.shape[0] * view.shape[1]
        tokens = f" ({total})" if total else ""
        yield finding(
            "cu_seqlens_malformed",
            "cu_seqlens",
            f"cu_seqlens must begin with 0, never fall and end with the number of tokens{tokens}"
            f", but {', '.join(view.sources.malformed)}.",
            expected=_marks_elsewhere(view),
            found=marks.tolist()[:16],
        )
        return
    kind = getattr(raw, "dtype", None)
    if kind is not None and "int32" not in str(kind):
        yield finding("cu_seqlens_dtype", "cu_seqlens", f"cu_seqlens is {kind}.", found=str(kind))
    longest = int(np.diff(marks).max())
    for name in ("max_seqlen", "max_length_k", "max_seqlen_k"):
        given = view.fields.raw.get(name)
        if given is not None and int(to_array(given, name, 0).max()) < longest:
            yield finding(
                "max_seqlen_wrong",
                name,
                f"The longest segment has {longest} tokens, {name} says {given}.",
                expected=longest,
                found=int(to_array(given, name, 0).max()),
            )


@rule("boundaries_disagree")
def queries_and_keys(view: BatchView) -> Iterator[Finding]:
    """Queries and keys of self-attention are the same tokens, in the same documents."""
    of_queries = view.fields.raw.get("cu_seqlens")
    for name in ("cu_seqlens_k", "cu_seq_lens_k"):
        of_keys = view.fields.raw.get(name)
        if of_queries is None or of_keys is None:
            continue
        queries, keys = vector(of_queries), vector(of_keys)
        if not np.array_equal(queries, keys):
            longer = queries.size and keys.size and keys[-1] > queries[-1]  # a prefix, a cache
            yield finding(
                "boundaries_disagree",
                name,
                f"{name} is {keys.tolist()[:8]}, and that of the queries {queries.tolist()[:8]}.",
                expected=queries.tolist()[:16],
                found=keys.tolist()[:16],
                severity="warn" if longer else "error",
            )


def _marks_elsewhere(view: BatchView) -> list[int] | None:
    """Return what cu_seqlens should be if another source knows: starts, then the end."""
    ids = view.documents
    if ids.size == 0:
        return None
    begins = inner_starts(ids)
    begins[:, 0] = ids[:, 0] >= 0
    total = view.shape[0] * view.shape[1]
    return [*np.flatnonzero(begins.reshape(-1)).tolist(), total][:16]


@rule("padding_inside_segment", needs=("padding",))
def padding_inside_segment(view: BatchView) -> Iterator[Finding]:
    """A segment of cu_seqlens mixes padding and tokens."""
    if view.real_source == "cu_seqlens":
        return
    real = view.real.reshape(-1)
    for number, (start, stop) in enumerate(view.sources.segments):
        inside = real[start:stop]
        if inside.all() or not inside.any():
            continue
        last = len(inside) - int(inside[::-1].argmax())
        gap = int((~inside[:last]).sum())
        said = (
            f"Segment [{start},{stop}) holds {gap} pads before its last real token"
            if gap
            else f"Segment [{start},{stop}) ends in {int((~inside).sum())} pads"
        )
        yield finding(
            "padding_inside_segment",
            f"segment {number}",
            said + ".",
            expected=[start + int(i) for i in np.flatnonzero(np.diff(inside)) + 1],
            found=[start, stop],
            severity="error" if gap else "warn",
        )


@rule("boundaries_disagree", needs=("boundaries",))
def boundaries_disagree(view: BatchView) -> Iterator[Finding]:
    """Every source of boundaries says the same as every other, on slots that both know."""
    known = dict(view.sources.ids)
    if view.traced is not None:
        known["documents"] = np.where(view.real, view.traced, -1)
    positions = view.fields.get("position_ids")
    if positions is None and len(known) < 2:
        return
    known = {name: np.where(view.real, ids, -1) for name, ids in known.items()}
    begins = {name: inner_starts(ids) for name, ids in known.items()}
    for one, other in combinations(known, 2):
        both = np.zeros(view.shape, bool)
        covered = (known[one] >= 0) & (known[other] >= 0)
        both[:, 1:] = covered[:, 1:] & covered[:, :-1]
        differs = (begins[one] != begins[other]) & both
        if differs.any():
            row, column = (int(i) for i in np.argwhere(differs)[0])
            yes, no = (one, other) if begins[one][row, column] else (other, one)
            yield finding(
                "boundaries_disagree",
                places(differs),
                f"{yes} begins a document at {(row, column)}, {no} does not.",
                expected=f"{yes}: starts {np.flatnonzero(begins[yes][row]).tolist()[:8]}",
                found=f"{no}: starts {np.flatnonzero(begins[no][row]).tolist()[:8]}",
                severity=None if _matters(view, differs) else "info",
            )


def _matters(view: BatchView, differs: np.ndarray) -> bool:
    """A tail without a target may be padding that nothing marks as such."""
    if view.targets is None or view.has("padding"):
        return True
    rest = np.logical_or.accumulate(view.trained[:, ::-1], 1)[:, ::-1]
    return bool((differs & rest).any())


@rule("positions_not_reset", "positions_offset", needs=("position_ids",))
def positions(view: BatchView) -> Iterator[Finding]:
    """Isolated documents count from 0; a row may begin with the rest of a cut document."""
    given = view.fields.get("position_ids")
    resets = "position_ids" in view.sources.ids
    running = view.starts & (given > 0)
    if isolates(view) and running.any() and not resets:
        slots = places(running)
        row, column = slots[0]
        yield finding(
            "positions_not_reset",
            slots,
            f"{len(slots)} later documents do not start at position 0; the one at "
            f"{(row, column)} starts at {given[row, column]}.",
            expected=[0] * min(len(slots), 16),
            found=given[running].tolist()[:16],
        )
    first = view.real.argmax(1)
    at = given[np.arange(len(given)), first]
    rows = np.flatnonzero((at > 0) & (at != first))
    if len(rows):
        yield finding(
            "positions_offset",
            [(int(r), int(first[r])) for r in rows],
            f"{len(rows)} rows begin at a position above 0, the first at {int(at[rows[0]])}.",
            expected=0,
            found=at[rows].tolist()[:16],
        )
