"""Exercises of chapter 2: which logit is scored on which label, and how to see it done twice."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Exact, Property, Random
from course_lib.exercises.containers import Items, Places
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, One, numbers
from course_lib.padding import pad_documents
from course_lib.vocabulary import IGNORE_INDEX, encode

ROW = encode("a c b a <eos>")


def _pairs(step: int = 1) -> list[tuple[int, int]]:
    """Pairs of the row if each position were scored `step` slots to its right."""
    return [(t, ROW[t + step]) for t in range(len(ROW)) if 0 <= t + step < len(ROW)]


# --- 2.2


def _logits_and_labels(rng: random.Random) -> Args:
    rows = cases.documents(rng) + [cases.tokens(rng, rng.randint(2, 5))]
    labels = pad_documents(rows).labels
    return cases.floats(rng, *labels.shape, 7), labels


def _small_shift() -> list[Args]:
    rng = random.Random("2.2")
    return [
        (cases.floats(rng, *labels.shape, 5), labels)
        for labels in (cases.rectangle([[1, 2, 3, 4]]), pad_documents([[1, 2, 3], [1, 1]]).labels)
    ]


def _not_next(value: tuple, logits: Tensor, labels: Tensor) -> str:
    kept = numbers(value[1])
    if kept.shape[1] and (kept[:, 0] != labels[:, 1].numpy()).any():
        return "the first logits that are kept must be scored on the second label of the row"
    return ""


# --- 2.3


def _twice(input_ids: Tensor, labels: Tensor, loss_shifts: bool) -> bool:
    """Whether labels stand one slot early already and the loss moves them again."""
    scored = labels[:, :-1] != IGNORE_INDEX
    early = (labels[:, :-1] == input_ids[:, 1:])[scored]
    return bool(loss_shifts and early.numel() and early.all())


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
        id="2.1",
        title="Pairs of a row",
        objective="Name the target of each position of a row.",
        minutes=4,
        difficulty="easy",
        chapter=2,
        idea="the logits at position t are scored on the token at t+1; the last have no target.",
        prompt="Write every pair (position whose logits are scored, id that they are scored on) "
        "of the row a c b a <eos>.",
        stub="pairs = ...",
        hints=(
            "what has the model read at position 0, and which token comes next?",
            "how many positions have a token to their right?",
            "a pair joins a position with an id: (0, id at slot 1), and so on.",
        ),
        returns=Places("pairs", ("position", "target id")),
        reference=_pairs,
        checks=(Exact("the pairs of the row"),),
        misconceptions={
            "missing_shift": lambda: _pairs(0),
            "double_shift": lambda: _pairs(2),
            "shift_backwards": lambda: _pairs(-1),
            "names_the_target_slot": lambda: [(t + 1, i) for t, i in _pairs()],
            "last_position_scored": lambda: [*_pairs(), (len(ROW) - 1, IGNORE_INDEX)],
            "wraps_around": lambda: [*_pairs(), (len(ROW) - 1, ROW[0])],
        },
        given=lambda: {"row": list(ROW)},
    ),
    Exercise(
        id="2.2",
        title="Write shift",
        objective="Align T predictions with T-1 targets.",
        minutes=6,
        difficulty="easy",
        chapter=2,
        idea="drop the last logits and the first labels, so that column t meets label t+1.",
        prompt="Return the logits without those that have no target, and the labels without the "
        "one that nothing predicts. Change neither argument.",
        stub='def shift(logits, labels):\n    """[B, T, V], [B, T] -> [B, T-1, V], [B, T-1]"""\n'
        "    ...",
        hints=(
            "which position of a row has no next token in the row?",
            "which label stands before every prediction of the row?",
            "both are slices along axis 1; the batch axis stays whole.",
        ),
        returns=Items(
            (
                Numbers("logits", "float", ("row", "position", "token"), tensor=True),
                Numbers("targets", "int", ("row", "position"), tensor=True),
            ),
            ("logits", "targets"),
        ),
        reference=lambda logits, labels: (logits[:, :-1], labels[:, 1:]),
        checks=(
            Exact("a row of four tokens and the two-sequence preview", _small_shift),
            Property("column 0 meets label 1", _logits_and_labels, _not_next),
            Random("20 random padded batches", _logits_and_labels),
        ),
        misconceptions={
            "missing_shift": lambda logits, labels: (logits[:, :-1], labels[:, :-1]),
            "shift_backwards": lambda logits, labels: (logits[:, 1:], labels[:, :-1]),
            "double_shift": lambda logits, labels: (logits[:, :-2], labels[:, 2:]),
            "both_lose_the_first": lambda logits, labels: (logits[:, 1:], labels[:, 1:]),
            "nothing_dropped": lambda logits, labels: (logits, labels),
            "shifts_rows": lambda logits, labels: (logits[:-1], labels[1:]),
            "wraps_around": lambda logits, labels: (logits, labels.roll(-1, 1)),
        },
        own=("loss.shift",),
    ),
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
        ),
        misconceptions={
            "ignores_the_loss": lambda ids, labels, _: _twice(ids, labels, True),
            "always_fine": lambda *_: False,
            "loss_shift_is_the_fault": lambda ids, labels, loss_shifts: loss_shifts,
        },
    ),
)
