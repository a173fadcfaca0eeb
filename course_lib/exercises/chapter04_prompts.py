"""Exercise 4.1: train on answers only."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.padding import pad_documents
from course_lib.targets import (
    mask_prompts,
)
from course_lib.vocabulary import IGNORE_INDEX

LABELS = Numbers("labels", "int", ("row", "slot"))


def _completion(labels: Tensor, prompt_lengths: Tensor) -> Tensor:
    documents = -(labels == IGNORE_INDEX).long()
    return mask_prompts(labels, documents, [[int(n)] for n in prompt_lengths])


def _lengths_plus(step: int) -> Callable[[Tensor, Tensor], Tensor]:
    """The mask of someone who takes each prompt for `step` tokens longer than it is."""

    def wrong(labels: Tensor, prompt_lengths: Tensor) -> Tensor:
        sizes = (labels != IGNORE_INDEX).sum(1).tolist()
        moved = [
            min(max(int(n) + step, 0), s) for n, s in zip(prompt_lengths, sizes, strict=True)
        ]
        return _completion(labels, moved)

    return wrong


def _answers_off(labels: Tensor, prompt_lengths: Tensor) -> Tensor:
    return labels.where(_completion(labels, prompt_lengths) == IGNORE_INDEX, IGNORE_INDEX)


def _prompts_zero(labels: Tensor, prompt_lengths: Tensor) -> Tensor:
    return labels.masked_fill(_completion(labels, prompt_lengths) != labels, 0)


def _one_length(labels: Tensor, prompt_lengths: Tensor) -> Tensor:
    sizes = (labels != IGNORE_INDEX).sum(1).tolist()
    return _completion(labels, [min(int(prompt_lengths[0]), size) for size in sizes])


def _with_prompts(rng: random.Random) -> Args:
    return _prompts_of(rng, cases.documents(rng))


def _many_with_prompts(rng: random.Random) -> Args:
    return _prompts_of(rng, cases.many_documents(rng))


def _prompts_of(rng: random.Random, rows: list[list[int]]) -> Args:
    lengths = [rng.randint(0, len(row)) for row in rows]
    return pad_documents(rows).labels, torch.tensor(lengths)


def _answers_kept(value: Any, labels: Tensor, prompt_lengths: Tensor) -> str:
    kept = (numbers(value) != IGNORE_INDEX).sum(1)
    right = (labels != IGNORE_INDEX).sum(1).tolist()
    for row, n in enumerate(prompt_lengths.tolist()):
        if kept[row] != right[row] - n:
            return f"row {row} has {right[row] - n} answer tokens; {kept[row]} labels are left"
    return ""


def _tensor(*lengths: int) -> Tensor:
    return torch.tensor(lengths)


EXERCISES = (
    Exercise(
        id="4.1",
        title="Mask the prompts",
        objective="Train on answers only.",
        minutes=8,
        difficulty="easy",
        chapter=4,
        idea="a label is switched off in the slot of its own token; the shift comes later.",
        prompt="Each row holds one document, padded on the right, that begins with a prompt. "
        "Return labels with -100 on each prompt. The first token of the answer stays a target.",
        stub="def mask_prompts(labels, prompt_lengths):\n"
        '    """[B, T], [B] -> labels [B, T]"""\n    ...',
        hints=(
            "which slots does a prompt of length n occupy, counted from 0?",
            "is the first answer token predicted from a prompt slot? Which label says so?",
            "row by row: a copy of the labels, then -100 on the first n slots.",
        ),
        returns=LABELS,
        reference=_completion,
        checks=(
            Exact(
                "two chats, a row without a prompt, a row that is all prompt",
                lambda: [
                    (cases.rectangle([[5, 1, 6, 2, 4], [5, 3, 6, 4, -100]]), _tensor(3, 2)),
                    (cases.rectangle([[1, 2, 4], [2, 3, 4]]), _tensor(0, 3)),
                ],
            ),
            Property("every answer token keeps its label", _with_prompts, _answers_kept),
            Random("20 random batches", _with_prompts),
            Edges(
                "one slot, ids of 0, and large batches",
                lambda: [
                    (cases.rectangle([[3]]), _tensor(0)),
                    (cases.rectangle([[3]]), _tensor(1)),
                    (cases.rectangle([[0, 0, 2], [1, 0, IGNORE_INDEX]]), _tensor(1, 0)),
                ],
                _many_with_prompts,
            ),
        ),
        misconceptions={
            "first_answer_masked": _lengths_plus(1),
            "last_prompt_scored": _lengths_plus(-1),
            "answers_masked": _answers_off,
            "zero_for_ignored": _prompts_zero,
            "one_length_for_all": _one_length,
            "prompts_scored": lambda labels, prompt_lengths: labels,
        },
        own=("targets.mask_prompts", "padding.pad_documents"),
    ),
)
