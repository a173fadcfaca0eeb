"""Exercises 7.2 and 7.3: slots whose label is wrong."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.cases_faults import (
    eos_erased,
    many_eos_erased,
    many_padding_labelled,
    padding_labelled,
)
from course_lib.exercises.checks import Edges, Exact, Property, Random
from course_lib.exercises.containers import Places, places
from course_lib.exercises.detectors import SLOTS, detector, where
from course_lib.vocabulary import EOS, IGNORE_INDEX


def _real_named(value: Any, input_ids: Tensor, labels: Tensor, attention_mask: Tensor) -> str:
    for row, slot in places(value, labels.shape):
        if attention_mask[row, slot]:
            return f"slot ({row}, {slot}) holds a real token"
    return ""


def _padding_named(value: Any, input_ids: Tensor, labels: Tensor, attention_mask: Tensor,
                   eos_id: int) -> str:
    for row, slot in places(value, labels.shape):
        if not attention_mask[row, slot]:
            return f"slot ({row}, {slot}) is padding; its label is -100 rightly"
    return ""  # fmt: skip


EXERCISES = (
    detector(
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
        reference=lambda ids, labels, real: where((real == 0) & (labels != IGNORE_INDEX)),
        checks=(
            Exact(
                "labels that leak, labels that do not, a real token with id 0",
                lambda: [
                    tuple(map(cases.rectangle, ([[1, 2, 0]], [[1, 2, 0]], [[1, 1, 0]]))),
                    tuple(map(cases.rectangle, ([[1, 2, 0]], [[1, 2, -100]], [[1, 1, 0]]))),
                    tuple(map(cases.rectangle, ([[1, 0, 0]], [[1, 0, -100]], [[1, 1, 0]]))),
                ],
            ),
            Property("no real token is named", padding_labelled, _real_named),
            Random("20 random batches", padding_labelled),
            Edges(
                "one slot, padding inside a row, labels of other ids, and large batches",
                lambda: [
                    tuple(map(cases.rectangle, ([[3]], [[3]], [[1]]))),
                    tuple(map(cases.rectangle, ([[0]], [[0]], [[0]]))),
                    tuple(map(cases.rectangle, ([[1, 0]], [[1, 5]], [[1, 0]]))),
                    tuple(map(cases.rectangle, ([[1, 0, 0]], [[1, 5, 0]], [[1, 0, 1]]))),
                ],
                many_padding_labelled,
            ),
        ),
        misconceptions={
            "pad_by_id": lambda ids, labels, real: where((ids == 0) & (labels != IGNORE_INDEX)),
            "all_padding_named": lambda ids, labels, real: where(real == 0),
            "prediction_named": lambda ids, labels, real: [
                (row, slot - 1) for row, slot in where((real == 0) & (labels != IGNORE_INDEX))
            ],
            "mask_inverted": lambda ids, labels, real: where(real == 1),
        },
    ),
    detector(
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
        reference=lambda ids, labels, real, eos: where(
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
            Property("no padding is named", eos_erased, _padding_named),
            Random("20 random batches", eos_erased),
            Edges(
                "one slot, padding on the left, EOS with other ids, and large batches",
                lambda: [
                    (*map(cases.rectangle, ([[4, 1, 4]], [[-100, 1, -100]], [[1, 1, 1]])), 1),
                    (*map(cases.rectangle, ([[2]], [[-100]], [[1]])), 2),
                    (*map(cases.rectangle, ([[0, 0]], [[-100, -100]], [[0, 1]])), 0),
                ],
                many_eos_erased,
            ),
        ),
        misconceptions={
            "padding_named_too": lambda ids, labels, real, eos: where(
                (ids == eos) & (labels == IGNORE_INDEX)
            ),
            "every_eos_named": lambda ids, labels, real, eos: where((ids == eos) & (real == 1)),
            "every_ignored_named": lambda ids, labels, real, eos: where(
                (real == 1) & (labels == IGNORE_INDEX)
            ),
            "looks_in_labels": lambda ids, labels, real, eos: where(labels == eos),
        },
    ),
)  # fmt: skip
