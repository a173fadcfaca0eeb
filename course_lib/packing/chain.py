"""Next fit in bulk: where one row begins says where the next one does, so the rows are a chain.

A chain looks sequential, but chains that begin in different places soon meet: as soon as two share
the beginning of one row, they share all that follow. So the documents are cut into blocks, one
chain is followed through each block, all at once, from a guess somewhat before its block; a block
whose guess has not met the true chain by then is followed again from where the block before it
ends. Where chains do not meet (documents all of one length), a plain walk takes over.

The rows are those of `plain.next_fit`. Lengths are taken as checked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

__all__ = ["next_fit"]

Jump = Callable[[np.ndarray], np.ndarray]  # first documents of rows -> those of the rows after them

ROUNDS = 5  # how often blocks are followed again before the plain walk takes over
ROWS_IN_BLOCK = 24
WARM_UP = 8  # rows before its block where a chain begins


def next_fit(lengths: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of next fit as `order` [N] and `offsets` [R + 1].

    >>> order, offsets = next_fit(np.array([3, 3, 1, 2]), 4)
    >>> order.tolist(), offsets.tolist()
    ([0, 1, 2, 3], [0, 1, 3, 4])
    """
    tokens = int(lengths.sum())
    totals = np.zeros(lengths.size + 1, np.int32 if tokens + capacity < 2**31 else np.int64)
    np.cumsum(lengths, out=totals[1:])  # tokens before each document, and all of them
    rows = tokens // capacity + 1
    in_row = lengths.size // rows + 1
    begins = None
    if rows > 4 * ROWS_IN_BLOCK:
        edges = np.linspace(0, lengths.size, rows // ROWS_IN_BLOCK + 1).astype(totals.dtype)
        begins = _follow_blocks(_jump(totals, capacity, in_row), edges, WARM_UP * in_row)
    if begins is None:
        begins = _walk(totals.tolist(), capacity)
    return np.arange(lengths.size), np.append(begins, lengths.size)


def _walk(totals: list[int], capacity: int) -> list[int]:
    """Return the first document of each row, one row at a time."""
    begins, documents = [0], len(totals) - 1
    while True:
        begin = begins[-1]
        last = min(len(totals), begin + capacity + 1)
        begin = bisect_right(totals, totals[begin] + capacity, begin, last) - 1
        if begin == documents:
            return begins
        begins.append(begin)


def _jump(totals: np.ndarray, capacity: int, in_row: int) -> Jump:
    """Return the function from the first document of a row to that of the next row."""
    limits = totals + totals.dtype.type(capacity)

    def search(begins: np.ndarray) -> np.ndarray:
        return np.searchsorted(totals, limits[begins], side="right") - 1

    if in_row > 10:  # few rows: look for each when it is needed
        return search
    held = np.zeros(totals.size, np.int8)  # documents that fit into a row that begins here
    width = min(2 * in_row + 2, totals.size)
    for after in range(1, width):
        held[:-after] += totals[after:] <= limits[:-after]
    more = np.flatnonzero(held == width - 1)
    following = np.arange(totals.size, dtype=totals.dtype)
    following += held
    following[more] = search(more)
    return following.take


def _follow_blocks(jump: Jump, edges: np.ndarray, warm_up: int) -> np.ndarray | None:
    """Return the first document of each row, or None where the chains of blocks do not meet.

    `edges` [blocks + 1] are the documents between which a block lies.
    """
    begins = np.zeros(edges[-1] + 1, bool)
    entries, exits = np.empty((2, edges.size - 1), edges.dtype)
    todo = np.arange(edges.size - 1)
    guess = np.maximum(edges[:-1] - warm_up, 0)
    for _ in range(ROUNDS):
        low, high = edges[todo], edges[todo + 1]
        visited = [guess]
        while len(visited) <= ROWS_IN_BLOCK or (visited[-1] < high).any():
            visited.append(jump(visited[-1]))
        path = np.array(visited)  # [steps, blocks]: a row's first document, block by block
        below, up_to = path < low, path < high
        begins[path[up_to & ~below]] = True
        entries[todo] = np.take_along_axis(path, below.sum(0)[None], 0)
        exits[todo] = np.take_along_axis(path, up_to.sum(0)[None], 0)
        todo = np.flatnonzero(entries[1:] != exits[:-1]) + 1
        if not todo.size:
            return np.flatnonzero(begins)
        guess = exits[todo - 1]
        for block in todo:
            begins[edges[block] : edges[block + 1]] = False
    return None
