"""Strategies that take documents in their order: first fit and concatenate (next fit: `chain.py`).

They return the rows of the loops in `plain.py` as arrays. First fit keeps a tree of the most room
in each half of the rows, so that the oldest row with room is one walk down. Concatenate looks only
at the cuts: every document that none of them hits stays as it is. Lengths are taken as checked.
"""

from __future__ import annotations

import numpy as np

__all__ = ["concatenate", "first_fit"]


def first_fit(lengths: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of first fit as `order` [N] and `offsets` [R + 1].

    >>> order, offsets = first_fit(np.array([3, 3, 1, 2]), 4)
    >>> order.tolist(), offsets.tolist()
    ([0, 2, 1, 3], [0, 2, 3, 4])
    """
    # Two rows that are half empty never stay side by side, so all rows but one are over half full.
    most_rows = min(lengths.size, 2 * int(lengths.sum()) // capacity + 1)
    rows = np.array(_first_fit_rows(lengths.tolist(), capacity, most_rows), np.int64)
    return np.argsort(rows, kind="stable"), np.append(0, np.cumsum(np.bincount(rows)))


def _first_fit_rows(lengths: list[int], capacity: int, most_rows: int) -> list[int]:
    """Return the row of each document [N]."""
    leaves = 1 << (most_rows - 1).bit_length()
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
    cuts = np.arange(capacity, ends[-1], capacity)
    document = np.searchsorted(ends, cuts, side="right")  # which one holds the token behind a cut
    into = cuts - (ends - lengths)[document]  # 0 where the cut falls between two documents
    inside = into > 0
    order = np.insert(np.arange(lengths.size), document[inside], document[inside])
    begin = document + np.cumsum(inside)  # the piece behind each cut
    starts, stops = np.zeros_like(order), lengths[order]
    starts[begin] = into
    stops[begin[inside] - 1] = into[inside]
    return order, np.concatenate([[0], begin, [order.size]]), starts, stops
