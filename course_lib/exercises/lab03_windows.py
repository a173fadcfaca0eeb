"""Exercise L3.3: what a packer loses that sees few documents at a time."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.packing import pack_lengths

Lengths = list[int]


def _windowed(lengths: Lengths, capacity: int, window: int) -> int:
    rows, rest = 0, lengths
    while len(rest):
        rows, rest = rows + len(pack_lengths(rest[:window], capacity)), rest[window:]
    return rows


def _last_window_lost(lengths: Lengths, capacity: int, window: int) -> int:
    return _windowed(lengths[: len(lengths) // window * window], capacity, window)


def _bounds(lengths: Lengths, capacity: int, window: int) -> int:
    cuts = [*range(0, len(lengths), window), len(lengths)]
    return sum(-(-sum(lengths[a:b]) // capacity) for a, b in pairwise(cuts))


def _strided(lengths: Lengths, capacity: int, window: int) -> int:
    count = -(-len(lengths) // window)
    return sum(len(pack_lengths(lengths[s::count], capacity)) for s in range(count))


def _some_stream(rng: random.Random) -> Args:
    lengths = [rng.randint(1, 10) for _ in range(rng.randint(3, 14))]
    return lengths, rng.randint(10, 14), rng.randint(1, 5)


def _long_stream(rng: random.Random) -> Args:
    lengths = [n for _ in range(3) for n in cases.many_lengths(rng)]
    return lengths, rng.randint(40, 60), rng.choice([2, 2 * cases.many(rng)])


def _fewer(value: Any, lengths: Lengths, capacity: int, window: int) -> str:
    least = -(-sum(lengths) // capacity)
    if scalar_of(value) >= least:
        return ""
    return f"{sum(lengths)} tokens need at least {least} rows of {capacity}"


PACK_WINDOWS = Exercise(
    id="L3.3",
    title="Pack through a window",
    objective="Measure what a packer loses that sees few documents at a time.",
    minutes=8,
    difficulty="medium",
    chapter=5,
    idea="a packer can only combine what it sees at the same time.",
    prompt="A packer reads window documents, packs them best fit decreasing, gives the rows "
    "out and reads on; what is left at the end is packed as well. How many rows does it give "
    "out? Use pack_lengths for each window.",
    stub="def rows_in_windows(lengths, capacity, window):\n"
    '    """lengths [N] in reading order -> int"""\n    ...',
    hints=(
        "lengths[:window] is the first window. Where does the next one begin?",
        "len(pack_lengths(part, capacity)) is the number of rows of one part.",
        "range(0, len(lengths), window) gives all starts; a slice may run over the end.",
    ),
    returns=One("the number of rows"),
    reference=_windowed,
    checks=(
        Exact(
            "two full windows, a last one that is not full, a window larger than all",
            lambda: [
                ([6, 6, 4, 4], 10, 2),
                ([6, 6, 4, 4, 5], 10, 2),
                ([6, 6, 4, 4], 10, 9),
            ],
        ),
        Property("as many rows as the tokens need, at least", _some_stream, _fewer, 60),
        Random("40 random streams", _some_stream, 40),
        Edges("one document, windows of one, a window of all, and long streams",
              lambda: [([5], 9, 3), ([2, 2, 2], 6, 1), ([6] * 17 + [4] * 17, 10, 34)],
              _long_stream, 4),
    ),
    misconceptions={
        "window_ignored": lambda lengths, capacity, window: _windowed(
            lengths, capacity, len(lengths)
        ),
        "last_window_lost": _last_window_lost,
        "bound_for_rows": _bounds,
        "windows_strided": _strided,
        "next_fit_of_all": lambda lengths, capacity, window: len(
            pack_lengths(lengths, capacity, "next_fit")
        ),
    },
)  # fmt: skip
