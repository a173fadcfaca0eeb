"""Packing data that does not fit in memory: `pack_stream` holds a buffer and packs that.

Each round fills the buffer, packs it with best fit decreasing, gives out the fullest rows until
half of the documents are gone, and keeps the rest for the next round, where they meet new partners.
Keeping the poor rows is what makes a small buffer nearly as good as all documents at once: packing
windows one after the other pays for a few half-empty rows in each. A document that has waited for
`PATIENCE` rounds leaves with whatever row it is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from course_lib.inputs import as_int, choice
from course_lib.packing import bulk
from course_lib.packing.records import Row, StreamReport
from course_lib.packing.source import Pieces, Reader, read_pieces

__all__ = ["PackStream", "pack_stream"]

PATIENCE = 16  # rounds; fewer cost rows, more gain almost none


@dataclass
class _Position:
    """Where a stream stands: all of this and nothing else makes up its state."""

    read: int = 0  # pieces taken from the source
    ended: bool = False  # the source has no more
    turn: int = 0  # number of the round
    given: int = 0  # rows given out in this round
    rows: int = 0  # given out in all, with so many documents and tokens:
    documents: int = 0
    tokens: int = 0
    held: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  # pieces in the buffer
    since: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  # round of arrival
    lengths: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))


class PackStream:
    """Packed rows from a source of documents, one by one; made by `pack_stream`."""

    def __init__(self, source: Iterable[Any], column: str, settings: dict[str, Any]) -> None:
        self.source, self.column, self.settings = source, column, settings
        self.capacity, self.buffer = settings["capacity"], settings["buffer"]
        self._at, self._loaded = _Position(), False
        self._counts = np.zeros(1, np.int64)

    def __iter__(self) -> Iterator[Row]:
        """Begin at the first document, or where a loaded state stands."""
        s = self.settings
        pieces = read_pieces(self.source, self.column, s["capacity"], s["overlong"], s["eos_id"])
        reader = Reader(pieces, self.capacity)
        self._counts = reader.counts
        at = self._at = self._at if self._loaded else _Position()
        self._loaded = False
        held = reader.find(at.held, at.read, at.lengths)
        if not at.read:
            held = self._fill(at, reader, held)
        while len(held):
            order, offsets = self._choose(at)
            yield from self._give(at, held.take(order), offsets)
            rest = np.setdiff1d(np.arange(len(held)), order)
            held, at.held, at.since = held.take(rest), at.held[rest], at.since[rest]
            at.turn, at.given = at.turn + 1, 0
            held = self._fill(at, reader, held)

    def _fill(self, at: _Position, reader: Reader, held: Pieces) -> Pieces:
        """Fill the buffer up from the source."""
        if not at.ended:
            fresh = reader.take(self.buffer - len(held))
            at.ended = len(held) + len(fresh) < self.buffer
            at.held = np.append(at.held, np.arange(at.read, at.read + len(fresh)))
            at.since = np.append(at.since, np.full(len(fresh), at.turn))
            at.read += len(fresh)
            held = Pieces.join([held, fresh])
        at.lengths = held.lengths
        return held

    def _choose(self, at: _Position) -> tuple[np.ndarray, np.ndarray]:
        """Pack the buffer; return the rows to give out, as `order` and `offsets`."""
        order, offsets = bulk.best_fit_decreasing(at.lengths, self.capacity)
        heads, sizes = offsets[:-1], np.diff(offsets)
        fills = np.add.reduceat(at.lengths[order], heads)
        overdue = np.minimum.reduceat(at.since[order], heads) <= at.turn - PATIENCE
        fullest = np.argsort(-np.where(overdue, self.capacity + 1, fills), kind="stable")
        if not at.ended:
            enough = np.searchsorted(np.cumsum(sizes[fullest]), order.size / 2) + 1
            fullest = fullest[:enough]
        chosen = np.concatenate([order[offsets[r] : offsets[r + 1]] for r in fullest])
        return chosen, np.append(0, np.cumsum(sizes[fullest]))

    def _give(self, at: _Position, out: Pieces, offsets: np.ndarray) -> Iterator[Row]:
        """Yield the rows of this round that were not given out yet."""
        slots = np.append(0, np.cumsum(out.lengths))[offsets].tolist()
        for row in range(at.given, offsets.size - 1):
            tokens = out.tokens[slots[row] : slots[row + 1]]
            here = slice(offsets[row], offsets[row + 1])
            at.given, at.rows = row + 1, at.rows + 1
            at.documents += here.stop - here.start
            at.tokens += tokens.size
            yield Row(tokens, out.lengths[here], out.numbers[here], out.starts[here])

    def state_dict(self) -> dict[str, Any]:
        """Return where the stream stands: numbers and lists that JSON can hold.

        It names the documents in the buffer and holds none of their tokens, so the stream that
        goes on reads its source again and skips what was given out.
        """
        position = {
            name: value.tolist() if isinstance(value, np.ndarray) else int(value)
            for name, value in asdict(self._at).items()
        }
        return {**self.settings, **position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next iteration go on from `state`, over the same source in the same order.

        Raises ValueError for the state of a stream with other settings.
        """
        for name, value in self.settings.items():
            if state.get(name) != value:
                raise ValueError(
                    f"the state is of a stream with {name}={state.get(name)!r}, this one has "
                    f"{value!r}. Make the stream with the settings of the state."
                )
        names = set(asdict(_Position())) - {"held", "since", "lengths"}
        arrays = {name: np.array(state[name], np.int64) for name in ("held", "since", "lengths")}
        self._at = _Position(**{name: state[name] for name in names}, **arrays)
        self._loaded = True

    def report(self) -> StreamReport:
        """Return what was given out so far beside what packing it all at once would give."""
        at, present = self._at, np.flatnonzero(self._counts)[::-1]
        counts = self._counts[present]
        offline = bulk.best_fit_rows(present, counts, self.capacity)
        return StreamReport(
            documents=at.documents,
            tokens=at.tokens,
            rows=at.rows,
            waiting=at.read - at.documents,
            utilization=at.tokens / (at.rows * self.capacity) if at.rows else 0.0,
            offline_rows=offline,
            offline_utilization=int(present @ counts) / (offline * self.capacity)
            if offline
            else 0.0,
        )


