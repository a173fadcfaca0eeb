"""Exercise L3.2: the documents that concatenation cuts."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.packing import pack_lengths

Lengths = list[int]


def _cut(lengths: Lengths, capacity: int) -> int:
    pieces = pack_lengths(lengths, capacity, "concatenate").order.tolist()
    return sum(pieces.count(d) > 1 for d in range(len(lengths)))


def _borders_inside(lengths: Lengths, capacity: int) -> int:
    return len(pack_lengths(lengths, capacity, "concatenate").order) - len(lengths)


def _ends_at_border_too(lengths: Lengths, capacity: int) -> int:
    ends = [0, *accumulate(lengths)]
    return sum(a // capacity != b // capacity for a, b in pairwise(ends))


def _some_lengths(rng: random.Random) -> Args:
    return cases.lengths(rng, 9, 8), rng.randint(2, 8)


def _long_list(rng: random.Random) -> Args:
    return cases.many_lengths(rng, 60, 8), rng.choice([3, cases.many(rng)])


def _too_many(value: Any, lengths: Lengths, capacity: int) -> str:
    borders = -(-sum(lengths) // capacity) - 1
    if 0 <= scalar_of(value) <= min(len(lengths), borders):
        return ""
    return (
        f"{len(lengths)} documents lie across {borders} borders between rows, and a border cuts "
        "at most one of them"
    )


COUNT_CUTS = Exercise(
    id="L3.2",
    title="Count the cuts",
    objective="Say what concatenation costs the documents.",
    minutes=10,
    difficulty="medium",
    chapter=5,
    idea="concatenated documents lie on one line, and a row border may fall inside of them.",
    prompt="Documents are joined one behind the other and cut into rows of capacity tokens. "
    "How many documents lie in more than one row?",
    stub='def cut_documents(lengths, capacity):\n    """lengths [N] -> int"""\n    ...',
    hints=(
        "where on the line does document i begin, and where is its last token?",
        "token number k lies in row k // capacity.",
        "compare the rows of its first and of its last token. The last is at start + n - 1.",
    ),
    returns=One("documents that were cut"),
    reference=_cut,
    checks=(
        Exact(
            "a cut, ends right at a border, a document over three rows",
            lambda: [([3, 4, 2], 5), ([2, 3], 5), ([2, 3, 4], 5), ([1, 9, 2], 4)],
        ),
        Property("no more than there are borders", _some_lengths, _too_many),
        Random("60 random lists of lengths", _some_lengths, 60),
        Edges("one token, rows of one token, one full row, and long lists",
              lambda: [([1], 1), ([9, 1], 1), ([5], 5), ([1, 1, 1], 8)], _long_list, 4),
    ),
    misconceptions={
        "cuts_for_documents": _borders_inside,
        "end_at_border_cut": _ends_at_border_too,
        "only_overlong": lambda lengths, capacity: sum(n > capacity for n in lengths),
        "every_border_cuts": lambda lengths, capacity: -(-sum(lengths) // capacity) - 1,
        "whole_documents_counted": lambda n, capacity: len(n) - _cut(n, capacity),
    },
    own=("packing.pack_lengths", "packing.pack_documents"),
)  # fmt: skip
