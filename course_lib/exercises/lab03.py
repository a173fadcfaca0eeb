"""Exercises of lab 3: account for a packing, count what is cut, and pack through a window."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Exact, Property, Random
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.packing import lower_bound, pack_lengths

Rows, Lengths = list[list[int]], list[int]

# --- L3.1


def _account(rows: Rows, lengths: Lengths, capacity: int, **other: Any) -> dict[str, Any]:
    """Rows, utilization and gap; `other` replaces some of them."""
    tokens = sum(lengths)
    return {
        "rows": len(rows),
        "utilization": tokens / (len(rows) * capacity),
        "gap": len(rows) - lower_bound(lengths, capacity, "L1"),
    } | other


def _fills(rows: Rows, lengths: Lengths) -> list[int]:
    return [sum(lengths[i] for i in row) for row in rows]


def _without_last(rows: Rows, lengths: Lengths, capacity: int) -> dict[str, Any]:
    full = _fills(rows, lengths)[:-1] or _fills(rows, lengths)
    return _account(rows, lengths, capacity, utilization=sum(full) / (len(full) * capacity))


def _some_packing(rng: random.Random) -> Args:
    lengths, capacity = cases.lengths(rng, 8, 9), rng.randint(8, 14)
    strategy = rng.choice(["next_fit", "first_fit", "best_fit_decreasing"])
    return pack_lengths(lengths, capacity, strategy).to_lists(), lengths, capacity


def _odd_account(value: Any, rows: Rows, lengths: Lengths, capacity: int) -> str:
    if scalar_of(value["gap"]) < 0:
        return "a gap below 0 would be fewer rows than the tokens need"
    if not 0 < scalar_of(value["utilization"]) <= 1:
        return "a utilization lies above 0 and at most at 1"
    return ""


# --- L3.2


def _cut(lengths: Lengths, capacity: int) -> int:
    pieces = pack_lengths(lengths, capacity, "concatenate").order.tolist()
    return sum(pieces.count(d) > 1 for d in range(len(lengths)))


def _borders_inside(lengths: Lengths, capacity: int) -> int:
    return len(pack_lengths(lengths, capacity, "concatenate").order) - len(lengths)


def _ends_at_border_too(lengths: Lengths, capacity: int) -> int:
    ends = [0, *accumulate(lengths)]
    return sum(a // capacity != b // capacity for a, b in pairwise(ends))


def _some_lengths(rng: random.Random) -> Args:
    return cases.lengths(rng, 9, 8), rng.randint(2, 8)


def _too_many(value: Any, lengths: Lengths, capacity: int) -> str:
    borders = -(-sum(lengths) // capacity) - 1
    if 0 <= scalar_of(value) <= min(len(lengths), borders):
        return ""
    return (
        f"{len(lengths)} documents lie across {borders} borders between rows, and a border cuts "
        "at most one of them"
    )


# --- L3.3


def _windowed(lengths: Lengths, capacity: int, window: int) -> int:
    starts = range(0, len(lengths), window)
    return sum(len(pack_lengths(lengths[s : s + window], capacity)) for s in starts)


def _last_window_lost(lengths: Lengths, capacity: int, window: int) -> int:
    return _windowed(lengths[: len(lengths) // window * window], capacity, window) if (
        len(lengths) >= window
    ) else 0


def _bounds(lengths: Lengths, capacity: int, window: int) -> int:
    starts = range(0, len(lengths), window)
    return sum(-(-sum(lengths[s : s + window]) // capacity) for s in starts)


def _strided(lengths: Lengths, capacity: int, window: int) -> int:
    count = -(-len(lengths) // window)
    return sum(len(pack_lengths(lengths[s::count], capacity)) for s in range(count))


def _some_stream(rng: random.Random) -> Args:
    lengths = [rng.randint(1, 10) for _ in range(rng.randint(3, 14))]
    return lengths, rng.randint(10, 14), rng.randint(1, 5)


def _fewer(value: Any, lengths: Lengths, capacity: int, window: int) -> str:
    least = -(-sum(lengths) // capacity)
    if scalar_of(value) >= least:
        return ""
    return f"{sum(lengths)} tokens need at least {least} rows of {capacity}"


EXERCISES = (
    Exercise(
        id="L3.1",
        title="Account for a packing",
        objective="Measure a packing in tokens, slots and rows.",
        minutes=8,
        difficulty="easy",
        chapter=5,
        idea="utilization is tokens over slots; the tokens alone already need so many rows.",
        prompt="rows holds the document numbers of each row. Return how many rows there are, the "
        "utilization (tokens / slots), and the gap: rows beyond the number that the tokens alone "
        "would need if they could be cut anywhere.",
        stub="def account(rows, lengths, capacity):\n"
        '    """-> {"rows": …, "utilization": …, "gap": …}"""\n    ...',
        hints=(
            "every row takes capacity slots, full or not.",
            "tokens / capacity, rounded up, is the number of rows that no packing goes below.",
            "math.ceil, or -(-tokens // capacity).",
        ),
        returns=Fields(
            {"rows": One("rows"), "utilization": One("utilization", "float"), "gap": One("gap")}
        ),
        reference=_account,
        checks=(
            Exact(
                "three documents in two rows, a full row, a packing with a gap",
                lambda: [
                    ([[0, 2], [1]], [4, 3, 2], 6),
                    ([[0, 1]], [3, 3], 6),
                    ([[0], [1], [2]], [4, 4, 4], 6),
                ],
            ),
            Property("numbers that a packing can have", _some_packing, _odd_account),
            Random("40 random packings", _some_packing, 40),
        ),
        misconceptions={
            "bound_rounded_down": lambda r, n, c: _account(r, n, c, gap=len(r) - sum(n) // c),
            "padding_share": lambda r, n, c: _account(
                r, n, c, utilization=1 - sum(n) / (len(r) * c)
            ),
            "widest_row": lambda r, n, c: _account(
                r, n, c, utilization=sum(n) / (len(r) * max(_fills(r, n)))
            ),
            "last_row_left_out": _without_last,
            "gap_in_slots": lambda r, n, c: _account(r, n, c, gap=len(r) * c - sum(n)),
            "bound_counts_documents": lambda r, n, c: _account(r, n, c, gap=len(n) - len(r)),
        },
    ),
    Exercise(
        id="L3.2",
        title="Count the cuts",
        objective="Say what concatenation costs the documents.",
        minutes=10,
        difficulty="medium",
        chapter=5,
        idea="concatenated documents lie on one line, and a row border may fall inside of them.",
        prompt="Documents are joined one behind the other and cut into rows of capacity tokens. "
        "How many documents lie in more than one row?",
        stub='def cut_documents(lengths, capacity):\n    """lengths [N] -> int"""\n    ...',
        hints=(
            "where on the line does document i begin, and where is its last token?",
            "token number k lies in row k // capacity.",
            "compare the rows of its first and of its last token. The last is at start + n - 1.",
        ),
        returns=One("documents that were cut"),
        reference=_cut,
        checks=(
            Exact(
                "a cut, ends right at a border, a document over three rows",
                lambda: [([3, 4, 2], 5), ([2, 3], 5), ([2, 3, 4], 5), ([1, 9, 2], 4)],
            ),
            Property("no more than there are borders", _some_lengths, _too_many),
            Random("60 random lists of lengths", _some_lengths, 60),
        ),
        misconceptions={
            "cuts_for_documents": _borders_inside,
            "end_at_border_cut": _ends_at_border_too,
            "only_overlong": lambda lengths, capacity: sum(n > capacity for n in lengths),
            "every_border_cuts": lambda lengths, capacity: -(-sum(lengths) // capacity) - 1,
            "whole_documents_counted": lambda n, capacity: len(n) - _cut(n, capacity),
        },
        own=("packing.pack_lengths", "packing.pack_documents"),
    ),
    Exercise(
        id="L3.3",
        title="Pack through a window",
        objective="Measure what a packer loses that sees few documents at a time.",
        minutes=8,
        difficulty="medium",
        chapter=5,
        idea="a packer can only combine what it sees at the same time.",
        prompt="A packer reads window documents, packs them best fit decreasing, gives the rows "
        "out and reads on; what is left at the end is packed as well. How many rows does it give "
        "out? Use pack_lengths for each window.",
        stub="def rows_in_windows(lengths, capacity, window):\n"
        '    """lengths [N] in reading order -> int"""\n    ...',
        hints=(
            "lengths[:window] is the first window. Where does the next one begin?",
            "len(pack_lengths(part, capacity)) is the number of rows of one part.",
            "range(0, len(lengths), window) gives all starts; a slice may run over the end.",
        ),
        returns=One("the number of rows"),
        reference=_windowed,
        checks=(
            Exact(
                "two full windows, a last one that is not full, a window larger than all",
                lambda: [
                    ([6, 6, 4, 4], 10, 2),
                    ([6, 6, 4, 4, 5], 10, 2),
                    ([6, 6, 4, 4], 10, 9),
                ],
            ),
            Property("as many rows as the tokens need, at least", _some_stream, _fewer, 60),
            Random("40 random streams", _some_stream, 40),
        ),
        misconceptions={
            "window_ignored": lambda lengths, capacity, window: _windowed(
                lengths, capacity, len(lengths)
            ),
            "last_window_lost": _last_window_lost,
            "bound_for_rows": _bounds,
            "windows_strided": _strided,
            "next_fit_of_all": lambda lengths, capacity, window: len(
                pack_lengths(lengths, capacity, "next_fit")
            ),
        },
    ),
)
