"""Exercise 2.3: is this batch shifted once or twice?"""

from __future__ import annotations

import random

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One
from course_lib.padding import pad_documents
from course_lib.vocabulary import IGNORE_INDEX


def _twice(input_ids: Tensor, labels: Tensor, loss_shifts: bool) -> bool:
    """Whether labels stand one slot early already and the loss moves them again."""
    scored = labels[:, :-1] != IGNORE_INDEX
    early = (labels[:, :-1] == input_ids[:, 1:])[scored]
    return bool(loss_shifts and early.numel() and early.all())


def _any_agrees(input_ids: Tensor, labels: Tensor, loss_shifts: bool) -> bool:
    scored = labels[:, :-1] != IGNORE_INDEX
    return bool(loss_shifts and (labels[:, :-1] == input_ids[:, 1:])[scored].any())


def _with_ignored(input_ids: Tensor, labels: Tensor, loss_shifts: bool) -> bool:
    return bool(loss_shifts and (labels[:, :-1] == input_ids[:, 1:]).all())


def _early(labels: Tensor) -> Tensor:
    return torch.nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORE_INDEX)


def _shifted_or_not(rng: random.Random) -> Args:
    """A batch whose tokens differ from their neighbours, so that no two answers are right."""
    rows = [_no_repeat(rng, rng.randint(3, 6)) for _ in range(rng.randint(1, 3))]
    batch = pad_documents(rows)
    labels = batch.labels
    if cases.coin(rng):
        labels = _early(labels)
    return batch.input_ids, labels, cases.coin(rng, 0.7)


def _no_repeat(rng: random.Random, length: int) -> list[int]:
    """Ids from 1 to 6, each another one than its neighbour."""
    row = [rng.randint(1, 6)]
    for step in [rng.randint(1, 5) for _ in range(length - 1)]:
        row.append((row[-1] - 1 + step) % 6 + 1)
    return row


def _many_shifted_or_not(rng: random.Random) -> Args:
    """The same with long rows of large ids, and labels of -100 here and there."""
    rows = [[n * 1000 for n in _no_repeat(rng, k)] for k in cases.many_lengths(rng)]
    batch = pad_documents(rows)
    ignored = cases.coins(rng, *batch.labels.shape, 0.3)
    labels = batch.labels.masked_fill(ignored, IGNORE_INDEX)
    return batch.input_ids, _early(labels) if cases.coin(rng) else labels, True


def _nothing_scored() -> list[Args]:
    """Batches in which no label can tell, and a copy that stands early but at one place."""
    one, three = cases.rectangle([[3]]), cases.rectangle([[1, 2, 3]])
    long = cases.rectangle([[1] * 39 + [2]])
    return [
        (one, one.clone(), True),
        (one, torch.full_like(one, IGNORE_INDEX), True),
        (three, torch.full_like(three, IGNORE_INDEX), True),
        (long, long.clone(), True),
    ]


def _small_batches() -> list[Args]:
    rows = cases.rectangle([[1, 2, 3, 4]])
    padded = pad_documents([[1, 2, 3], [3, 1]], length=5)
    repeats = cases.rectangle([[1, 1, 1, 2]])
    prompt = cases.rectangle([[-100, -100, 1, 4]])
    return [
        (rows, rows.clone(), True),
        (rows, _early(rows), True),
        (rows, _early(rows), False),
        (rows, rows.clone(), False),
        (padded.input_ids, padded.labels, True),
        (padded.input_ids, _early(padded.labels), True),
        (cases.rectangle([[5, 6, 1, 4]]), prompt, True),
        (cases.rectangle([[5, 6, 1, 4]]), _early(prompt), True),
        (repeats, repeats.clone(), True),
    ]


EXERCISES = (
    Exercise(
        id="2.3",
        title="Detect a double shift",
        objective="Tell from a batch whether its labels are shifted once or twice.",
        minutes=10,
        difficulty="medium",
        chapter=2,
        idea="the shift is done once, in the loss; labels that stand one slot early are shifted.",
        prompt="Return True if the labels of the batch are shifted already and the loss shifts "
        "again, else False. Labels of -100 tell nothing.",
        stub="def is_double_shift(input_ids, labels, loss_shifts):\n"
        '    """[B, T], [B, T], bool -> bool"""\n    ...',
        hints=(
            "in a row of unlike tokens, where does the label of a token stand if nobody shifted?",
            "compare each label with the id one slot to its right; leave out labels of -100.",
            "one repeated token can agree by chance: ask whether all of them agree.",
        ),
        returns=One("is_double_shift", "bool"),
        reference=_twice,
        checks=(
            Exact("nine small batches, once, twice and never shifted", _small_batches),
            Property(
                "never True when the loss does not shift",
                lambda rng: (*_shifted_or_not(rng)[:2], False),
                lambda value, *_: "labels shifted once, by the collator, are right" * value,
            ),
            Random("40 random batches", _shifted_or_not, 40),
            Edges("batches that tell nothing or little, and large ones", _nothing_scored,
                  _many_shifted_or_not, 6),
        ),
        misconceptions={
            "ignores_the_loss": lambda ids, labels, _: _twice(ids, labels, True),
            "always_fine": lambda *_: False,
            "loss_shift_is_the_fault": lambda ids, labels, loss_shifts: loss_shifts,
            "one_agreement_is_enough": _any_agrees,
            "ignored_labels_compared": _with_ignored,
            "unlike_the_ids": lambda ids, labels, loss: loss and not torch.equal(ids, labels),
        },
    ),
)  # fmt: skip
