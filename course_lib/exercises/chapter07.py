"""Exercises of chapter 7: detectors, each of which names the faulty places."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases, chapter07_slots
from course_lib.exercises.cases_faults import (
    leaky_mask,
    many_leaks,
    many_scored_twice,
    scored_twice,
)
from course_lib.exercises.chapter07_denominator import DENOMINATOR
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Places, places
from course_lib.exercises.detectors import detector, where
from course_lib.masks import causal_mask, document_mask

# --- 7.1


def _two_ahead(input_ids: Tensor, targets: Tensor, differs: bool = True) -> Tensor:
    found = torch.zeros_like(targets, dtype=torch.bool)
    found[:, :-1] = targets[:, :-1] == input_ids[:, 2:]
    if differs:
        found &= targets != input_ids[:, 1:]
    return found


def _healthy_named(value: Any, input_ids: Tensor, targets: Tensor) -> str:
    for row, t in places(value, targets.shape):
        if targets[row, t] == input_ids[row, t + 1]:
            return f"prediction ({row}, {t}) is scored on the next token; that is no fault"
    return ""


# --- 7.4


def _crossing(mask: Tensor, document_ids: Tensor) -> Tensor:
    real = document_ids >= 0
    other = document_ids[:, None] != document_ids
    return mask & other & real[:, None] & real


def _same_named(value: Any, mask: Tensor, document_ids: Tensor) -> str:
    for query, key in places(value, mask.shape):
        if not mask[query, key]:
            return f"pair ({query}, {key}) is closed in the mask"
    return ""


def _small_masks() -> list[Args]:
    ids = torch.tensor([0, 0, 1, 1, -1])
    one = document_mask(ids)
    one[3, 1] = True
    ahead = document_mask(ids)
    ahead[0, 2] = True
    three = torch.tensor([0, 1, 1, 2])
    return [
        (causal_mask(5), ids),
        (document_mask(ids), ids),
        (causal_mask(4), three),
        (one, ids),
        (ahead, ids),
    ]


def _odd_masks() -> list[Args]:
    """One slot, nothing but padding, everything open."""
    layouts = [0], [-1, -1], [-1, 0, 1, 2, -1]
    return [(torch.ones(len(ids), len(ids)).bool(), torch.tensor(ids)) for ids in layouts]


def _short_rows() -> list[Args]:
    """One slot, two slots, ids of 0."""
    return [
        (cases.rectangle([[3]]), cases.rectangle([[]])),
        (cases.rectangle([[1, 2]]), cases.rectangle([[2]])),
        (cases.rectangle([[2, 1, 0], [2, 2, 0]]), cases.rectangle([[0, -100], [0, 0]])),
    ]


EXERCISES = (
    *chapter07_slots.EXERCISES,
    DENOMINATOR,
    detector(
        1,
        title="Find a double shift",
        objective="Name the predictions that are scored two tokens ahead.",
        minutes=10,
        difficulty="medium",
        idea="position t is scored on token t+1; two equal neighbours prove nothing.",
        prompt="`targets` holds what each prediction was scored on, -100 for nothing. Return the "
        "places (row, t) where it is the token at t+2 although the token at t+1 is another one.",
        stub="def double_shift(input_ids, targets):\n"
        '    """[B, T], [B, T-1] -> list of (row, t)"""\n    ...',
        hints=(
            "which column of input_ids stands two to the right of position t?",
            "the last prediction has no token two ahead; leave it out.",
            "where t+1 and t+2 hold the same token, both set-ups agree: that is no proof.",
        ),
        returns=Places("places", ("row", "t")),
        reference=lambda ids, targets: where(_two_ahead(ids, targets)),
        checks=(
            Exact(
                "one row right, one shifted twice, one of equal tokens",
                lambda: [
                    (cases.rectangle([[1, 2, 3, 4]]), cases.rectangle([[2, 3, 4]])),
                    (cases.rectangle([[1, 2, 3, 4]]), cases.rectangle([[3, 4, -100]])),
                    (cases.rectangle([[1, 2, 2, 3]]), cases.rectangle([[2, 3, -100]])),
                ],
            ),
            Property("no healthy prediction is named", scored_twice, _healthy_named),
            Random("20 random batches", scored_twice),
            Edges("rows of one slot and of two, ids of 0, and large batches", _short_rows,
                  many_scored_twice),
        ),
        misconceptions={
            "equal_neighbours_named": lambda ids, t: where(_two_ahead(ids, t, differs=False)),
            "next_token_named": lambda ids, targets: where(targets == ids[:, 1:]),
            "target_slot_named": lambda ids, targets: [
                (row, t + 2) for row, t in where(_two_ahead(ids, targets))
            ],
            "everything_else_named": lambda ids, targets: where(targets != ids[:, 1:]),
        },
    ),
    detector(
        4,
        title="Find attention across documents",
        objective="Name the pairs through which documents read each other.",
        minutes=10,
        difficulty="medium",
        idea="an allowed pair whose query and key lie in different documents is contamination.",
        prompt="Return the allowed pairs (query, key) whose query and key are real tokens of "
        "different documents, whichever comes first.",
        stub="def cross_document(mask, document_ids):\n"
        '    """[T, T] bool, [T] -> list of (query, key)"""\n    ...',
        hints=(
            "compare the ids as a column with the ids as a row.",
            "which of these pairs are allowed by the mask?",
            "padding has id -1 and belongs to no document: leave its rows and columns out.",
        ),
        returns=Places("pairs", ("query", "key")),
        reference=lambda mask, ids: where(_crossing(mask, ids)),
        checks=(
            Exact("causal only, a clean mask, three documents, single leaks", _small_masks),
            Property("every named pair is allowed by the mask", leaky_mask, _same_named),
            Random("20 random masks", leaky_mask),
            Edges("one slot, only padding, everything open, and large masks", _odd_masks,
                  many_leaks),
        ),
        misconceptions={
            "padding_named_too": lambda mask, ids: where(mask & (ids[:, None] != ids)),
            "pairs_turned": lambda mask, ids: [
                (key, query) for query, key in where(_crossing(mask, ids))
            ],
            "only_keys_before": lambda mask, ids: where(
                _crossing(mask, ids) & causal_mask(len(ids))
            ),
            "next_documents_only": lambda mask, ids: where(
                _crossing(mask, ids) & ((ids[:, None] - ids).abs() == 1)
                & causal_mask(len(ids))
            ),
            "mask_ignored": lambda mask, ids: where(_crossing(torch.ones_like(mask), ids)),
        },
    ),
)  # fmt: skip
