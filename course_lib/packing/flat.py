"""Batches from one flat buffer of tokens: no Python object for a token, nothing copied twice.

Documents lie one behind another in `tokens`, and `offsets` says where each begins, as in a memory
map or an Arrow column. Batches are put together from views: ids are one `concatenate`, labels a
copy with a few entries overwritten, positions slices of one counting array. An index for each token
would cost twenty times as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.batch import Batch
from course_lib.boundaries import PADDING
from course_lib.inputs import as_documents, as_int, as_lengths, choice
from course_lib.packing.lengths import Packing
from course_lib.vocabulary import IGNORE_INDEX


@dataclass(frozen=True, eq=False)
class FlatDocuments:
    """D documents in one buffer: `tokens` [N] int64 and `offsets` [D + 1] int64.

    >>> FlatDocuments.of([[1, 2, 3], [1, 1]]).lengths.tolist()
    [3, 2]
    """

    tokens: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:
        as_lengths(self.lengths, "the steps of offsets")
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.tokens):
            raise ValueError(
                f"offsets must run from 0 to the number of tokens, {len(self.tokens)}; "
                f"got {self.offsets[0]} to {self.offsets[-1]}."
            )

    @classmethod
    def of(cls, documents: Iterable[Sequence[int]], *, eos_id: int | None = None) -> FlatDocuments:
        """Return the buffer of `documents`, each with `eos_id` appended if it is given.

        >>> FlatDocuments.of([[1, 2], [3]], eos_id=4).tokens.tolist()
        [1, 2, 4, 3, 4]
        """
        docs = as_documents(documents)
        if eos_id is not None:
            end = as_int(eos_id, "eos_id")
            docs = [np.append(doc, end) for doc in docs]
        return cls(np.concatenate(docs), np.cumsum([0, *map(len, docs)]))

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each document, [D]."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def flatten(self, numbers: Sequence[int] | np.ndarray) -> dict[str, Any]:
        """Return documents `numbers` as one row [1, N] without padding, convention B.

        The output of transformers' `DataCollatorWithFlattening(return_flash_attn_kwargs=True)`:
        input_ids, labels, position_ids (int64), cu_seq_lens_q/k (int32), max_length_q/k.

        >>> FlatDocuments.of([[1, 2], [3]]).flatten([1, 0])["input_ids"].tolist()
        [[3, 1, 2]]
        """
        which = as_lengths(numbers, "numbers", at_least=0)
        sizes = self.lengths[which]
        marks = np.zeros(len(sizes) + 1, np.int32)
        np.cumsum(sizes, out=marks[1:])
        starts = marks[:-1]
        ids = np.concatenate(self._views(which))
        labels = ids.copy()
        labels[starts] = IGNORE_INDEX
        steps = np.ones(len(ids), np.int64)
        steps[0] = 0
        steps[starts[1:]] = 1 - sizes[:-1]
        cu = torch.from_numpy(marks)
        longest = int(sizes.max())
        return {
            "input_ids": torch.from_numpy(ids)[None],
            "labels": torch.from_numpy(labels)[None],
            "position_ids": torch.from_numpy(np.cumsum(steps, out=steps))[None],
            "cu_seq_lens_q": cu,
            "cu_seq_lens_k": cu,
            "max_length_q": longest,
            "max_length_k": longest,
        }

    def batches(
        self, packing: Packing, rows: int, *, boundary: str = "A", pad_id: int = 0
    ) -> Iterator[Batch]:
        """Yield the rows of `packing` as Batches [rows, capacity]; the last may be shorter.

        `packing` is `pack_lengths(self.lengths, capacity, strategy)`. Documents stand in a row in
        placing order. One batch is in memory at a time.

        >>> from course_lib import pack_lengths
        >>> flat = FlatDocuments.of([[1, 2, 3], [1, 1]])
        >>> [b.input_ids.tolist() for b in flat.batches(pack_lengths(flat.lengths, 6), rows=1)]
        [[[1, 2, 3, 1, 1, 0]]]
        """
        step = as_int(rows, "rows", at_least=1)
        choice(boundary, "boundary", ("A", "B"))
        if len(packing.lengths) != len(self):
            raise ValueError(
                f"the packing is of {len(packing.lengths)} documents, the buffer has {len(self)}."
            )
        for first in range(0, len(packing), step):
            last = min(first + step, len(packing))
            yield Batch(*self._rows(packing, first, last, boundary, pad_id))

    def _views(self, which: np.ndarray) -> list[np.ndarray]:
        begins, ends = self.offsets[which].tolist(), self.offsets[which + 1].tolist()
        tokens = self.tokens
        return [tokens[a:b] for a, b in zip(begins, ends, strict=True)]

    def _rows(
        self, packing: Packing, first: int, last: int, boundary: str, pad_id: int
    ) -> tuple[Tensor, ...]:
        """Return the five tensors of rows `first` to `last`."""
        pieces = slice(int(packing.offsets[first]), int(packing.offsets[last]))
        begins = packing.starts[pieces] + self.offsets[packing.order[pieces]]
        sizes = packing.stops[pieces] - packing.starts[pieces]
        opens = packing.offsets[first:last] - pieces.start  # first piece of each row
        counts = np.diff(packing.offsets[first : last + 1])  # pieces in each row
        shift = np.repeat(np.arange(last - first) * packing.capacity, counts)
        slots = packing.token_offsets[pieces] + shift  # where each piece begins
        fills = (slots + sizes)[opens + counts - 1]  # where the padding of each row begins
        stops = np.arange(1, last - first + 1) * packing.capacity

        lasts = opens + counts - 1
        ids, positions = self._gather(begins, sizes, lasts, stops - fills, pad_id)
        empty = _ranges(fills, stops)
        labels = ids.copy()
        labels[empty] = IGNORE_INDEX
        number = np.arange(len(sizes)) - np.repeat(opens, counts)  # of each piece in its row
        documents = np.repeat(number, np.diff(np.append(slots, len(ids))))
        documents[empty] = PADDING
        attention = np.ones(len(ids), np.int64)
        attention[empty] = 0
        if boundary == "B":
            labels[np.delete(slots, opens)] = IGNORE_INDEX
        parts = (ids, labels, attention, positions, documents)
        return tuple(torch.from_numpy(part).view(last - first, -1) for part in parts)

    def _gather(
        self, begins: np.ndarray, sizes: np.ndarray, lasts: np.ndarray, pads: np.ndarray, pad: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Join ids and positions of the pieces; padding of `pads[r]` slots follows `lasts[r]`."""
        widest = int(pads.max())
        filler, nowhere = np.full(widest, pad), np.full(widest, PADDING)
        counting = np.arange(int(sizes.max()))
        behind = dict(zip(lasts.tolist(), pads.tolist(), strict=True))
        ids, positions, tokens = [], [], self.tokens
        for k, (a, n) in enumerate(zip(begins.tolist(), sizes.tolist(), strict=True)):
            ids.append(tokens[a : a + n])
            positions.append(counting[:n])
            if behind.get(k):
                ids.append(filler[: behind[k]])
                positions.append(nowhere[: behind[k]])
        return np.concatenate(ids), np.concatenate(positions)


def _ranges(starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return all integers of the ranges starts[i] … stops[i] - 1, one after another."""
    sizes = stops - starts
    before = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
