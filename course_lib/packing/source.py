"""Documents from anywhere as flat arrays: lists, generators, mappings, or a `datasets.Dataset`.

A Dataset is read through its Arrow tables: token ids stay in flat buffers and never become Python
lists. Nothing is imported for that; whatever has `select_columns` and `with_format` is read so.
What is left out: prompts and labels; a stream here is plain documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from course_lib.inputs import as_document

__all__ = ["Pieces", "Reader", "read_pieces"]

CHUNK = 512  # documents read at once


@dataclass(frozen=True)
class Pieces:
    """Documents, or parts of over-long ones, end to end in one array of tokens.

    tokens: [S]. lengths, numbers (of the document) and starts (in the document): [P] each.
    """

    tokens: np.ndarray
    lengths: np.ndarray
    numbers: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        return self.lengths.size

    def take(self, which: np.ndarray) -> Pieces:
        """Return the pieces `which` [K], in that order, with their tokens end to end."""
        begins = (np.cumsum(self.lengths) - self.lengths)[which].tolist()
        lengths = self.lengths[which]
        views = [self.tokens[a : a + n] for a, n in zip(begins, lengths.tolist(), strict=True)]
        tokens = np.concatenate(views) if views else self.tokens[:0]
        return Pieces(tokens, lengths, self.numbers[which], self.starts[which])

    def cut(self, at: int) -> tuple[Pieces, Pieces]:
        """Return the first `at` pieces and the others, as views."""
        token = int(self.lengths[:at].sum())
        rest = (self.lengths, self.numbers, self.starts)
        head = Pieces(self.tokens[:token], *(part[:at] for part in rest))
        return head, Pieces(self.tokens[token:], *(part[at:] for part in rest))

    @staticmethod
    def join(parts: Sequence[Pieces]) -> Pieces:
        """Return the pieces of all parts, one part behind the other."""
        parts = [part for part in parts if len(part)]  # an empty part must not decide the dtype
        if not parts:
            return Pieces(*(np.empty((4, 0), np.int64)))
        fields = ("tokens", "lengths", "numbers", "starts")
        return Pieces(*(np.concatenate([getattr(p, name) for p in parts]) for name in fields))


class Reader:
    """Takes pieces from a source in any amounts and counts how many of each length it took."""

    def __init__(self, pieces: Iterator[Pieces], capacity: int) -> None:
        self._pieces = pieces
        self._rest = Pieces.join([])
        self.counts = np.zeros(capacity + 1, np.int64)

    def take(self, count: int) -> Pieces:
        """Return the next `count` pieces, or fewer at the end of the source."""
        parts = []
        while count:
            if not len(self._rest):
                self._rest = next(self._pieces, self._rest)
            head, self._rest = self._rest.cut(count)
            if not len(head):
                break
            parts.append(head)
            count -= len(head)
        taken = Pieces.join(parts)
        np.add.at(self.counts, taken.lengths, 1)
        return taken

    def find(self, which: np.ndarray, read: int, lengths: np.ndarray) -> Pieces:
        """Read `read` pieces anew and return those numbered `which`, whose `lengths` are known.

        Raises ValueError where the source cannot be the one in which they were counted.
        """
        parts, first = [Pieces.join([])], 0
        while first < read and len(chunk := self.take(min(CHUNK, read - first))):
            here = which[(which >= first) & (which < first + len(chunk))] - first
            parts.append(chunk.take(here))
            first += len(chunk)
        found = Pieces.join(parts)
        if first < read or not np.array_equal(found.lengths, lengths):
            raise ValueError(
                f"the state was made from other documents: it had read {read}, of which "
                f"{len(which)} waited; here {first} can be read and the lengths "
                f"{found.lengths[:6].tolist()} … should be {lengths[:6].tolist()} … . "
                "Load a state only into a stream over the same source, in the same order."
            )
        return found


def read_pieces(
    source: Iterable[Any], column: str, capacity: int, overlong: str, eos_id: int | None
) -> Iterator[Pieces]:
    """Yield the documents of `source` some hundreds at a time, with EOS, none over `capacity`.

    Raises ValueError for an empty document, a missing column, a source without documents and, if
    `overlong` is `"error"`, for a document that does not fit; `"split"` cuts it into pieces.
    """
    first = 0
    for tokens, lengths in _chunks(source, column):
        if lengths.size and lengths.min() == 0:
            number = first + int(np.argmin(lengths))
            raise ValueError(f"document {number} is empty. Remove empty documents first.")
        if eos_id is not None:
            tokens = np.insert(tokens, np.cumsum(lengths), eos_id)
            lengths = lengths + 1
        yield _split(tokens, lengths, first, capacity, overlong)
        first += lengths.size
    if not first:
        raise ValueError(
            "the stream has no documents. A generator can be read only once: pass something that "
            "can be iterated again, such as a list or a Dataset."
        )


def _split(
    tokens: np.ndarray, lengths: np.ndarray, first: int, capacity: int, overlong: str
) -> Pieces:
    """Cut documents every `capacity` tokens; the tokens themselves stay where they are."""
    if overlong == "error" and lengths.max() > capacity:
        i = int(np.argmax(lengths > capacity))
        raise ValueError(
            f"document {first + i} has {lengths[i]} tokens, more than capacity {capacity}. "
            'Raise the capacity, use overlong="split", or truncate the document first.'
        )
    parts = -(-lengths // capacity)
    document = np.repeat(np.arange(lengths.size), parts)
    part = np.arange(document.size) - np.repeat(np.cumsum(parts) - parts, parts)
    starts = part * capacity
    return Pieces(
        tokens, np.minimum(lengths[document] - starts, capacity), document + first, starts
    )


def _chunks(source: Iterable[Any], column: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (tokens, lengths) of some hundred documents at a time."""
    if hasattr(source, "select_columns") and hasattr(source, "with_format"):
        yield from _arrow_chunks(source, column)
        return
    number = 0
    rows = iter(source)
    while batch := list(islice(rows, CHUNK)):
        documents = [_document(row, number + i, column) for i, row in enumerate(batch)]
        yield np.concatenate(documents), np.array([len(d) for d in documents])
        number += len(batch)


def _document(row: Any, number: int, column: str) -> np.ndarray:
    if isinstance(row, Mapping):
        if column not in row:
            raise ValueError(_no_column(column, list(row)))
        row = row[column]
    return as_document(row, f"document {number}")


def _arrow_chunks(source: Any, column: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    names = source.column_names
    if names is not None and column not in names:
        raise ValueError(_no_column(column, names))
    number = 0
    for table in source.select_columns([column]).with_format("arrow").iter(batch_size=CHUNK):
        lists = table.column(column).combine_chunks()
        is_list = hasattr(lists, "value_lengths")
        tokens = (lists.flatten() if is_list else lists).to_numpy(zero_copy_only=False)
        if not is_list or lists.null_count or not np.issubdtype(tokens.dtype, np.integer):
            raise TypeError(
                f"column {column!r} must hold lists of whole numbers, got {lists.type} "
                f"with {lists.null_count} missing in documents {number} to {number + len(lists)}."
            )
        yield tokens, lists.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        number += len(lists)


def _no_column(column: str, names: list[str]) -> str:
    return f"there is no column {column!r}; there are {', '.join(names)}. Choose with column=…"
