"""Exercises 14.2 to 14.4: the tasks of the exit check, typed; the packed row is exercise 5.7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course_lib.batch import Batch
from course_lib.decoder import TinyDecoder
from course_lib.exercises.checks import Exact
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, One
from course_lib.padding import pad_documents
from course_lib.vocabulary import IGNORE_INDEX

DOCUMENTS, PAD_ID = [[1, 2], [3], [4, 5, 6]], 0
VERDICTS = ("right", "copies", "pads")
PIECES = ["The", " capital", " of", " France", " is"]
WIDTH = 4


# --- 14.2


def _padded(side: str = "right") -> dict[str, Any]:
    batch = pad_documents(DOCUMENTS, pad_id=PAD_ID, side=side)
    names = ("input_ids", "attention_mask", "labels")
    return {name: getattr(batch, name).tolist() for name in names} | {
        "targets": batch.labels[:, 1:].tolist(), "count": batch.num_targets}  # fmt: skip


def _padded_but(**changed: Callable[[torch.Tensor], Any]) -> Callable[[], dict[str, Any]]:
    """The right answer with some of its parts changed."""

    def answer() -> dict[str, Any]:
        right = _padded()
        made = {name: change(torch.tensor(right[name])) for name, change in changed.items()}
        return right | {n: v.tolist() if isinstance(v, torch.Tensor) else v
                        for n, v in made.items()}  # fmt: skip

    return answer


def _left(labels: torch.Tensor) -> torch.Tensor:
    """Labels moved one slot to the left."""
    return torch.nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORE_INDEX)


# --- 14.3


def _verdicts(**changed: str) -> dict[str, str]:
    """What each label set-up does, read off the slots that it scores."""
    batch = pad_documents(DOCUMENTS, pad_id=PAD_ID)
    setups = {"a": (batch.input_ids, 1), "b": (batch.labels, 0), "c": (batch.labels, 1)}
    return {name: _verdict(batch, *setup) for name, setup in setups.items()} | changed


def _verdict(batch: Batch, labels: torch.Tensor, moved: int) -> str:
    scored = labels[:, moved:] != IGNORE_INDEX
    if (scored & (batch.attention_mask[:, moved:] == 0)).any():
        return "pads"
    return "right" if moved else "copies"


# --- 14.4


def _prompt(**changed: Any) -> dict[str, Any]:
    """Shapes, sampled column, number of terms and first pair of the prompt."""
    batch = pad_documents([list(range(len(PIECES)))])
    stream = TinyDecoder().look(batch.input_ids).hidden[-1]
    return {
        "input_ids": list(batch.input_ids.shape),
        "after_a_block": list(stream.shape),
        "sampled_column": batch.num_slots - 1,
        "terms": batch.num_targets,
        "first_pair": [0, int(batch.labels[0, 1])],
    } | changed


EXERCISES = (
    Exercise(
        id="14.2",
        title="Three rows on paper",
        objective="Write a padded batch, its labels, the targets after the shift, and count them.",
        minutes=6,
        difficulty="easy",
        chapter=14,
        idea="labels copy the ids, padding is -100, and only the loss shifts.",
        prompt="Pad the documents on the right to the longest of them. Write the three tensors, "
        "then what the loss compares its logits with, and how many predictions are scored.",
        stub="padded = {\n"
        '    "input_ids": ...,\n    "attention_mask": ...,\n    "labels": ...,\n'
        '    "targets": ...,         # labels[:, 1:]\n    "count": ...,\n}',
        hints=(
            "all rows are as long as the longest document; the other two get pad ids.",
            "labels are the ids, but for the padding: -100 there.",
            "cut the first column off the labels, and count what is not -100.",
        ),
        returns=Fields(
            {
                "input_ids": Numbers("input_ids", "int", ("row", "slot")),
                "attention_mask": Numbers("attention_mask", "int", ("row", "slot"), digits=True),
                "labels": Numbers("labels", "int", ("row", "slot")),
                "targets": Numbers("targets", "int", ("row", "column")),
                "count": One("count"),
            }
        ),
        reference=_padded,
        checks=(Exact("three tensors, the targets and their number"),),
        misconceptions={
            "pads_left": lambda: _padded("left"),
            "mask_inverted": _padded_but(attention_mask=lambda mask: 1 - mask),
            "all_ones": _padded_but(attention_mask=torch.ones_like),
            "pad_target": _padded_but(labels=lambda x: x.masked_fill(x == IGNORE_INDEX, PAD_ID)),
            "collator_shifts": _padded_but(labels=_left),
            "double_shift": _padded_but(targets=_left),
            "counts_real_tokens": _padded_but(count=lambda _: sum(map(len, DOCUMENTS))),
            "counts_slots": _padded_but(count=lambda _: len(DOCUMENTS) * max(map(len, DOCUMENTS))),
        },
        given=lambda: {"documents": [list(d) for d in DOCUMENTS], "pad_id": PAD_ID},
    ),
    Exercise(
        id="14.3",
        title="Three set-ups",
        objective="Tell a right set-up of labels from two that fail, and say how they fail.",
        minutes=4,
        difficulty="easy",
        chapter=14,
        idea="labels are a copy with -100 on padding, and the loss shifts once.",
        prompt="(a) labels are the input ids, padding included, and the loss shifts; (b) padding "
        "is -100, and nobody shifts; (c) padding is -100, and the loss compares logits[:, :-1] "
        "with labels[:, 1:]. What does each make of the model? 'pads': it learns to write "
        "padding. 'copies': it learns to repeat what it has read. 'right': the next token.",
        stub='verdicts = {"a": ..., "b": ..., "c": ...}',
        hints=(
            "take the row a b <pad> and write down what slot 1 is scored on, three times.",
            "a label of 0 is a real id; -100 is left out.",
            "without a shift, the logits of a slot meet the token of the same slot.",
        ),
        returns=Fields({name: One(name, "word", VERDICTS) for name in "abc"}),
        reference=_verdicts,
        checks=(Exact("the three set-ups"),),
        misconceptions={
            "always_fine": lambda: _verdicts(a="right", b="right"),
            "pad_target": lambda: _verdicts(a="right"),
            "missing_shift": lambda: _verdicts(b="right"),
            "loss_shift_is_the_fault": lambda: _verdicts(c="copies"),
        },
    ),
    Exercise(
        id="14.4",
        title="The capital of France",
        objective="Follow five tokens from text to loss terms.",
        minutes=5,
        difficulty="easy",
        chapter=14,
        idea="T tokens keep their T columns through every block and give T - 1 loss terms.",
        prompt="The tokens are one prompt. Give the shape [B, T] of input_ids; the shape [B, T, d] "
        "of the residual stream behind a block of width 4; the column (from 0) whose logits are "
        "sampled for the next word; the number of loss terms if the prompt is a training row; and "
        "for the first term the slots [read last, scored on].",
        stub="prompt = {\n"
        '    "input_ids": ...,         # [B, T]\n    "after_a_block": ...,     # [B, T, d]\n'
        '    "sampled_column": ...,\n    "terms": ...,\n    "first_pair": ...,\n}',
        hints=(
            "one prompt is a batch of one row.",
            "a block adds to the vectors; it neither makes nor removes any.",
            "the last column has read everything. In training it has nothing to be scored on.",
        ),
        returns=Fields(
            {
                "input_ids": Numbers("input_ids", "int", ("axis",)),
                "after_a_block": Numbers("after_a_block", "int", ("axis",)),
                "sampled_column": One("sampled_column"),
                "terms": One("terms"),
                "first_pair": Numbers("first_pair", "int", ("side",)),
            }
        ),
        reference=_prompt,
        checks=(Exact("shapes, column, terms and first pair"),),
        misconceptions={
            "last_position_scored": lambda: _prompt(terms=len(PIECES)),
            "missing_shift": lambda: _prompt(first_pair=[0, 0]),
            "double_shift": lambda: _prompt(first_pair=[0, 2]),
            "shift_backwards": lambda: _prompt(first_pair=[1, 0]),
        },
        given=lambda: {"tokens": list(PIECES), "width": WIDTH},
    ),
)
