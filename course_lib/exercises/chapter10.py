"""Exercises of chapter 10: from boundaries to the tiles that a kernel visits."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from course_lib.boundaries import cu_seqlens_from_lengths
from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers


def _starts(cu_seqlens: list[int]) -> list[int]:
    """Return the start of the document of each token."""
    return [a for a, b in pairwise(cu_seqlens) for _ in range(a, b)]


def _visits(cu_seqlens: list[int], tile: int) -> list[int]:
    starts = _starts(cu_seqlens)
    tops = range(0, len(starts), tile)
    return [r - starts[top] // tile + 1 for r, top in enumerate(tops)]


def _last_document(cu_seqlens: list[int], tile: int) -> list[int]:
    """The start of the tile's last document instead of its first."""
    starts = _starts(cu_seqlens)
    ends = [min(top + tile, len(starts)) - 1 for top in range(0, len(starts), tile)]
    return [r - starts[end] // tile + 1 for r, end in enumerate(ends)]


def _whole_tiles(cu_seqlens: list[int], tile: int) -> list[int]:
    """The first key tile rounded up: begins inside the document, not before it."""
    starts = _starts(cu_seqlens)
    tops = range(0, len(starts), tile)
    return [max(1, r - -(-starts[top] // tile) + 1) for r, top in enumerate(tops)]


def _case(rng: random.Random) -> Args:
    lengths = cases.lengths(rng, most=9)
    return cu_seqlens_from_lengths(lengths).tolist(), rng.choice([2, 3, 4])


def _many(rng: random.Random) -> Args:
    lengths = cases.many_lengths(rng)
    return cu_seqlens_from_lengths(lengths).tolist(), rng.choice([5, 8])


def _in_range(value: Any, cu_seqlens: list[int], tile: int) -> str:
    for r, visited in enumerate(numbers(value).tolist()):
        if not 1 <= visited <= r + 1:
            return (
                f"query tile {r} sees at least its own key tile and at most {r + 1} tiles, "
                f"yours sees {int(visited)}"
            )
    return ""


EXERCISES = (
    Exercise(
        id="10.1",
        title="Which tiles are visited",
        objective="Read from cu_seqlens which key tiles a query tile needs, without any mask.",
        minutes=12,
        difficulty="medium",
        chapter=10,
        idea="a query tile needs the keys from the start of its first document to the diagonal.",
        prompt="A flat row of documents, as cu_seqlens, is cut into tiles of `tile` tokens; the "
        "last tile may be shorter. For each tile of queries: how many key tiles hold a pair that "
        "the document mask allows?",
        stub="def visited(cu_seqlens, tile):\n"
        '    """list [D+1] -> one count for each query tile"""\n    ...',
        hints=(
            "take the first token of the query tile. In which document is it, and where does that "
            "document begin?",
            "a start at slot s lies in key tile s // tile.",
            "from that key tile to the diagonal, both included: r - s // tile + 1.",
        ),
        returns=Numbers("the counts", "int", ("query tile",)),
        reference=_visits,
        checks=(
            Exact(
                "one document, two that meet on an edge, two that meet inside a tile",
                lambda: [([0, 6], 2), ([0, 4, 8], 2), ([0, 5, 8], 2)],
            ),
            Property("the diagonal, and nothing above it", _case, _in_range),
            Random("40 random rows", _case, 40),
            Edges(
                "one token, tiles of one token and larger than the row, and large rows",
                lambda: [([0, 1], 4), ([0, 3], 1), ([0, 2, 3], 1), ([0, 2, 7], 9)],
                _many,
            ),
        ),
        misconceptions={
            "no_document_mask": lambda cu, t: list(range(1, -(-cu[-1] // t) + 1)),
            "future_tiles": lambda cu, t: [-(-cu[-1] // t)] * -(-cu[-1] // t),
            "last_document_only": _last_document,
            "first_tile_lost": _whole_tiles,
            "diagonal_tile_lost": lambda cu, t: [n - 1 for n in _visits(cu, t)],
        },
    ),
)
