"""Exercise L2.2: how many pairs a mask allows, from lengths alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from course_lib.boundaries import document_ids_from_lengths
from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.masks import causal_mask, document_mask

KINDS = ("causal", "padding", "document")


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


def _count(lengths: list[int], capacity: int, kind: str) -> int:
    """Count the True cells of the mask itself."""
    ids = document_ids_from_lengths(lengths, capacity)
    mask = causal_mask(capacity)
    if kind == "padding":
        mask = mask & (ids >= 0)
    return int((document_mask(ids) if kind == "document" else mask).sum())


def _counted(
    causal: Callable[[int, int], int] | None = None,
    padding: Callable[[int, int], int] | None = None,
    document: Callable[[list[int], int], int] | None = None,
) -> Callable[[list[int], int, str], int]:
    """The right count, with another one for some kinds; each gets what is real and the capacity."""

    def wrong(lengths: list[int], capacity: int, kind: str) -> int:
        if kind == "causal" and causal:
            return causal(sum(lengths), capacity)
        if kind == "padding" and padding:
            return padding(sum(lengths), capacity)
        if kind == "document" and document:
            return document(lengths, capacity)
        return _count(lengths, capacity, kind)

    return wrong


def _some_row(rng: random.Random) -> Args:
    lengths = cases.lengths(rng)
    return lengths, sum(lengths) + rng.randint(0, 4), rng.choice([*KINDS, "document", "document"])


def _large_row(rng: random.Random) -> Args:
    lengths = cases.many_lengths(rng)
    return lengths, sum(lengths) + cases.many(rng), rng.choice(KINDS)


def _impossible(value: Any, lengths: list[int], capacity: int, kind: str) -> str:
    low, high = sum(lengths), _triangle(capacity)
    if low <= scalar_of(value) <= high:
        return ""
    return (
        f"each of the {low} real tokens sees itself, and no causal mask of {capacity} slots has "
        f"more than {high} True cells"
    )


COUNT_PAIRS = Exercise(
    id="L2.2",
    title="Count the pairs",
    objective="Say how much attention a mask leaves, from lengths alone.",
    minutes=10,
    difficulty="medium",
    chapter=5,
    idea="a causal mask over n tokens is a triangle of n(n + 1)/2 cells.",
    prompt="How many (query, key) pairs does a mask allow? kind is 'causal' (all slots), "
    "'padding' (causal, and no padding key; queries on padding keep their view) or 'document' "
    "(causal, within a document; padding sees nothing and is seen by nothing).",
    stub="def count_pairs(lengths, capacity, kind):\n"
    '    """lengths of the documents of one row -> int"""\n    ...',
    hints=(
        "query t of a causal mask sees t + 1 keys. What is the sum over n queries?",
        "a query on padding stands behind all real tokens and sees each of them.",
        "under the document mask every document has its own triangle, and padding has none.",
    ),
    returns=One("the number of pairs"),
    reference=_count,
    checks=(
        Exact(
            "documents of 2 and 3 tokens in 6 slots under each mask, and a full row",
            lambda: [([2, 3], 6, kind) for kind in KINDS] + [([4], 4, "document")],
        ),
        Property("a number that such a mask can have", _some_row, _impossible),
        Random("80 random rows", _some_row, 80),
        Edges("one token, with and without padding, and large rows",
              lambda: [([1], size, kind) for size in (1, 4) for kind in KINDS], _large_row, 9),
    ),
    misconceptions={
        "self_masked": _counted(
            lambda real, n: _triangle(n - 1),
            lambda real, n: _count([real], n, "padding") - real,
            lambda ns, size: sum(_triangle(n - 1) for n in ns),
        ),
        "future_in_document": _counted(document=lambda ns, size: sum(n * n for n in ns)),
        "pad_query_masked": _counted(padding=lambda real, n: _triangle(real)),
        "padding_keys_visible": _counted(padding=lambda real, n: _triangle(n)),
        "padding_is_a_document": _counted(
            document=lambda ns, size: sum(map(_triangle, [*ns, size - sum(ns)]))
        ),
        "no_document_mask": _counted(document=lambda ns, size: _triangle(sum(ns))),
    },
)  # fmt: skip
