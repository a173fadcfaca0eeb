"""Exercises of lab 6: tiles of a mask counted, and the two bounds of what packing can save."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from course_lib.boundaries import document_ids_from_lengths
from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Items, parts
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.masks import document_mask

Kinds = tuple[int, int, int]

# --- L6.1


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


# --- L6.2


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


def _bounds(lengths: list[int], context: int) -> tuple[float, float]:
    slots = Fraction(len(lengths) * context, sum(lengths))
    area = Fraction(len(lengths) * _triangle(context), sum(map(_triangle, lengths)))
    return float(slots), float(area)


def _squares(lengths: list[int], context: int) -> tuple[float, float]:
    area = len(lengths) * context**2 / sum(n * n for n in lengths)
    return _bounds(lengths, context)[0], area


def _one_triangle(lengths: list[int], context: int) -> tuple[float, float]:
    area = len(lengths) * _triangle(context) / _triangle(sum(lengths))
    return _bounds(lengths, context)[0], area


def _mean_of_ratios(lengths: list[int], context: int) -> tuple[float, float]:
    count = len(lengths)
    slots = sum(context / n for n in lengths) / count
    return slots, sum(_triangle(context) / _triangle(n) for n in lengths) / count


def _one_row(lengths: list[int], context: int) -> tuple[float, float]:
    slots, area = _bounds(lengths, context)
    return slots / len(lengths), area / len(lengths)


def _slots_again(lengths: list[int], context: int) -> tuple[float, float]:
    return (_bounds(lengths, context)[0],) * 2


def _turned(lengths: list[int], context: int) -> tuple[float, float]:
    slots, area = _bounds(lengths, context)
    return 1 / slots, 1 / area


def _lengths(rng: random.Random) -> Args:
    lengths = [*cases.lengths(rng, most=9), rng.randint(1, 9)]
    return lengths, max(lengths) + rng.randint(0, 20)


def _many_lengths(rng: random.Random) -> Args:
    lengths = cases.many_lengths(rng, 300)
    return lengths, max(lengths) + rng.randint(0, 300)


def _at_least_one(value: Any, lengths: list[int], context: int) -> str:
    slots, area = (scalar_of(part) for part in parts(value))
    if slots < 1 - 1e-6 or area < 1 - 1e-6:
        return "padding never computes less: neither number can be below 1"
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
    Exercise(
        id="L6.2",
        title="Two bounds",
        objective="Say from lengths alone how much packing can save, in slots and in attention.",
        minutes=10,
        difficulty="medium",
        chapter=10,
        idea="linear layers cost as many slots as there are, attention as many pairs.",
        prompt="Each document in a row of `context` slots, with causal attention over the whole "
        "row, is compared with packing that wastes nothing: no padding, and attention inside each "
        "document only. How many times fewer slots, and how many times fewer (query, key) pairs?",
        stub="def bounds(lengths, context):\n"
        '    """lengths [N] -> by slots, by area"""\n    ...',
        hints=(
            "count the slots of all padded rows, then the tokens. Divide sums, not rows.",
            "a causal mask over n slots holds n(n + 1)/2 pairs, the diagonal included.",
            "the packed row has one triangle for each document, not one for the row.",
        ),
        returns=Items(
            (One("by slots", "float"), One("by area", "float")), ("by slots", "by area")
        ),
        reference=_bounds,
        checks=(
            Exact(
                "full rows, one short document, two unequal ones",
                lambda: [([4, 4], 4), ([2], 4), ([1, 3], 4)],
            ),
            Property("never below 1", _lengths, _at_least_one),
            Random("20 random batches", _lengths),
            Edges("one token, and large batches", lambda: [([1], 1), ([1], 100)], _many_lengths),
        ),
        misconceptions={
            "whole_squares": _squares,
            "no_document_mask": _one_triangle,
            "mean_of_ratios": _mean_of_ratios,
            "one_row_only": _one_row,
            "slots_for_both": _slots_again,
            "ratio_turned": _turned,
        },
    ),
)  # fmt: skip
