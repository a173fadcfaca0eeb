"""The decreasing fits in bulk: steps that fill whole ranges of rows, not one document at a time.

Sorted by length, documents become a histogram. Rows that hold the same lengths lie side by side,
so they are kept as ranges `(first row, rows, documents in each)` with their common free space. One
step puts `space // length` documents into every row of a range, which is what placing them one by
one would do: after one document, that row is still the best (or first) fit for the next equal one.
A range splits only where a length runs out, so the number of steps depends on the number of
distinct lengths, not of documents. A few numpy passes then say which document goes where.

The histogram view is Krell et al., "Efficient Sequence Packing without Cross-contamination" (2021);
unlike their packers these give exactly the rows of the loops in `plain.py`. Lengths are taken as
checked: whole numbers from 1 to `capacity`.
"""

from __future__ import annotations

from bisect import bisect_left
from heapq import heappop, heappush

import numpy as np

__all__ = ["best_fit_decreasing", "best_fit_rows", "first_fit_decreasing", "length_counts"]

Steps = tuple[list[int], int]  # flat (copies, first row, rows, documents before) …; rows opened


def length_counts(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct lengths [D], longest first, and how many documents have each [D].

    >>> values, counts = length_counts(np.array([2, 5, 2]))
    >>> values.tolist(), counts.tolist()
    ([5, 2], [1, 2])
    """
    if lengths.max() > 65536 + 4 * lengths.size:  # a table by length would be mostly empty
        values, counts = np.unique(lengths, return_counts=True)
        return values[::-1], counts[::-1]
    table = np.bincount(lengths)
    values = np.flatnonzero(table)[::-1]
    return values, table[values]


def best_fit_decreasing(lengths: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of best fit decreasing as `order` [N] and `offsets` [R + 1].

    >>> order, offsets = best_fit_decreasing(np.array([1, 2, 3, 2]), 4)
    >>> order.tolist(), offsets.tolist()
    ([2, 0, 1, 3], [0, 2, 4])
    """
    return _place(lengths, _best_fit_steps(*length_counts(lengths), capacity))


def best_fit_rows(values: np.ndarray, counts: np.ndarray, capacity: int) -> int:
    """Return how many rows best fit decreasing needs for `counts` [D] documents of `values` [D].

    `values` are distinct lengths, longest first, so memory does not grow with the documents.

    >>> best_fit_rows(np.array([3, 2, 1]), np.array([1, 2, 1]), 4)
    2
    """
    return _best_fit_steps(values, counts, capacity)[1]


def first_fit_decreasing(lengths: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of first fit decreasing as `order` [N] and `offsets` [R + 1].

    >>> order, offsets = first_fit_decreasing(np.array([1, 2, 3, 2]), 4)
    >>> order.tolist(), offsets.tolist()
    ([2, 0, 1, 3], [0, 2, 4])
    """
    return _place(lengths, _first_fit_steps(*length_counts(lengths), capacity))


def _best_fit_steps(values: np.ndarray, counts: np.ndarray, capacity: int) -> Steps:
    """Walk the lengths from long to short; the tightest space that fits is one bisect away."""
    steps: list[int] = []
    opened = 0
    spaces: list[int] = []  # the free spaces that some row has, ascending
    ranges: dict[int, list[tuple[int, int, int]]] = {}  # space -> heap of ranges, oldest row first

    def keep(space: int, part: tuple[int, int, int]) -> None:
        if not space:
            return
        same = ranges.setdefault(space, [])
        if not same:
            spaces.insert(bisect_left(spaces, space), space)
        heappush(same, part)

    for length, count in zip(values.tolist(), counts.tolist(), strict=True):
        while count:
            i = bisect_left(spaces, length)
            if i < len(spaces):
                space = spaces[i]
                first, rows, before = heappop(ranges[space])
                if not ranges[space]:
                    del spaces[i]
            else:
                space, first, before = capacity, opened, 0
                rows = -(-count // (capacity // length))
                opened += rows
            copies = space // length
            full, some = divmod(count, copies) if copies * rows > count else (rows, 0)
            if full:
                steps += (copies, first, full, before)
                keep(space - copies * length, (first, full, before + copies))
            if some:
                steps += (some, first + full, 1, before)
                keep(space - some * length, (first + full, 1, before + some))
                full += 1
            if full < rows:
                keep(space, (first + full, rows - full, before))
            count = max(0, count - copies * rows)
    return steps, opened


def _first_fit_steps(values: np.ndarray, counts: np.ndarray, capacity: int) -> Steps:
    """Walk the lengths from long to short; rows whose space is too small wait for a shorter one."""
    steps: list[int] = []
    opened = 0
    fitting: list[tuple[int, int, int, int]] = []  # (first, rows, before, space): oldest row on top
    waiting: list[tuple[int, int, int, int]] = []  # (-space, first, rows, before): roomiest on top
    for length, count in zip(values.tolist(), counts.tolist(), strict=True):
        while waiting and -waiting[0][0] >= length:
            space, first, rows, before = heappop(waiting)
            heappush(fitting, (first, rows, before, -space))
        while count:
            if fitting:
                first, rows, before, space = heappop(fitting)
            else:
                space, first, before = capacity, opened, 0
                rows = -(-count // (capacity // length))
                opened += rows
            copies = space // length
            full, some = divmod(count, copies) if copies * rows > count else (rows, 0)
            if full:
                steps += (copies, first, full, before)
                heappush(waiting, (copies * length - space, first, full, before + copies))
            if some:
                steps += (some, first + full, 1, before)
                heappush(fitting, (first + full, 1, before + some, space - some * length))
                full += 1
            if full < rows:
                heappush(fitting, (first + full, rows - full, before, space))
            count = max(0, count - copies * rows)
    return steps, opened


def _place(lengths: np.ndarray, plan: Steps) -> tuple[np.ndarray, np.ndarray]:
    """Say which document each step puts where: `order` [N] and `offsets` [R + 1]."""
    steps, opened = plan
    copies, first, rows, before = np.array(steps, np.int32).reshape(-1, 4).T
    # One entry for each (step, row): which row, how many documents, how many were there before.
    step = np.repeat(np.arange(rows.size, dtype=np.int32), rows)
    row = np.arange(step.size, dtype=np.int32) + (first - (np.cumsum(rows) - rows))[step]
    taken = copies[step]
    offsets = np.zeros(opened + 1, np.int64)
    offsets[1:] = np.cumsum(np.bincount(row, weights=taken, minlength=opened))
    # The documents of an entry follow each other in the sorted list and in their row.
    slot = offsets[row] + before[step] - (np.cumsum(taken) - taken)
    order = np.empty(lengths.size, np.int64)
    order[np.arange(lengths.size) + np.repeat(slot, taken)] = _longest_first(lengths)
    return order, offsets


def _longest_first(lengths: np.ndarray) -> np.ndarray:
    """Sort document numbers [N] by falling length, equal ones in their order."""
    keys = int(lengths.max()) - lengths
    if keys.max() < 65536:
        keys = keys.astype(np.uint16)  # numpy sorts these by radix, in linear time
    return np.argsort(keys, kind="stable")
