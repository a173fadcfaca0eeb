"""What a stream gives out (`Row`) and what it says about itself (`StreamReport`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Row", "StreamReport"]


@dataclass(frozen=True)
class Row:
    """One packed row: `input_ids` [n] and, for each document in it [k], its `seq_lengths`, its
    number in the source and the token of the document where it starts (0 unless it was split)."""

    input_ids: np.ndarray
    seq_lengths: np.ndarray
    numbers: np.ndarray
    starts: np.ndarray

    def to_dict(self) -> dict[str, list[np.ndarray]]:
        """Return what `Batch.from_dict` takes."""
        return {"input_ids": [self.input_ids], "seq_lengths": [self.seq_lengths]}


@dataclass(frozen=True)
class StreamReport:
    """What was given out so far, and the rows that packing all documents read at once would need.

    `documents` and `tokens` were given out in `rows`; `waiting` documents are still in the buffer.
    `offline_rows` is best fit decreasing over all of them.
    """

    documents: int
    tokens: int
    rows: int
    waiting: int
    utilization: float
    offline_rows: int
    offline_utilization: float

    def __str__(self) -> str:
        return (
            f"{self.documents:,} documents in {self.rows:,} rows, {self.utilization:.2%} used "
            f"({self.waiting:,} waiting); all at once: {self.offline_rows:,} rows, "
            f"{self.offline_utilization:.2%}"
        )
