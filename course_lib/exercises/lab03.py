"""Exercises of lab 3: L3.1, a packing accounted for; the others from their own rooms."""

from __future__ import annotations

import random
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.exercises.lab03_cuts import COUNT_CUTS
from course_lib.exercises.lab03_windows import PACK_WINDOWS
from course_lib.packing import lower_bound, pack_lengths

Rows, Lengths = list[list[int]], list[int]


def _account(rows: Rows, lengths: Lengths, capacity: int, **other: Any) -> dict[str, Any]:
    """Rows, utilization and gap; `other` replaces some of them."""
    used = len(rows)
    shares = {"utilization": sum(lengths) / (used * capacity)}
    return shares | {"rows": used, "gap": used - lower_bound(lengths, capacity, "L1")} | other


def _fills(rows: Rows, lengths: Lengths) -> list[int]:
    return [sum(lengths[i] for i in row) for row in rows]


def _without_last(rows: Rows, lengths: Lengths, capacity: int) -> dict[str, Any]:
    full = _fills(rows, lengths)[:-1] or _fills(rows, lengths)
    return _account(rows, lengths, capacity, utilization=sum(full) / (len(full) * capacity))


def _some_packing(rng: random.Random) -> Args:
    lengths, capacity = cases.lengths(rng, 8, 9), rng.randint(8, 14)
    strategy = rng.choice(["next_fit", "first_fit", "best_fit_decreasing"])
    return pack_lengths(lengths, capacity, strategy).to_lists(), lengths, capacity


def _large_packing(rng: random.Random) -> Args:
    lengths, capacity = cases.many_lengths(rng), rng.randint(40, 50)
    lengths += [rng.randint(26, 40) for _ in range(cases.many(rng))]
    strategy = rng.choice(["next_fit", "first_fit", "best_fit_decreasing"])
    return pack_lengths(lengths, capacity, strategy).to_lists(), lengths, capacity


def _odd_account(value: Any, rows: Rows, lengths: Lengths, capacity: int) -> str:
    if scalar_of(value["gap"]) < 0:
        return "a gap below 0 would be fewer rows than the tokens need"
    if not 0 < scalar_of(value["utilization"]) <= 1:
        return "a utilization lies above 0 and at most at 1"
    return ""


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
            Edges(
                "one document, rows that are full, and large packings",
                lambda: [
                    ([[0]], [1], 1),
                    ([[0]], [1], 8192),
                    ([[1], [0], [2]], [5, 5, 5], 5),
                ],
                _large_packing,
            ),
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
    COUNT_CUTS,
    PACK_WINDOWS,
)
