"""Exercise L5.2: repair a collator that cuts answers off."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, One, numbers
from course_lib.exercises.hunt import CAPACITY, COLLATORS, Documents
from course_lib.padding import pad_documents
from course_lib.vocabulary import EOS, IGNORE_INDEX

INT = ("input_ids", "attention_mask", "position_ids", "labels")


def _collate(
    documents: Documents,
    prompt_lengths: Sequence[int],
    pad_id: int,
    *,
    head: bool = False,
    shrink: bool = True,
    **change: Callable[[Any], Any],
) -> dict[str, Any]:
    """What the repaired collator returns; the rest is for those who get it wrong."""
    cuts = [max(0, len(d) - CAPACITY) for d in documents]
    kept = [
        list(d)[:CAPACITY] if head else list(d)[cut:]
        for d, cut in zip(documents, cuts, strict=True)
    ]
    less = [0 if head or not shrink else cut for cut in cuts]
    prompts = [
        min(len(d), max(0, n - cut))
        for d, n, cut in zip(kept, prompt_lengths, less, strict=True)
    ]
    batch = pad_documents(kept, pad_id=pad_id, prompt_lengths=prompts)
    parts = (batch.input_ids, batch.attention_mask, batch.model_position_ids, batch.labels)
    out: dict[str, Any] = dict(zip(INT, parts, strict=True))
    out["num_items_in_batch"] = batch.num_targets
    for name, make in change.items():
        out[name] = make(batch)
    return out


def _wrong(**choices: Any) -> Callable[..., dict[str, Any]]:
    return lambda documents, prompts, pad_id: _collate(documents, prompts, pad_id, **choices)


def _chats(rng: random.Random) -> Args:
    """Chats with prompts of any length; some are too long for a row, none has too long an answer.

    Padding has an id of its own or that of EOS.
    """
    documents, prompts = [], []
    for _ in range(rng.randint(1, 4)):
        prompt = cases.tokens(rng, rng.randint(1, CAPACITY + 4), most=3)
        documents.append([*prompt, *cases.tokens(rng, rng.randint(1, 4), most=3), EOS])
        prompts.append(len(prompt))
    return documents, prompts, rng.choice([0, EOS])


def _many_chats(rng: random.Random) -> Args:
    """Over 16 chats; some answers alone are too long for a row, EOS stands inside as well."""
    documents, prompts = [], []
    for prompt in cases.many_documents(rng):
        answer = cases.tokens(rng, rng.randint(1, 2 * CAPACITY), 0)
        documents.append([*prompt, *answer, EOS])
        prompts.append(len(prompt))
    return documents, prompts, rng.choice([0, EOS, cases.MOST_ID + 1])


def _odd_chats() -> list[Args]:
    """The shortest chat; one that is as long as a row; an answer that is longer; no prompt."""
    return [
        ([[5, 6, EOS]], [2], 0),
        ([[5, *[1] * (CAPACITY - 2), EOS], [5, *[1] * (CAPACITY - 1), EOS]], [3, 3], EOS),
        ([[5, 6, *[1, 2, EOS] * CAPACITY], [1, 0, EOS]], [2, 0], 0),
    ]


def _no_target(value: Any, documents: Documents, prompts: Sequence[int], pad_id: int) -> str:
    empty = (numbers(value["labels"])[:, 1:] == IGNORE_INDEX).all(1)
    if not empty.any():
        return ""
    row = int(empty.argmax())
    return f"row {row} has no target, although its document has an answer"


EXERCISES = (
    Exercise(
        id="L5.2",
        title="Repair a collator",
        objective="Shorten a document without losing what it is trained on.",
        minutes=15,
        difficulty="hard",
        chapter=4,
        idea="what is cut from a document must come off its prompt, and the prompt gets shorter.",
        prompt=f"Repair collator F: of a document that is longer than {CAPACITY} tokens the last "
        f"{CAPACITY} stay, and its prompt gets shorter by what was cut. All else stays as it is: "
        "padding on the right, labels not shifted, position 0 on padding, num_items_in_batch the "
        "number of targets. pad_id may be the id of EOS.",
        stub="def collate(documents, prompt_lengths, pad_id):\n"
        '    """-> the five entries that collator F returns"""\n    ...',
        hints=(
            "which part of the document does documents[i][:12] keep?",
            "cut = max(0, len(document) - 12) tokens are lost. How long is the prompt then?",
            "padding is known by length, and targets are counted in labels[:, 1:].",
        ),
        returns=Fields(
            {name: Numbers(name, "int", ("row", "slot"), tensor=True) for name in INT}
            | {"num_items_in_batch": One("num_items_in_batch")}
        ),
        reference=_collate,
        checks=(
            Exact(
                "a chat, a question that is too long, padding with the id of EOS",
                lambda: [
                    ([[5, 1, 6, 2, EOS], [5, 3, 1, 6, 1, 2, EOS]], [3, 4], 0),
                    ([[5, *[1, 2, 3] * 4, 6, 2, EOS], [5, 3, 6, 1, EOS]], [14, 3], 0),
                    ([[5, *[1, 2, 3] * 4, 6, 2, EOS], [5, 3, 6, 1, EOS]], [14, 3], EOS),
                ],
            ),
            Property("each answer keeps its targets", _chats, _no_target, 20),
            Random("20 random sets of chats", _chats),
            Edges("a short chat, full rows, an answer longer than a row, and large sets",
                  _odd_chats, _many_chats, 4),
        ),
        misconceptions={
            "answer_cut": _wrong(head=True),
            "prompt_not_shortened": _wrong(shrink=False),
            "prompts_scored": _wrong(
                labels=lambda b: b.input_ids.where(b.attention_mask == 1, IGNORE_INDEX),
                num_items_in_batch=lambda b: int(b.attention_mask[:, 1:].sum()),
            ),
            "all_ones": _wrong(attention_mask=lambda b: torch.ones_like(b.input_ids)),
            "pad_position_minus": _wrong(position_ids=lambda b: b.position_ids),
            "counts_slots": _wrong(num_items_in_batch=lambda b: b.num_slots),
        },
        given=lambda: {"source": inspect.getsource(COLLATORS["F"])},
    ),
)  # fmt: skip
