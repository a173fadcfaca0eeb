"""Exercises of chapter 7: five detectors, each of which names the faulty places."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.chapter07_denominator import DENOMINATOR
from course_lib.exercises.checks import Args, Exact, Property, Random
from course_lib.exercises.containers import Places, places
from course_lib.exercises.exercise import Exercise
from course_lib.masks import causal_mask, document_mask
from course_lib.padding import pad_documents
from course_lib.vocabulary import EOS, IGNORE_INDEX

SLOTS = ("row", "slot")


def _where(mask: Tensor) -> list[tuple[int, ...]]:
    return [tuple(place) for place in mask.nonzero().tolist()]


def _nothing(*args: Any) -> list[tuple[int, ...]]:
    return []


# --- 7.1


def _two_ahead(input_ids: Tensor, targets: Tensor, differs: bool = True) -> Tensor:
    found = torch.zeros_like(targets, dtype=torch.bool)
    found[:, :-1] = targets[:, :-1] == input_ids[:, 2:]
    if differs:
        found &= targets != input_ids[:, 1:]
    return found


def _scored(rng: random.Random) -> Args:
    """Rows of which some are scored two ahead; their tokens repeat now and then."""
    rows = [cases.tokens(rng, rng.randint(3, 6), most=4) for _ in range(rng.randint(1, 4))]
    batch = pad_documents(rows)
    moved = torch.cat([batch.labels[:, 2:], torch.full((len(rows), 1), IGNORE_INDEX)], 1)
    twice = cases.coins(rng, len(rows), 1)
    return batch.input_ids, torch.where(twice, moved, batch.labels[:, 1:])


def _healthy_named(value: Any, input_ids: Tensor, targets: Tensor) -> str:
    for row, t in places(value, targets.shape):
        if targets[row, t] == input_ids[row, t + 1]:
            return f"prediction ({row}, {t}) is scored on the next token; that is no fault"
    return ""


# --- 7.2 and 7.3


def _labelled(rng: random.Random) -> Args:
    """A batch, padded right or left, in which some padding carries a label; id 0 may be real."""
    batch = pad_documents(cases.documents(rng, least=0), side=rng.choice(["right", "left"]))
    leak = cases.coins(rng, *batch.input_ids.shape, 0.4)
    labels = torch.where(leak & (batch.attention_mask == 0), batch.input_ids, batch.labels)
    return batch.input_ids, labels, batch.attention_mask


def _real_named(value: Any, input_ids: Tensor, labels: Tensor, attention_mask: Tensor) -> str:
    for row, slot in places(value, labels.shape):
        if attention_mask[row, slot]:
            return f"slot ({row}, {slot}) holds a real token"
    return ""


def _ending(rng: random.Random) -> Args:
    """Documents with EOS, padded with EOS, some labels of a real EOS switched off."""
    rows = [[*d, EOS] if cases.coin(rng, 0.8) else d for d in cases.documents(rng)]
    batch = pad_documents(rows, pad_id=EOS)
    lost = cases.coins(rng, *batch.input_ids.shape)
    prompt = cases.coins(rng, *batch.input_ids.shape, 0.2)
    eos = batch.input_ids == EOS
    labels = batch.labels.masked_fill(eos & lost | ~eos & prompt, IGNORE_INDEX)
    return batch.input_ids, labels, batch.attention_mask, EOS


def _padding_named(value: Any, input_ids: Tensor, labels: Tensor, attention_mask: Tensor,
                   eos_id: int) -> str:
    for row, slot in places(value, labels.shape):
        if not attention_mask[row, slot]:
            return f"slot ({row}, {slot}) is padding; its label is -100 rightly"
    return ""  # fmt: skip


# --- 7.4


def _crossing(mask: Tensor, document_ids: Tensor) -> Tensor:
    real = document_ids >= 0
    other = document_ids[:, None] != document_ids
    return mask & other & real[:, None] & real


def _leaky(rng: random.Random) -> Args:
    ids = cases.packed_ids(rng, 1)[0]
    mask = document_mask(ids)
    leak = rng.choice(["none", "causal", "some", "full"])
    if leak == "causal":
        mask = causal_mask(len(ids))
    elif leak == "some":
        mask = mask | cases.coins(rng, len(ids), len(ids), 0.15)
    elif leak == "full":
        mask = torch.ones_like(mask)
    return mask, ids


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


def _detector(number: int, misconceptions: dict[str, Callable], **fields: Any) -> Exercise:
    """An exercise of this chapter; whoever always answers [] is told so in each of them."""
    known = {"always_fine": _nothing, **misconceptions}
    return Exercise(id=f"7.{number}", chapter=7, misconceptions=known, **fields)


EXERCISES = (
    _detector(
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
        reference=lambda ids, targets: _where(_two_ahead(ids, targets)),
        checks=(
            Exact(
                "one row right, one shifted twice, one of equal tokens",
                lambda: [
                    (cases.rectangle([[1, 2, 3, 4]]), cases.rectangle([[2, 3, 4]])),
                    (cases.rectangle([[1, 2, 3, 4]]), cases.rectangle([[3, 4, -100]])),
                    (cases.rectangle([[1, 2, 2, 3]]), cases.rectangle([[2, 3, -100]])),
                ],
            ),
            Property("no healthy prediction is named", _scored, _healthy_named),
            Random("20 random batches", _scored),
        ),
        misconceptions={
            "equal_neighbours_named": lambda ids, t: _where(_two_ahead(ids, t, differs=False)),
            "next_token_named": lambda ids, targets: _where(targets == ids[:, 1:]),
            "target_slot_named": lambda ids, targets: [
                (row, t + 2) for row, t in _where(_two_ahead(ids, targets))
            ],
            "everything_else_named": lambda ids, targets: _where(
                (targets != ids[:, 1:]) & (targets != IGNORE_INDEX)
                | (targets == IGNORE_INDEX)
            ),
        },
    ),
    _detector(
        2,
        title="Find pads in the loss",
        objective="Name the padding that the loss scores.",
        minutes=8,
        difficulty="easy",
        idea="a slot is padding when attention_mask is 0 there, whatever its id.",
        prompt="Return the slots (row, slot) that are padding and carry a label. A real token may "
        "have id 0 as well.",
        stub="def pad_in_loss(input_ids, labels, attention_mask):\n"
        '    """all [B, T] -> list of (row, slot)"""\n    ...',
        hints=(
            "two conditions: one on attention_mask, one on labels.",
            "a label that counts is any label but -100.",
            "torch.nonzero, or two loops, turn a mask into a list of places.",
        ),
        returns=Places("places", SLOTS),
        reference=lambda ids, labels, real: _where((real == 0) & (labels != IGNORE_INDEX)),
        checks=(
            Exact(
                "labels that leak, labels that do not, a real token with id 0",
                lambda: [
                    tuple(map(cases.rectangle, ([[1, 2, 0]], [[1, 2, 0]], [[1, 1, 0]]))),
                    tuple(map(cases.rectangle, ([[1, 2, 0]], [[1, 2, -100]], [[1, 1, 0]]))),
                    tuple(map(cases.rectangle, ([[1, 0, 0]], [[1, 0, -100]], [[1, 1, 0]]))),
                ],
            ),
            Property("no real token is named", _labelled, _real_named),
            Random("20 random batches", _labelled),
        ),
        misconceptions={
            "pad_by_id": lambda ids, labels, real: _where((ids == 0) & (labels != IGNORE_INDEX)),
            "all_padding_named": lambda ids, labels, real: _where(real == 0),
            "prediction_named": lambda ids, labels, real: [
                (row, slot - 1) for row, slot in _where((real == 0) & (labels != IGNORE_INDEX))
            ],
            "mask_inverted": lambda ids, labels, real: _where(
                (real == 1) & (labels != IGNORE_INDEX)
            ),
        },
    ),
    _detector(
        3,
        title="Find erased EOS",
        objective="Name the real EOS tokens that are no targets.",
        minutes=8,
        difficulty="easy",
        idea="a real EOS whose label is -100 is a stop that is never learned.",
        prompt="EOS may be the pad as well. Return the slots (row, slot) of real EOS tokens whose "
        "label is -100.",
        stub="def eos_erased(input_ids, labels, attention_mask, eos_id):\n"
        '    """all [B, T] -> list of (row, slot)"""\n    ...',
        hints=(
            "three conditions: the id, the attention mask, the label.",
            "look for EOS in input_ids; in labels it is gone, that is the fault.",
            "padding with the same id has -100 rightly.",
        ),
        returns=Places("places", SLOTS),
        reference=lambda ids, labels, real, eos: _where(
            (ids == eos) & (real == 1) & (labels == IGNORE_INDEX)
        ),
        checks=(
            Exact(
                "EOS erased, EOS kept, a masked prompt",
                lambda: [
                    (*map(cases.rectangle, ([[1, 4, 4]], [[1, -100, -100]], [[1, 1, 0]])), EOS),
                    (*map(cases.rectangle, ([[1, 4, 4]], [[1, 4, -100]], [[1, 1, 0]])), EOS),
                    (*map(cases.rectangle, ([[5, 1, 4]], [[-100, 1, 4]], [[1, 1, 1]])), EOS),
                ],
            ),
            Property("no padding is named", _ending, _padding_named),
            Random("20 random batches", _ending),
        ),
        misconceptions={
            "padding_named_too": lambda ids, labels, real, eos: _where(
                (ids == eos) & (labels == IGNORE_INDEX)
            ),
            "every_eos_named": lambda ids, labels, real, eos: _where((ids == eos) & (real == 1)),
            "every_ignored_named": lambda ids, labels, real, eos: _where(
                (real == 1) & (labels == IGNORE_INDEX)
            ),
            "looks_in_labels": lambda ids, labels, real, eos: _where(labels == eos),
        },
    ),
    _detector(
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
        reference=lambda mask, ids: _where(_crossing(mask, ids)),
        checks=(
            Exact("causal only, a clean mask, three documents, single leaks", _small_masks),
            Property("every named pair is allowed by the mask", _leaky, _same_named),
            Random("20 random masks", _leaky),
        ),
        misconceptions={
            "padding_named_too": lambda mask, ids: _where(mask & (ids[:, None] != ids)),
            "pairs_turned": lambda mask, ids: [
                (key, query) for query, key in _where(_crossing(mask, ids))
            ],
            "only_keys_before": lambda mask, ids: _where(
                _crossing(mask, ids) & causal_mask(len(ids))
            ),
            "next_documents_only": lambda mask, ids: _where(
                _crossing(mask, ids) & ((ids[:, None] - ids).abs() == 1)
                & causal_mask(len(ids))
            ),
            "mask_ignored": lambda mask, ids: _where(_crossing(torch.ones_like(mask), ids)),
        },
    ),
    DENOMINATOR,
)  # fmt: skip
