"""Exercises of chapter 9: the slots of padded batches, and the pairs that a packing needs."""

from __future__ import annotations

import random
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Difference, One, scalar_of
from course_lib.packing.costs import compare_costs

Rows = list[list[int]]


def _batches(lengths: list[int], size: int) -> list[list[int]]:
    return [lengths[i : i + size] for i in range(0, len(lengths), size)]


def _padded(lengths: list[int], size: int) -> int:
    return compare_costs(lengths, max(lengths), batch_size=size)["batch"].slots


def _in_words(args: Args, difference: Difference) -> str:
    """Say which other count the answer is, if it is one of the known ones."""
    lengths, size = args
    batches = _batches(lengths, size)
    known = {
        len(lengths) * max(lengths): "every batch is padded to the longest document of all. Each "
        "batch has its own longest document.",
        sum(size * max(b) for b in batches): "the last batch is counted as a full one. It holds "
        "the documents that are left.",
        sum(max(b) * len(b) for b in batches if len(b) == size): "the last, shorter batch is not "
        "counted.",
        sum(lengths): "these are the tokens. A slot may hold none.",
        _padded(lengths, size) - sum(lengths): "this is the waste alone. Slots hold tokens, too.",
        _padded(sorted(lengths, reverse=True), size): "the documents are sorted first. Here they "
        "come in their order.",
        sum(max(b) for b in batches): "one row is counted for each batch. Each document of it has "
        "a row.",
    }
    return next((text for count, text in known.items() if str(count) == difference.got), "")


def _case(rng: random.Random) -> Args:
    return cases.lengths(rng, most=9, count=9), rng.randint(1, 4)


def _large(rng: random.Random) -> Args:
    return [rng.randint(1, 2048) for _ in range(rng.randint(60, 90))], rng.randint(17, 24)


def _between(value: Any, lengths: list[int], size: int) -> str:
    low, high, mine = sum(lengths), len(lengths) * max(lengths), scalar_of(value)
    if mine < low:
        return f"{low} tokens need at least {low} slots, yours are {mine}"
    if mine > high:
        return f"no row is longer than {max(lengths)}, so there are at most {high} slots"
    return ""


def _pairs(rows: Rows) -> int:
    lengths = [n for row in rows for n in row]
    return compare_costs(lengths, max(lengths)).within_causal


def _half(n: int) -> int:
    return n * (n + 1) // 2


def _rows(rng: random.Random) -> Args:
    return ([cases.lengths(rng) for _ in range(rng.randint(1, 3))],)


def _many_rows(rng: random.Random) -> Args:
    return ([[rng.randint(1, 30) for _ in range(rng.randint(17, 22))] for _ in range(18)],)


def _more(value: Any, rows: Rows) -> str:
    tokens, mine = sum(map(sum, rows)), scalar_of(value)
    if mine < tokens:
        return f"every token attends to itself: {tokens} pairs at least, yours are {mine}"
    return ""


EXERCISES = (
    Exercise(
        id="9.1",
        title="Slots of padded batches",
        objective="Compute what padding to the longest of each batch stores, from lengths alone.",
        minutes=8,
        difficulty="easy",
        chapter=9,
        idea="each batch has the width of its own longest document, and a row for each document.",
        prompt="Documents are batched in the order given, batch_size at a time; the last batch "
        "may be shorter. Each batch is padded to its longest document. How many slots are stored "
        "in all?",
        stub="def padded_slots(lengths, batch_size):\n"
        '    """list of lengths -> number of slots"""\n    ...',
        hints=(
            "cut the lengths into batches: lengths[i:i + batch_size], i = 0, batch_size, …",
            "a batch of B documents whose longest has T tokens stores B × T slots.",
            "B is len(batch), which is smaller for the last batch if something is left over.",
        ),
        returns=One("the number of slots", "int"),
        reference=_padded,
        checks=(
            Exact(
                "one batch, two batches, a last batch of one document",
                lambda: [([4, 2], 2), ([1, 3, 5, 2], 2), ([6, 2, 3], 2)],
            ),
            Property("no fewer slots than tokens, no row longer than the longest document", _case,
                     _between),
            Random("40 random lists of lengths", _case, 40),
            Edges("one document, and many", lambda: [([1], 1), ([7], 3)], _large),
        ),
        explain=_in_words,
    ),
    Exercise(
        id="9.2",
        title="Pairs inside documents",
        objective="Count the pairs that a causal document mask allows, from lengths alone.",
        minutes=8,
        difficulty="medium",
        chapter=9,
        idea="causal, a document of n tokens needs n (n + 1) / 2 pairs, whatever its row.",
        prompt="Packed rows are given as lists of document lengths. How many pairs of query and "
        "key does a document mask allow in all rows, if it is causal: each token attends to itself "
        "and to the earlier tokens of its own document?",
        stub="def pairs(rows):\n"
        '    """lists of lengths -> pairs of a causal mask"""\n    ...',
        hints=(
            "the first token of a document attends to one key, the second to two. And the last?",
            "1 + 2 + … + n = n (n + 1) / 2.",
            "padding slots attend to nothing and are seen by nobody, so they play no part.",
        ),
        returns=One("the number of pairs", "int"),
        reference=_pairs,
        checks=(
            Exact(
                "one document, two in a row, two rows",
                lambda: [([[3]],), ([[4, 3]],), ([[2, 2], [5]],)],
            ),
            Property("at least one pair for each token", _rows, _more),
            Random("40 random packings", _rows, 40),
            Edges("a single token, and long rows", lambda: [([[1]],), ([[1], [1]],)], _many_rows),
        ),
        misconceptions={
            "no_document_mask_but_padding": lambda rows: sum(_half(sum(r)) for r in rows),
            "full_rows": lambda rows: sum(sum(r) ** 2 for r in rows),
            "future_in_document": lambda rows: sum(n * n for r in rows for n in r),
            "self_masked": lambda rows: sum(_half(n - 1) for r in rows for n in r),
            "counts_tokens_for_pairs": lambda rows: sum(map(sum, rows)),
        },
    ),
)
