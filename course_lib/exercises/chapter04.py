"""Exercise 4.3, the account of a row; prompts and boundaries stand beside it."""

from __future__ import annotations

from typing import Any

import torch

from course_lib.exercises import chapter04_boundaries, chapter04_prompts
from course_lib.exercises.chapter04_boundaries import labelled_row
from course_lib.exercises.checks import Exact, Property
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.targets import (
    REASONS,
    make_ledger,
    mask_boundaries,
    mask_prompts,
    slot_reasons,
)
from course_lib.vocabulary import EOS, encode

CHAT = "<user> a <assistant> b <eos> <user> c <assistant> c b <eos> <pad>"
CHAT_LENGTHS, CHAT_PROMPTS = [5, 6], [3, 3]


def _chat_ledger(moved: dict[str, str] | None = None) -> dict[str, int]:
    """The ledger of the chat row; with `moved`, slots of one reason are counted as another."""
    labels, documents = labelled_row(CHAT, CHAT_LENGTHS)
    labels = mask_boundaries(mask_prompts(labels, documents, [CHAT_PROMPTS]), documents)
    ledger = make_ledger(labels, documents)
    counts = {name: getattr(ledger, name) for name in REASONS}
    for source, target in (moved or {}).items():
        counts[target] += counts[source]
        counts[source] = 0
    return counts


def _eos_no_target() -> dict[str, int]:
    counts = _chat_ledger()
    lost = encode(CHAT).count(EOS)
    return counts | {"targets": counts["targets"] - lost, "padding": counts["padding"] + lost}


def _convention_a_plain() -> dict[str, int]:
    """Everything real but the row start a target: prompts and boundaries forgotten."""
    labels, documents = labelled_row(CHAT, CHAT_LENGTHS)
    counts = torch.bincount(slot_reasons(labels, documents).flatten(), minlength=len(REASONS))
    return dict(zip(REASONS, counts.tolist(), strict=True))


def _not_all_slots(value: dict[str, Any]) -> str:
    total, slots = sum(scalar_of(n) for n in value.values()), len(encode(CHAT))
    if total == slots:
        return ""
    return f"the five counts add up to {total}, but the row has {slots} slots"


EXERCISES = (
    *chapter04_prompts.EXERCISES,
    *chapter04_boundaries.EXERCISES,
    Exercise(
        id="4.3",
        title="The ledger of a row",
        objective="Give every slot of a packed chat row its one reason.",
        minutes=6,
        difficulty="medium",
        chapter=4,
        idea="every slot counts once: targets, row starts, boundaries, prompts and padding add up.",
        prompt="Two chats share a row, each with a prompt of 3 tokens; only answers are trained "
        "on, under convention B. Count the slots of each kind. The first token of a later "
        "document counts as a boundary, not as a prompt; the first slot as the row's start.",
        stub='ledger = {\n    "targets": ...,\n    "row_starts": ...,\n    "boundaries": ...,\n'
        '    "prompts": ...,\n    "padding": ...,\n}',
        hints=(
            "write one letter under each token: t, s, b, p or x for padding.",
            "is an EOS behind an answer a target? Which slot predicts it?",
            "the five counts must add up to the number of slots.",
        ),
        returns=Fields({name: One(name) for name in REASONS}),
        reference=_chat_ledger,
        checks=(
            Property("the counts add up to the slots", lambda rng: (), _not_all_slots, 1),
            Exact("the five counts"),
        ),
        misconceptions={
            "boundary_as_prompt": lambda: _chat_ledger({"boundaries": "prompts"}),
            "row_start_as_prompt": lambda: _chat_ledger({"row_starts": "prompts"}),
            "row_start_as_target": lambda: _chat_ledger({"row_starts": "targets"}),
            "boundary_as_target": lambda: _chat_ledger({"boundaries": "targets"}),
            "eos_no_target": _eos_no_target,
            "prompts_scored": _convention_a_plain,
        },
        given=lambda: {
            "row": encode(CHAT),
            "text": CHAT,
            "lengths": list(CHAT_LENGTHS),
            "prompt_lengths": list(CHAT_PROMPTS),
        },
    ),
)
