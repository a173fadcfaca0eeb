"""Exercises of chapter 2: which logit is scored on which label."""

from __future__ import annotations

import random
from typing import Any

from torch import Tensor

from course_lib.exercises import cases, chapter02_double
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Items, Places, parts
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.padding import pad_documents
from course_lib.vocabulary import IGNORE_INDEX, encode

ROW = encode("a c b a <eos>")


def _pairs(step: int = 1) -> list[tuple[int, int]]:
    """Pairs of the row if each position were scored `step` slots to its right."""
    return [(t, ROW[t + step]) for t in range(len(ROW)) if 0 <= t + step < len(ROW)]


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


def _single_slots() -> list[Args]:
    rng = random.Random("2.2")
    return [
        (cases.floats(rng, *labels.shape, 5), labels)
        for labels in map(cases.rectangle, ([[3]], [[3], [IGNORE_INDEX]], [[3, IGNORE_INDEX]]))
    ]


def _many_logits(rng: random.Random) -> Args:
    labels = pad_documents(cases.many_documents(rng)).labels
    labels = labels.masked_fill(cases.coins(rng, *labels.shape, 0.1), IGNORE_INDEX)
    return cases.floats(rng, *labels.shape, 3), labels


def _not_next(value: Any, logits: Tensor, labels: Tensor) -> str:
    kept = numbers(parts(value)[1])
    if kept.shape[1] and (kept[:, 0] != labels[:, 1].numpy()).any():
        return "the first logits that are kept must be scored on the second label of the row"
    return ""


EXERCISES = (
    *chapter02_double.EXERCISES,
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
            "missing_shift_short": lambda: _pairs(0)[:-1],
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
        "one that nothing predicts. Change neither argument. A row of one slot leaves nothing.",
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
            Edges("rows of one slot, and large batches", _single_slots, _many_logits),
        ),
        misconceptions={
            "missing_shift": lambda logits, labels: (logits[:, :-1], labels[:, :-1]),
            "shift_backwards": lambda logits, labels: (logits[:, 1:], labels[:, :-1]),
            "double_shift": lambda logits, labels: (logits[:, :-2], labels[:, 2:]),
            "both_lose_the_first": lambda logits, labels: (logits[:, 1:], labels[:, 1:]),
            "nothing_dropped": lambda logits, labels: (logits, labels),
            "results_swapped": lambda logits, labels: (labels[:, 1:], logits[:, :-1]),
            "shifts_rows": lambda logits, labels: (logits[:-1], labels[1:]),
            "wraps_around": lambda logits, labels: (logits, labels.roll(-1, 1)),
        },
        own=("loss.shift",),
    ),
)
