"""How few rows could be enough: two lower bounds for any lengths, and the optimum for a few.

L1 counts tokens. L2 (Martello and Toth, "Lower bounds and reduction procedures for the bin packing
problem", 1990) also sees that two documents longer than half a row never share one. The optimum is
found by trying every subset, which doubles with each document; packing is NP-hard.
"""

from __future__ import annotations

import numpy as np

from course_lib.inputs import as_int, as_lengths, choice
from course_lib.packing.bulk import length_counts

__all__ = ["MAX_EXACT_DOCUMENTS", "lower_bound", "optimal_rows"]

MAX_EXACT_DOCUMENTS = 14  # 2**14 subsets of documents: a few hundredths of a second


def lower_bound(lengths: object, capacity: int, bound: str = "L2") -> int:
    """Return a number of rows below which no packing of whole documents can go.

    `lengths` [N] in tokens; `bound` is `"L1"` (tokens / capacity, rounded up) or `"L2"`, never
    smaller. Raises ValueError for a document longer than `capacity`.

    >>> lower_bound([3, 3, 3], 5, "L1"), lower_bound([3, 3, 3], 5)
    (2, 3)
    """
    sizes, capacity = check_lengths(lengths, capacity)
    tokens_only = choice(bound, "bound", ("L1", "L2")) == "L1"
    least = -(-int(sizes.sum()) // capacity)
    return least if tokens_only else max(least, _l2(sizes, capacity))


def optimal_rows(lengths: object, capacity: int) -> list[list[int]]:
    """Return the rows of a packing with the fewest rows, as lists of document numbers.

    Serves up to 14 documents and raises ValueError beyond.

    >>> optimal_rows([4, 4, 7, 7, 9, 9], 20)
    [[0, 2, 4], [1, 3, 5]]
    """
    sizes, capacity = check_lengths(lengths, capacity)
    if sizes.size > MAX_EXACT_DOCUMENTS:
        raise ValueError(
            f"lengths has {sizes.size} documents; the exact optimum tries every subset and stops "
            f"at {MAX_EXACT_DOCUMENTS}. Compare with lower_bound(lengths, capacity) instead."
        )
    last = _last_placed(sizes.tolist(), capacity)
    rows: list[list[int]] = []
    free, subset = capacity, len(last) - 1
    placed = []
    while subset:
        placed.append(last[subset])
        subset ^= 1 << last[subset]
    for number in reversed(placed):
        if not rows or sizes[number] > free:
            rows.append([])
            free = capacity
        rows[-1].append(number)
        free -= int(sizes[number])
    return sorted(sorted(row) for row in rows)


def check_lengths(lengths: object, capacity: object) -> tuple[np.ndarray, int]:
    """Return lengths [N] as int64 and the capacity; refuse a document that fits no row."""
    sizes = as_lengths(lengths)
    capacity = as_int(capacity, "capacity", at_least=1, hint="It is the length of a row in tokens.")
    if int(sizes.max()) > capacity:
        number = int(np.argmax(sizes > capacity))
        raise ValueError(
            f"document {number} has {int(sizes[number])} tokens, more than capacity {capacity}. "
            "Raise the capacity, split or truncate the document first (pack_documents does either "
            'with overlong=…), or use strategy="concatenate", which cuts.'
        )
    return sizes, capacity


def _l2(sizes: np.ndarray, capacity: int) -> int:
    """For each threshold t: documents over capacity - t are alone; those over half a row get a row
    each; what is at least t must go into the room the latter leave, or into more rows."""
    values, counts = (part[::-1] for part in length_counts(sizes))  # ascending
    number = np.concatenate([[0], np.cumsum(counts)])
    tokens = np.concatenate([[0], np.cumsum(counts * values)])
    half = np.searchsorted(values, capacity // 2, side="right")  # index of the first over half
    low = np.arange(half + 1)  # index of the first length >= t, for t each length up to half
    threshold = np.append(values[:half], capacity // 2 + 1)
    alone = np.maximum(half, np.searchsorted(values, capacity - threshold, side="right"))
    over_half = number[-1] - number[half]
    room = (number[alone] - number[half]) * capacity - (tokens[alone] - tokens[half])
    excess = tokens[half] - tokens[low] - room
    return int(over_half + max(0, (-(-excess // capacity)).max()))


def _last_placed(sizes: list[int], capacity: int) -> list[int]:
    """For each subset (a bit mask) of documents, the last one placed in a best packing of it.

    A subset's cost is (rows, tokens in the last row), smallest first: the least of both leaves the
    most room for the next document.
    """
    whole = 1 << len(sizes)
    cost = [(1, 0)] + [(len(sizes) + 1, 0)] * (whole - 1)
    last = [0] * whole
    for subset in range(1, whole):
        for number, size in enumerate(sizes):
            if subset >> number & 1:
                rows, used = cost[subset ^ 1 << number]
                new = (rows, used + size) if used + size <= capacity else (rows + 1, size)
                if new < cost[subset]:
                    cost[subset], last[subset] = new, number
    return last
