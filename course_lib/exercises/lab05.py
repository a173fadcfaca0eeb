"""Exercise L5.1: name the fault of each broken collator; L5.2, to repair one, stands beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import lab05_repair
from course_lib.exercises.checks import Exact
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One
from course_lib.exercises.hunt import CAPACITY, COLLATORS, SETS, Collator, Documents
from course_lib.vocabulary import EOS, IGNORE_INDEX

TRACES: dict[str, Callable[[dict[str, Any], Documents, int], bool]] = {
    "labels are shifted twice": lambda out, documents, pad_id: _all_scored_on_next(out),
    "padding may be attended to": lambda out, documents, pad_id: (
        out["attention_mask"].sum().item() > sum(min(len(d), CAPACITY) for d in documents)
    ),
    "padding is scored": lambda out, documents, pad_id: bool(
        (out["labels"] != IGNORE_INDEX)[out["attention_mask"] == 0].any()
    ),
    "real EOS are no targets": lambda out, documents, pad_id: bool(
        (out["labels"] == IGNORE_INDEX)[_real_ends(out)].any()
    ),
    "positions run on": lambda out, documents, pad_id: bool(
        (out["position_ids"][_later_starts(out)] != 0).any()
    ),
    "answers are cut off": lambda out, documents, pad_id: (
        "document_ids" not in out and _real_ends(out).sum().item() < len(documents)
    ),
    "the last tokens are lost": lambda out, documents, pad_id: (
        "document_ids" in out and _real_ends(out).sum().item() < len(documents)
    ),
    "the count is too large": lambda out, documents, pad_id: (
        out["num_items_in_batch"] > (out["labels"][:, 1:] != IGNORE_INDEX).sum().item()
    ),
}
"""What each fault looks like in what a collator returns; no letter stands beside it."""


def _all_scored_on_next(out: dict[str, Any]) -> bool:
    labels = out["labels"][:, :-1]
    hits = (labels == out["input_ids"][:, 1:])[labels != IGNORE_INDEX]
    return bool(hits.numel() and hits.all())


def _real_ends(out: dict[str, Any]) -> Tensor:
    return (out["input_ids"] == EOS) & (out["attention_mask"] == 1)


def _later_starts(out: dict[str, Any]) -> Tensor:
    """Where a later document of a row begins, known by the EOS before it."""
    starts = torch.zeros_like(out["attention_mask"], dtype=torch.bool)
    starts[:, 1:] = _real_ends(out)[:, :-1]
    return starts & (out["attention_mask"] == 1)


def _fault(collate: Collator) -> str:
    """Return the word for what a collator does wrong on some documents, seen by running it."""
    tries = [(d, prompts, pad_id) for d, prompts in SETS.values() for pad_id in (0, EOS)]
    for word, shows in TRACES.items():
        if any(shows(collate(d, n, pad_id), d, pad_id) for d, n, pad_id in tries):
            return word
    raise AssertionError(f"{collate} shows no fault")


FAULTS = {name: _fault(collate) for name, collate in COLLATORS.items()}
WORDS = tuple(sorted([*FAULTS.values(), "prompts are scored", "labels are not shifted",
                      "documents come out twice", "the future is visible"]))  # fmt: skip


def _swapped(one: str, other: str) -> Callable[[], dict[str, str]]:
    return lambda: FAULTS | {one: FAULTS[other], other: FAULTS[one]}


EXERCISES = (
    Exercise(
        id="L5.1",
        title="Eight collators",
        objective="Recognise a fault of a collator in what it returns.",
        minutes=25,
        difficulty="hard",
        chapter=7,
        idea="each fault leaves a trace in the tensors, on the right input.",
        prompt="Each of the collators A to H has one fault. Name it with one of the given words; "
        "four of them fit no collator.",
        stub="faults = {\n" + "".join(f'    "{name}": ...,\n' for name in FAULTS) + "}",
        hints=(
            "some faults show on one set of documents only, or only when padding has EOS's id.",
            "compare labels with input_ids slot by slot, then attention_mask with the padding.",
            "count: tokens in and out, targets and num_items_in_batch, rows without a target.",
        ),
        returns=Fields({name: One(name, "word", WORDS) for name in FAULTS}),
        reference=lambda: dict(FAULTS),
        checks=(Exact("eight collators, eight faults"),),
        misconceptions={
            "eos_and_pads_swapped": _swapped("C", "D"),
            "padding_read_or_scored": _swapped("B", "D"),
            "cut_or_lost": _swapped("F", "G"),
            "two_shifts_or_none": lambda: FAULTS | {"A": "labels are not shifted"},
            "no_prompts_to_score": lambda: FAULTS | {"H": "prompts are scored"},
            "future_for_positions": lambda: FAULTS | {"E": "the future is visible"},
        },
        given=lambda: {"words": list(WORDS)},
    ),
    *lab05_repair.EXERCISES,
)  # fmt: skip
