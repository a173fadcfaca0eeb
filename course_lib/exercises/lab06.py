"""Exercise L6.1: tiles of a mask counted; L6.2 stands beside it."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any

from course_lib.boundaries import document_ids_from_lengths
from course_lib.exercises import cases, lab06_bounds
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Items, parts
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.masks import document_mask

Kinds = tuple[int, int, int]

def _tiles(lengths: list[int], tile: int, allowed: Callable[[int, int, list[int]], bool]) -> Kinds:
    """Count skipped, partial and full tiles of a rule over the slots of one row."""
    ids = document_ids_from_lengths(lengths).tolist()
    blocks = range(0, len(ids), tile)
    found = [0, 0, 0]
    for top in blocks:
        for left in blocks:
            square = product(range(top, top + tile), range(left, left + tile))
            cells = [allowed(q, k, ids) for q, k in square]
            found[any(cells) + all(cells)] += 1
    return found[0], found[1], found[2]


def _count_tiles(lengths: list[int], tile: int) -> Kinds:
    """Look at the mask itself."""
    mask = document_mask(document_ids_from_lengths(lengths)).tolist()
    return _tiles(lengths, tile, lambda q, k, ids: mask[q][k])


def _diagonal_full(lengths: list[int], tile: int) -> Kinds:
    """Diagonal tiles inside one document taken for full."""
    skipped, partial, full = _count_tiles(lengths, tile)
    ids = document_ids_from_lengths(lengths).tolist()
    whole = sum(ids[at] == ids[at + tile - 1] for at in range(0, len(ids), tile))
    return skipped, partial - whole, full + whole


def _row(rng: random.Random) -> Args:
    tile = rng.choice([2, 3, 4])
    lengths = cases.lengths(rng, most=9)
    lengths[-1] += -sum(lengths) % tile
    return lengths, tile


def _large_row(rng: random.Random) -> Args:
    lengths = [*cases.many_lengths(rng, 24, 1), *(rng.randint(1, 4) for _ in range(17))]
    lengths[-1] += -sum(lengths) % 4
    return lengths, 4


def _all_tiles(value: Any, lengths: list[int], tile: int) -> str:
    counts = [scalar_of(part) for part in parts(value)]
    blocks = sum(lengths) // tile
    if sum(counts) != blocks**2:
        return f"{blocks} × {blocks} tiles must be counted, your three numbers add up to " + str(
            sum(counts)
        )
    if counts[1] < blocks:
        return f"each of the {blocks} tiles on the diagonal is partial"
    return ""


EXERCISES = (
    Exercise(
        id="L6.1",
        title="Count the tiles",
        objective="Say what a tiled kernel skips, computes blindly, and looks at cell by cell.",
        minutes=15,
        difficulty="medium",
        chapter=10,
        idea="a tile is skipped if it holds no allowed pair, full if it holds no other.",
        prompt="Documents of these lengths fill one row, a multiple of `tile` slots, without "
        "padding. Cut the document mask into squares of tile × tile. How many are skipped, partial "
        "and full?",
        stub="def count_tiles(lengths, tile):\n"
        '    """-> skipped, partial, full"""\n    ...',
        hints=(
            "what can you say about every tile above the diagonal? And on it?",
            "write the mask as a loop over queries and keys first, then look at one tile of it.",
            "any(cells) + all(cells) is 0, 1 or 2.",
        ),
        returns=Items(
            (One("skipped"), One("partial"), One("full")), ("skipped", "partial", "full")
        ),
        reference=_count_tiles,
        checks=(
            Exact(
                "one document, two that meet on an edge, two that meet inside a tile",
                lambda: [([6], 2), ([4, 4], 2), ([5, 3], 2)],
            ),
            Property("every tile once, the diagonal partial", _row, _all_tiles),
            Random("30 random rows", _row, 30),
            Edges("a single tile, large tiles, and large rows",
                  lambda: [([2], 2), ([1, 1], 2), ([3, 1], 4), ([20, 1, 19, 11], 17)], _large_row),
        ),
        misconceptions={
            "diagonal_full": _diagonal_full,
            "no_document_mask": lambda n, t: _count_tiles([sum(n)], t),
            "future_in_document": lambda n, t: _tiles(n, t, lambda q, k, ids: ids[k] == ids[q]),
            "self_masked": lambda n, t: _tiles(n, t, lambda q, k, ids: k < q and ids[k] == ids[q]),
            "tiles_mixed_up": lambda n, t: _count_tiles(n, t)[::-1],
        },
    ),
    *lab06_bounds.EXERCISES,
)  # fmt: skip
