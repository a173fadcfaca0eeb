"""What the same documents cost under seven ways of filling rows: slots, and attention pairs.

Three ways pad, one document a row: to a fixed length, to the longest of each batch in the order
given, and the same after sorting by length, longest first. Four ways pack. A pair is one query and
one key, in one layer and one head. `dense` counts the full square of every row, as attention over
a written mask computes it; `causal` its half with the diagonal; `within` counts the squares of the
documents by themselves, which is the same for all ways and what a call that reads boundaries
computes, up to its half. What is left out: everything that no length tells, time above all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from course_lib.inputs import as_int, as_lengths
from course_lib.packing.bounds import lower_bound
from course_lib.packing.lengths import pack_lengths

__all__ = ["PACKED", "PADDED", "Cost", "Costs", "compare_costs"]

PADDED = ("fixed", "batch", "sorted")
PACKED = ("next_fit", "first_fit", "first_fit_decreasing", "best_fit_decreasing")


@dataclass(frozen=True)
class Cost:
    """One way: rows, slots, and pairs of attention, `dense` or `causal`."""

    way: str
    rows: int
    slots: int
    dense: int
    causal: int


@dataclass(frozen=True)
class Costs:
    """All ways for the same documents, and what belongs to the documents themselves.

    `cut_documents` were longer than `capacity`; their `cut_tokens` are in no way. `bound`: rows
    that no packing of whole documents can do without. `within`, `within_causal`: pairs inside
    documents.
    """

    documents: int
    tokens: int
    capacity: int
    cut_documents: int
    cut_tokens: int
    bound: int
    within: int
    within_causal: int
    ways: tuple[Cost, ...]

    def __getitem__(self, way: str) -> Cost:
        for cost in self.ways:
            if cost.way == way:
                return cost
        raise KeyError(f"there is no way {way!r}; there are {', '.join(c.way for c in self.ways)}.")

    def utilization(self, way: str) -> float:
        """Return tokens / slots of a way.

        >>> compare_costs([4, 2, 3], 6, batch_size=2).utilization("fixed")
        0.5
        """
        return self.tokens / self[way].slots


def compare_costs(
    lengths: object, capacity: int, *, batch_size: int = 8, multiple_of: int = 1
) -> Costs:
    """Return what documents of these lengths cost under each of `PADDED` and `PACKED`.

    `lengths` [N] in tokens, in the order of training; `capacity` is the fixed length, and the
    slots of a packed row; `batch_size` documents are padded together, to the longest of them,
    rounded up to `multiple_of`. A longer document is cut to `capacity`, and counted. Raises
    ValueError or TypeError as `pack_lengths` does, and for more slots than int64 can count.

    >>> costs = compare_costs([4, 2, 3], 6, batch_size=2)
    >>> [costs[way].slots for way in ("fixed", "batch", "sorted", "best_fit_decreasing")]
    [18, 11, 10, 12]
    """
    given = as_lengths(lengths)
    capacity = as_int(capacity, "capacity", at_least=1)
    batch_size = as_int(batch_size, "batch_size", at_least=1)
    multiple_of = as_int(multiple_of, "multiple_of", at_least=1)
    batch_size = min(batch_size, given.size)
    widest = max(capacity, int(given.max())) + multiple_of
    if widest * given.size >= 2**63:
        raise ValueError(
            f"{given.size} rows of up to {widest} slots are more than int64 can count. Are "
            f"capacity={capacity}, multiple_of={multiple_of} and the lengths in tokens?"
        )
    sizes = np.minimum(given, capacity)
    longest_first = np.sort(sizes)[::-1]

    def widths(order: np.ndarray) -> np.ndarray:
        longest = np.maximum.reduceat(order, np.arange(0, order.size, batch_size))
        rounded = -(-longest // multiple_of) * multiple_of
        return np.repeat(rounded, batch_size)[: order.size]

    padded = (np.full(sizes.size, capacity), widths(sizes), widths(longest_first))
    packed = [np.full(len(pack_lengths(sizes, capacity, way)), capacity) for way in PACKED]
    return Costs(
        documents=sizes.size,
        tokens=int(sizes.sum()),
        capacity=capacity,
        cut_documents=int((given > capacity).sum()),
        cut_tokens=int((given - sizes).sum()),
        bound=lower_bound(sizes, capacity),
        within=_squares(sizes),
        within_causal=(_squares(sizes) + int(sizes.sum())) // 2,
        ways=tuple(_costs([*PADDED, *PACKED], [*padded, *packed])),
    )


def _costs(names: list[str], rows: list[np.ndarray]) -> Iterable[Cost]:
    """Yield the cost of each way from the slots of its rows [R]."""
    for name, slots in zip(names, rows, strict=True):
        total, dense = int(slots.sum()), _squares(slots)
        yield Cost(name, slots.size, total, dense, (dense + total) // 2)


def _squares(sizes: np.ndarray) -> int:
    """Return the sum of squares; exact, for whole numbers of any size."""
    values, counts = np.unique(sizes, return_counts=True)
    return sum(v * v * n for v, n in zip(values.tolist(), counts.tolist(), strict=True))
