"""First fit, longest first, written by the learner."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Rows, listed
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import scalar_of
from course_lib.packing import pack_lengths


def _packed(strategy: str, lengths: list[int], capacity: int) -> list[list[int]]:
    return pack_lengths(lengths, capacity, strategy).to_lists()


def _in_order(order: list[int], strategy: str, lengths: list[int], capacity: int) -> Any:
    """Rows when documents are taken in `order`."""
    rows = _packed(strategy, [lengths[i] for i in order], capacity)
    return [[order[i] for i in row] for row in rows]


def _longest(lengths: list[int]) -> list[int]:
    return sorted(range(len(lengths)), key=lambda i: -lengths[i])


def _shortest_first(lengths: list[int], capacity: int) -> Any:
    return _in_order(_longest(lengths)[::-1], "first_fit", lengths, capacity)


def _only_last_row(lengths: list[int], capacity: int) -> Any:
    return _in_order(_longest(lengths), "next_fit", lengths, capacity)


def _ties_turned(lengths: list[int], capacity: int) -> Any:
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], -i))
    return _in_order(order, "first_fit", lengths, capacity)


def _lengths_for_numbers(lengths: list[int], capacity: int) -> Any:
    rows = _packed("first_fit_decreasing", lengths, capacity)
    return [[lengths[i] for i in row] for row in rows]


def _rows_sorted(lengths: list[int], capacity: int) -> Any:
    return [sorted(row) for row in _packed("first_fit_decreasing", lengths, capacity)]


def _places_in_order(lengths: list[int], capacity: int) -> Any:
    """Numbers that count in the sorted list instead of the given one."""
    ordered = sorted(lengths, reverse=True)
    return _packed("first_fit", ordered, capacity)


def _newest_row(lengths: list[int], capacity: int) -> Any:
    return _first_fit(lengths, capacity, lambda rooms: rooms[::-1], 0)


def _never_full(lengths: list[int], capacity: int) -> Any:
    return _first_fit(lengths, capacity, lambda rooms: rooms, 1)


def _first_fit(lengths: list[int], capacity: int, order: Callable, spare: int) -> Any:
    """First fit over the rows in some order; a row needs `spare` more slots than the document."""
    rows: list[list[int]] = []
    for i in _longest(lengths):
        room = [r for r in rows if capacity - sum(lengths[j] for j in r) >= lengths[i] + spare]
        if not room:
            rows.append([])
        (order(room) or rows[-1:])[0].append(i)
    return rows


def _lengths(rng: random.Random) -> Args:
    capacity = rng.randint(6, 12)
    return [rng.randint(1, capacity) for _ in range(rng.randint(3, 9))], capacity


def _many_lengths(rng: random.Random) -> Args:
    """Over 16 documents that need a row each, and as many short ones."""
    capacity = rng.randint(30, 60)
    long = [rng.randint(capacity // 2 + 1, capacity) for _ in range(cases.many(rng))]
    lengths = [*long, *(rng.randint(1, 5) for _ in range(3 * cases.many(rng)))]
    rng.shuffle(lengths)
    return lengths, capacity


def _lost_or_full(value: Any, lengths: list[int], capacity: int) -> str:
    rows = [[scalar_of(i) for i in listed(row)] for row in listed(value)]
    placed = sorted(i for row in rows for i in row)
    if placed != list(range(len(lengths))):
        return f"every document must stand in one row; yours hold the numbers {placed}"
    over = [row for row in rows if sum(lengths[i] for i in row) > capacity]
    return f"row {over[0]} holds more than {capacity} tokens" if over else ""


FIRST_FIT = Exercise(
    id="5.6",
    title="First fit, longest first",
    objective="Write a packing strategy.",
    minutes=15,
    difficulty="hard",
    chapter=5,
    idea="take documents from long to short; each goes to the first row that still has room.",
    prompt="Return the rows, each a list of document numbers in the order in which they were "
    "placed. Documents are taken from long to short, equal lengths in their given order; each "
    "goes to the oldest row with room, else it opens a new one.",
    stub="def first_fit_decreasing(lengths, capacity):\n"
    '    """[N], slots of a row -> list of rows"""\n    ...',
    hints=(
        "sort the numbers of the documents by length, not the lengths themselves.",
        "keep, beside the rows, how much room each has left.",
        "for ... else: look through the rows in order; the else opens a new row.",
    ),
    returns=Rows("rows"),
    reference=lambda lengths, capacity: _packed("first_fit_decreasing", lengths, capacity),
    checks=(
        Exact(
            "five small lists",
            lambda: [
                ([4, 3, 2], 6),
                ([2, 2, 4, 4], 6),
                ([6, 5, 3, 4, 1], 8),
                ([3, 7, 2, 5, 3, 2], 9),
                ([3, 1, 5, 3], 7),
            ],
        ),
        Property("every document stands in one row, and no row is too full", _lengths,
                 _lost_or_full),
        Random("40 random lists", _lengths, 40),
        Edges("one document, equal lengths, and long lists",
              lambda: [([5], 5), ([1], 9), ([3, 3, 3], 3), ([2, 2, 2], 6)], _many_lengths),
    ),
    misconceptions={
        "not_longest_first": lambda lengths, capacity: _packed("first_fit", lengths, capacity),
        "best_row": lambda n, capacity: _packed("best_fit_decreasing", n, capacity),
        "only_the_last_row": _only_last_row,
        "shortest_first": _shortest_first,
        "ties_turned": _ties_turned,
        "lengths_for_numbers": _lengths_for_numbers,
        "sorted_numbers": _places_in_order,
        "rows_sorted": _rows_sorted,
        "newest_row": _newest_row,
        "row_never_full": _never_full,
    },
    own=("packing.pack_lengths",),
)  # fmt: skip
