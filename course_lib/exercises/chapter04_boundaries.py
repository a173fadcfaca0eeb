"""Exercises 4.2 and 4.4: convention B, as a function and by hand."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import document_ids_from_lengths, document_starts
from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.targets import (
    mask_boundaries,
)
from course_lib.vocabulary import IGNORE_INDEX, encode

LABELS = Numbers("labels", "int", ("row", "slot"))

PLAIN = "a b <eos> c <eos> b b a <eos> <pad>"
PLAIN_LENGTHS = [3, 2, 4]


def _no_row_start(labels: Tensor, document_ids: Tensor) -> Tensor:
    return labels.masked_fill(document_starts(document_ids), IGNORE_INDEX)


def _last_tokens(labels: Tensor, document_ids: Tensor) -> Tensor:
    ends = torch.zeros_like(document_ids, dtype=torch.bool)
    ends[:, :-1] = document_ids[:, 1:] != document_ids[:, :-1]
    return labels.masked_fill(ends, IGNORE_INDEX)


def _second_tokens(labels: Tensor, document_ids: Tensor) -> Tensor:
    seconds = torch.zeros_like(document_ids, dtype=torch.bool)
    seconds[:, 2:] = document_starts(document_ids)[:, 1:-1]
    return labels.masked_fill(seconds, IGNORE_INDEX)


def _later_documents(labels: Tensor, document_ids: Tensor) -> Tensor:
    return labels.masked_fill(document_ids > 0, IGNORE_INDEX)


def _packed(rng: random.Random) -> Args:
    ids = cases.packed_ids(rng, rng.randint(1, 3))
    tokens = cases.rectangle([cases.tokens(rng, ids.shape[1]) for _ in ids])
    return tokens.masked_fill(ids < 0, IGNORE_INDEX), ids


def _many_packed(rng: random.Random) -> Args:
    """Over 16 rows of over 16 documents; some labels are switched off already."""
    ids = cases.many_ids(rng, cases.many(rng))
    tokens = cases.rectangle([cases.tokens(rng, ids.shape[1], 0, cases.MOST_ID) for _ in ids])
    return tokens.masked_fill((ids < 0) | cases.coins(rng, *ids.shape, 0.1), IGNORE_INDEX), ids


def _boundary_left(value: Any, labels: Tensor, document_ids: Tensor) -> str:
    kept = numbers(value)
    for row, slot in (document_ids[:, 1:].diff(dim=1, prepend=document_ids[:, :1]) > 0).nonzero():
        if kept[row, slot + 1] != IGNORE_INDEX:
            return f"a document begins at row {row}, slot {slot + 1}, and it is still a target"
    return ""


def labelled_row(text: str, lengths: list[int]) -> tuple[Tensor, Tensor]:
    """Labels under A and document ids, both [1, T], of one packed row written as text."""
    ids = cases.rectangle([encode(text)])
    documents = document_ids_from_lengths(lengths, ids.shape[1])[None]
    return ids.masked_fill(documents < 0, IGNORE_INDEX), documents


def _by_hand(rule: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], list[int]]:
    return lambda: rule(*labelled_row(PLAIN, PLAIN_LENGTHS))[0].tolist()


EXERCISES = (
    Exercise(
        id="4.2",
        title="From A to B",
        objective="Switch off the targets that would be predicted from another document.",
        minutes=10,
        difficulty="medium",
        chapter=4,
        idea="B masks the first token of each later document, and nothing else.",
        prompt="Return the labels under convention B: -100 on the first token of each document "
        "but the first of its row. The first slot of a row keeps its label.",
        stub="def boundary_b(labels, document_ids):\n"
        '    """[B, T] under A, [B, T] -> labels [B, T]"""\n    ...',
        hints=(
            "at which slots is the document id another one than in the slot to the left?",
            "compare document_ids[:, 1:] with document_ids[:, :-1].",
            "what you found counts from slot 1; slot 0 has no left neighbour and stays.",
        ),
        returns=LABELS,
        reference=mask_boundaries,
        checks=(
            Exact(
                "a row of two documents, a row of three, and single tokens",
                lambda: [
                    labelled_row("a b c <eos> a a <eos> <pad>", [4, 3]),
                    labelled_row(PLAIN, PLAIN_LENGTHS),
                    labelled_row("a b c", [1, 1, 1]),
                ],
            ),
            Property("no later document begins with a target", _packed, _boundary_left),
            Random("20 random packed batches", _packed),
            Edges(
                "one slot, a row of padding, ids of 0, and large batches",
                lambda: [
                    (cases.rectangle([[5]]), cases.rectangle([[0]])),
                    (cases.rectangle([[1, 2], [IGNORE_INDEX] * 2]),
                     cases.rectangle([[0, 1], [-1, -1]])),
                    (cases.rectangle([[0, 0, 0, 0]]), cases.rectangle([[0, 0, 1, 1]])),
                ],
                _many_packed,
            ),
        ),
        misconceptions={
            "boundary_kept": lambda labels, document_ids: labels,
            "row_start_masked": _no_row_start,
            "eos_masked": _last_tokens,
            "second_token_masked": _second_tokens,
            "later_documents_masked": _later_documents,
        },
        own=("targets.mask_boundaries",),
    ),
    Exercise(
        id="4.4",
        title="Labels by hand",
        objective="Write the labels of a packed row under convention B.",
        minutes=5,
        difficulty="easy",
        chapter=4,
        idea="labels are a copy of the ids; B and padding put -100 in, and nothing moves.",
        prompt="Three documents share a row of 10 slots. Write its labels under convention B.",
        stub="labels = ...",
        hints=(
            "begin with a copy of the row's ids.",
            "which slots hold no token, and which hold the first token of a later document?",
            "is the first slot of the row a later document's first token?",
        ),
        returns=Numbers("labels", "int", ("slot",)),
        reference=_by_hand(mask_boundaries),
        checks=(Exact("the ten labels"),),
        misconceptions={
            "boundary_kept": _by_hand(lambda labels, documents: labels),
            "row_start_masked": _by_hand(_no_row_start),
            "eos_masked": _by_hand(_last_tokens),
            "second_token_masked": _by_hand(_second_tokens),
            "later_documents_masked": _by_hand(_later_documents),
            "pad_target": lambda: numbers(encode(PLAIN)).tolist(),
        },
        given=lambda: {"row": encode(PLAIN), "text": PLAIN, "lengths": list(PLAIN_LENGTHS)},
    ),
)  # fmt: skip