def pack_stream(
    iterable: Iterable[Any],
    capacity: int,
    buffer: int = 4096,
    *,
    column: str = "input_ids",
    eos_id: int | None = None,
    overlong: str = "error",
) -> PackStream:
    """Pack documents that do not fit in memory: hold `buffer` of them, give out rows one by one.

    `iterable`: documents (sequences of ids), mappings with a `column` of ids, or a
    `datasets.Dataset`, read without turning it into Python lists. `capacity`: token slots of a row.
    `eos_id` is appended to each document. `overlong`: `"error"`, or `"split"` into pieces that
    count as documents. Each iteration is one pass; after `load_state_dict` it goes on from there.

    Every token is in exactly one row. Rows do not keep the order of the documents: one of awkward
    length can wait for `PATIENCE` rounds of half a buffer each. Raises ValueError for an empty or
    over-long document and for a source with none, when they are reached.

    >>> stream = pack_stream([[1, 2, 3], [1, 1], [2]], capacity=4)
    >>> [row.input_ids.tolist() for row in stream]
    [[1, 2, 3, 2], [1, 1]]
    """
    settings = {
        "capacity": as_int(capacity, "capacity", at_least=1),
        "buffer": as_int(buffer, "buffer", at_least=1, hint="It is a number of documents."),
        "eos_id": None if eos_id is None else as_int(eos_id, "eos_id"),
        "overlong": choice(overlong, "overlong", ("error", "split")),
    }
    if isinstance(iterable, str | bytes) or not isinstance(iterable, Iterable):
        raise TypeError(
            f"iterable must give documents one by one, got {type(iterable).__name__}. "
            "Pass a list, a generator or a Dataset."
        )
    return PackStream(iterable, column, settings)
