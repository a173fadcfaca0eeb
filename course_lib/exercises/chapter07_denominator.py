"""The fifth detector: which count was a reported loss divided by?"""

from __future__ import annotations

import random

from torch import Tensor

from course_lib.boundaries import document_starts
from course_lib.exercises import cases
from course_lib.exercises.cases_faults import rows_under_b
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One
from course_lib.vocabulary import IGNORE_INDEX

WORDS = ("targets", "boundaries", "predictions", "other")


def _counts(labels: Tensor, document_ids: Tensor) -> dict[str, int]:
    """The three denominators, in the order in which they are tried."""
    targets = labels[:, 1:] != IGNORE_INDEX
    switched_off = document_starts(document_ids)[:, 1:] & ~targets
    count = int(targets.sum())
    return {
        "targets": count,
        "boundaries": count + int(switched_off.sum()),
        "predictions": targets.numel(),
    }


def _divided_by(reported: float, losses: Tensor, counts: dict[str, int]) -> str:
    total = losses.double().sum().item()
    near = (word for word, n in counts.items() if abs(total / n - reported) < 1e-5)
    return next(near, "other")


def _word(reported: float, losses: Tensor, labels: Tensor, document_ids: Tensor) -> str:
    return _divided_by(reported, losses, _counts(labels, document_ids))


def _row_starts_too(reported: float, losses: Tensor, labels: Tensor, document_ids: Tensor) -> str:
    counts = _counts(labels, document_ids)
    counts["boundaries"] += len(labels)
    return _divided_by(reported, losses, counts)


def _slots(reported: float, losses: Tensor, labels: Tensor, document_ids: Tensor) -> str:
    counts = _counts(labels, document_ids) | {"predictions": labels.numel()}
    return _divided_by(reported, losses, counts)


def _all_labels(reported: float, losses: Tensor, labels: Tensor, document_ids: Tensor) -> str:
    """Counts labels before the shift, so that row starts are targets."""
    counts = _counts(labels, document_ids)
    counts["targets"] = int((labels != IGNORE_INDEX).sum())
    return _divided_by(reported, losses, counts)


def _case(layouts: list[list[int]], width: int, by: str, rng: random.Random) -> Args:
    """Packed rows under B, and a loss reported with the denominator `by`."""
    losses, labels, ids = rows_under_b(rng, layouts, width)
    counts = _counts(labels, ids) | {"other": labels.numel() + 1}
    return losses.double().sum().item() / counts[by], losses, labels, ids


def _random(rng: random.Random) -> Args:
    """At least one boundary and one slot of padding, so that the three counts differ."""
    layouts = [[rng.randint(2, 4), *cases.lengths(rng)] for _ in range(rng.randint(1, 3))]
    return _case(layouts, max(map(sum, layouts)) + 1, rng.choice(WORDS), rng)


def _many(rng: random.Random) -> Args:
    layouts = [cases.many_lengths(rng, 24, 1) for _ in range(cases.many(rng))]
    return _case(layouts, max(map(sum, layouts)) + 1, rng.choice(WORDS), rng)


def _counts_that_agree() -> list[Args]:
    """One document, with and without padding: some denominators are the same number."""
    rng = random.Random("7.5")
    sizes = ([[2]], 2, "predictions"), ([[5]], 5, "boundaries"), ([[5], [3]], 6, "predictions")
    return [_case(*size, rng) for size in sizes]


def _small() -> list[Args]:
    return [_case([[4, 3]], 8, by, random.Random("7.5")) for by in WORDS]


def _too_small_a_mean(value: str, reported: float, losses: Tensor, labels: Tensor,
                      document_ids: Tensor) -> str:
    mean = losses.double().sum().item() / _counts(labels, document_ids)["targets"]
    if value == "targets" and reported < mean - 1e-5:
        return f"the mean over targets is {mean:.6g}, and less was reported"
    return ""  # fmt: skip


DENOMINATOR = Exercise(
    id="7.5",
    title="Which count was divided by?",
    objective="Recognise a denominator that does not fit the boundary convention.",
    minutes=15,
    difficulty="hard",
    chapter=7,
    idea="under B the boundary labels are in no sum; they must not be in the count either.",
    prompt="The labels follow convention B; `losses` are 0 where nothing is scored. Say what the "
    "reported loss was divided by: 'targets' (right), 'boundaries' (targets, and the boundary "
    "tokens that B switched off), 'predictions' (B·(T-1)), or 'other'. Agreement to 1e-5 counts.",
    stub="def denominator(reported, losses, labels, document_ids):\n"
    '    """float, [B, T-1], [B, T], [B, T] -> one word"""\n    ...',
    hints=(
        "the sum of losses is the same in all four; only the count differs.",
        "a boundary: a slot behind the first, with another document than its left neighbour.",
        "try the counts in the order of the words and take the first that gives the loss.",
    ),
    returns=One("the denominator", "word", WORDS),
    reference=_word,
    checks=(
        Exact("the lesson's row with each denominator", _small),
        Property("a loss below the token mean was not divided by targets", _random,
                 _too_small_a_mean),
        Random("40 random packed batches", _random, 40),
        Edges("one document, counts that agree, and large batches", _counts_that_agree, _many, 6),
    ),
    misconceptions={
        "always_fine": lambda *args: "targets",
        "row_starts_counted": _row_starts_too,
        "slots_for_predictions": _slots,
        "labels_counted_unshifted": _all_labels,
        "boundaries_unknown": lambda reported, losses, labels, ids: _word(
            reported, losses, labels, ids.clamp(max=0)
        ),
    },
)  # fmt: skip

