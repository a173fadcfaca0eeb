"""Each packing strategy as a plain Python loop: the specification, readable and slow.

A row has `capacity` token slots; `rows[r]` lists the numbers of the documents in row r, in the
order in which they were placed. A rule that must choose among equally good rows takes the oldest
one, and documents of equal length keep their order. The fast forms in `pack_lengths` return these
rows exactly; the tests hold them to it.

What is left out: checks of the input. A document longer than `capacity` gets a row that overflows.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["best_fit_decreasing", "concatenate", "first_fit", "first_fit_decreasing", "next_fit"]

Rows = list[list[int]]


def next_fit(lengths: Sequence[int], capacity: int) -> Rows:
    """Keep one row open; when a document does not fit, close the row and open the next.

    >>> next_fit([3, 3, 1, 2], 4)
    [[0], [1, 2], [3]]
    """
    rows: Rows = [[]]
    free = capacity
    for number, length in enumerate(lengths):
        if length > free:
            rows.append([])
            free = capacity
        rows[-1].append(number)
        free -= length
    return rows


def first_fit(lengths: Sequence[int], capacity: int) -> Rows:
    """Put each document into the oldest row that still has room.

    >>> first_fit([3, 3, 1, 2], 4)
    [[0, 2], [1], [3]]
    """
    return _first_fit(lengths, capacity, range(len(lengths)))


def first_fit_decreasing(lengths: Sequence[int], capacity: int) -> Rows:
    """First fit with the longest document first.

    >>> first_fit_decreasing([1, 2, 3, 2], 4)
    [[2, 0], [1, 3]]
    """
    return _first_fit(lengths, capacity, _longest_first(lengths))


def best_fit_decreasing(lengths: Sequence[int], capacity: int) -> Rows:
    """Longest document first, each into the fullest row that still has room.

    >>> best_fit_decreasing([1, 2, 3, 2], 4)
    [[2, 0], [1, 3]]
    """
    rows: Rows = []
    free: list[int] = []
    for number in _longest_first(lengths):
        fitting = [row for row, space in enumerate(free) if space >= lengths[number]]
        row = min(fitting, key=free.__getitem__, default=len(rows))
        if row == len(rows):
            rows.append([])
            free.append(capacity)
        rows[row].append(number)
        free[row] -= lengths[number]
    return rows


def concatenate(lengths: Sequence[int], capacity: int) -> list[list[tuple[int, int, int]]]:
    """Join all documents and cut every `capacity` tokens, wherever that falls.

    Each row lists its pieces as (document, start, stop), in tokens of the document.

    >>> concatenate([3, 2], 4)
    [[(0, 0, 3), (1, 0, 1)], [(1, 1, 2)]]
    """
    rows: list[list[tuple[int, int, int]]] = [[]]
    free = capacity
    for number, length in enumerate(lengths):
        start = 0
        while start < length:
            if free == 0:
                rows.append([])
                free = capacity
            stop = min(length, start + free)
            rows[-1].append((number, start, stop))
            free -= stop - start
            start = stop
    return rows


def _longest_first(lengths: Sequence[int]) -> list[int]:
    """Return document numbers from long to short; equal lengths keep their order."""
    return sorted(range(len(lengths)), key=lambda number: -lengths[number])


def _first_fit(lengths: Sequence[int], capacity: int, numbers: Sequence[int]) -> Rows:
    """First fit over documents taken in the order `numbers`."""
    rows: Rows = []
    free: list[int] = []
    for number in numbers:
        fitting = (row for row, space in enumerate(free) if space >= lengths[number])
        row = next(fitting, len(rows))
        if row == len(rows):
            rows.append([])
            free.append(capacity)
        rows[row].append(number)
        free[row] -= lengths[number]
    return rows
