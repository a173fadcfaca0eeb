"""Which documents share a row, decided on lengths alone: `pack_lengths` and its `Packing`.

What is left out: tokens (`pack_documents`) and over-long documents, which only `"concatenate"` can
cut and every other strategy refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from course_lib.inputs import as_int, as_lengths, choice
from course_lib.packing import bounds, bulk, chain, greedy

__all__ = ["STRATEGIES", "Packing", "pack_lengths"]

STRATEGIES = (
    "next_fit",
    "first_fit",
    "first_fit_decreasing",
    "best_fit_decreasing",
    "concatenate",
)
"""The names of the packing strategies, from the plainest on; the last one cuts documents."""
_WHOLE = {
    "next_fit": chain.next_fit,
    "first_fit": greedy.first_fit,
    "first_fit_decreasing": bulk.first_fit_decreasing,
    "best_fit_decreasing": bulk.best_fit_decreasing,
}


@dataclass(frozen=True, eq=False, repr=False)
class Packing:
    """Rows of documents: a sequence of R int64 arrays of document numbers, in placing order.

    Row r is `order[offsets[r]:offsets[r + 1]]`. Each entry of `order` is a piece: all of a
    document, or with `"concatenate"` its tokens `starts` to `stops`.

    order: document of each piece, [P]. offsets: where each row begins in it, [R + 1].
    lengths: tokens of each document, [N]. capacity: token slots of a row.

    >>> packing = pack_lengths([4, 3, 2], 6)
    >>> [row.tolist() for row in packing], packing.fills.tolist()
    ([[0, 2], [1]], [6, 3])
    """

    order: np.ndarray
    offsets: np.ndarray
    lengths: np.ndarray
    capacity: int
    strategy: str
    cuts: tuple[np.ndarray, np.ndarray] | None = None

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, index: int | slice) -> np.ndarray | list[np.ndarray]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = range(len(self))[index]  # counts from the end, and raises IndexError
        return self.order[self.offsets[row] : self.offsets[row + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(np.split(self.order, self.offsets[1:-1]))

    def to_lists(self) -> list[list[int]]:
        """Return the rows as lists of document numbers.

        >>> pack_lengths([4, 3, 2], 6).to_lists()
        [[0, 2], [1]]
        """
        order, offsets = self.order.tolist(), self.offsets.tolist()
        return [order[a:b] for a, b in pairwise(offsets)]

    @cached_property
    def starts(self) -> np.ndarray:
        """First token of each piece in its document, [P]; 0 where documents are whole."""
        return np.zeros_like(self.order) if self.cuts is None else self.cuts[0]

    @cached_property
    def stops(self) -> np.ndarray:
        """Token behind the last one of each piece, [P]; its length where documents are whole."""
        return self.lengths[self.order] if self.cuts is None else self.cuts[1]

    @cached_property
    def rows(self) -> np.ndarray:
        """Row of each piece, [P]."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def token_offsets(self) -> np.ndarray:
        """Slot in its row where each piece begins, [P].

        >>> pack_lengths([4, 3, 2], 6).token_offsets.tolist()
        [0, 4, 0]
        """
        sizes = self.stops - self.starts
        begins = np.cumsum(sizes) - sizes
        return begins - np.repeat(begins[self.offsets[:-1]], np.diff(self.offsets))

    @cached_property
    def fills(self) -> np.ndarray:
        """Tokens in each row, [R]."""
        return np.add.reduceat(self.stops - self.starts, self.offsets[:-1])

    @property
    def utilization(self) -> float:
        """Tokens / slots.

        >>> pack_lengths([4, 3, 2], 6).utilization
        0.75
        """
        return int(self.lengths.sum()) / (len(self) * self.capacity)

    @cached_property
    def lower_bound(self) -> int:
        """Rows that no packing can do without: L2 for whole documents, L1 where they are cut."""
        if self.strategy == "concatenate":
            return -(-int(self.lengths.sum()) // self.capacity)
        return bounds.lower_bound(self.lengths, self.capacity)

    @property
    def gap(self) -> int:
        """Rows beyond `lower_bound`.

        >>> pack_lengths([4, 4, 7, 7, 9, 9], 20).gap
        1
        """
        return len(self) - self.lower_bound

    def __repr__(self) -> str:
        return (
            f"Packing({self.lengths.size:,} documents, {len(self):,} rows of {self.capacity:,}, "
            f"{self.strategy}, {self.utilization:.2%} used, lower bound {self.lower_bound:,})"
        )


def pack_lengths(lengths: object, capacity: int, strategy: str = "best_fit_decreasing") -> Packing:
    """Decide which documents share a row, from their lengths alone.

    `lengths` [N]: tokens of each document, each at least 1 and (but for `"concatenate"`) at most
    `capacity`, the token slots of a row. `strategy`: one of `STRATEGIES`; among equally good rows
    the oldest is taken, and documents of equal length keep their order. Raises ValueError or
    TypeError for lengths that are empty, nested, below 1, over-long or not whole numbers.

    >>> pack_lengths([3, 5, 2], 8)
    Packing(3 documents, 2 rows of 8, best_fit_decreasing, 62.50% used, lower bound 2)
    >>> pack_lengths([3, 5, 2], 8).to_lists()
    [[1, 0], [2]]
    """
    choice(strategy, "strategy", STRATEGIES)
    if strategy == "concatenate":
        sizes = as_lengths(lengths)
        capacity = as_int(capacity, "capacity", at_least=1)
        order, offsets, starts, stops = greedy.concatenate(sizes, capacity)
        return Packing(order, offsets, sizes, capacity, strategy, (starts, stops))
    sizes, capacity = bounds.check_lengths(lengths, capacity)
    order, offsets = _WHOLE[strategy](sizes, capacity)
    return Packing(order, offsets, sizes, capacity, strategy)
