"""Strategies that take documents in their order: next fit, first fit, concatenate.

They return the rows of the loops in `plain.py` as arrays. Next fit and concatenate work on the
running total of tokens; first fit keeps a tree of the most room in each half of the rows, so that
the oldest row with room is one walk down. Lengths are taken as checked.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

__all__ = ["concatenate", "first_fit", "next_fit"]


def next_fit(lengths: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of next fit as `order` [N] and `offsets` [R + 1].

    >>> order, offsets = next_fit(np.array([3, 3, 1, 2]), 4)
    >>> order.tolist(), offsets.tolist()
    ([0, 1, 2, 3], [0, 1, 3, 4])
    """
    ends = np.cumsum(lengths).tolist()
    offsets, total = [0], 0
    while offsets[-1] < len(ends):  # a row ends with the last document inside total + capacity
        start = offsets[-1]
        stop = bisect_right(ends, total + capacity, start, min(len(ends), start + capacity))
        total = ends[stop - 1]
        offsets.append(stop)
    return np.arange(len(ends)), np.array(offsets)


def first_fit(lengths: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of first fit as `order` [N] and `offsets` [R + 1].

    >>> order, offsets = first_fit(np.array([3, 3, 1, 2]), 4)
    >>> order.tolist(), offsets.tolist()
    ([0, 2, 1, 3], [0, 2, 3, 4])
    """
    rows = np.array(_first_fit_rows(lengths.tolist(), capacity), np.int64)
    return np.argsort(rows, kind="stable"), np.append(0, np.cumsum(np.bincount(rows)))


def _first_fit_rows(lengths: list[int], capacity: int) -> list[int]:
    """Return the row of each document [N]."""
    leaves = 1 << (len(lengths) - 1).bit_length()
    room = [capacity] * (2 * leaves)  # node i covers nodes 2i and 2i + 1: the most room below it
    rows = []
    for length in lengths:
        node = 1
        while node < leaves:
            node *= 2
            if room[node] < length:
                node += 1
        rows.append(node - leaves)
        most = room[node] = room[node] - length
        while node > 1:
            other = room[node ^ 1]
            most = other if other > most else most
            node //= 2
            if room[node] == most:
                break
            room[node] = most
    return rows


def concatenate(
    lengths: np.ndarray, capacity: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the pieces of documents cut every `capacity` tokens.

    `order`, `starts` and `stops` [P] say which tokens of which document each piece holds;
    `offsets` [R + 1] says which pieces are a row.

    >>> [part.tolist() for part in concatenate(np.array([3, 2]), 4)]
    [[0, 1, 1], [0, 2, 3], [0, 0, 1], [3, 1, 2]]
    """
    ends = np.cumsum(lengths)
    begins = ends - lengths
    pieces = (ends - 1) // capacity - begins // capacity + 1
    order = np.repeat(np.arange(lengths.size), pieces)
    first = np.cumsum(pieces) - pieces
    row = np.arange(order.size) + np.repeat(begins // capacity - first, pieces)
    starts = np.maximum(row * capacity - begins[order], 0)
    stops = np.minimum((row + 1) * capacity - begins[order], lengths[order])
    offsets = np.append(0, np.cumsum(np.bincount(row)))
    return order, offsets, starts, stops
