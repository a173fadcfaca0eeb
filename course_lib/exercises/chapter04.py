"""Exercises of chapter 4: which slots are targets, and the account of those that are not."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import document_ids_from_lengths, document_starts
from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Exact, Property, Random
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, One, numbers, scalar_of
from course_lib.padding import pad_documents
from course_lib.targets import (
    REASONS,
    make_ledger,
    mask_boundaries,
    mask_prompts,
    slot_reasons,
)
from course_lib.vocabulary import EOS, IGNORE_INDEX, encode

LABELS = Numbers("labels", "int", ("row", "slot"))

# --- 4.1


def _completion(labels: Tensor, prompt_lengths: list[int]) -> Tensor:
    documents = -(labels == IGNORE_INDEX).long()
    return mask_prompts(labels, documents, [[int(n)] for n in prompt_lengths])


def _lengths_plus(step: int) -> Callable[[Tensor, list[int]], Tensor]:
    """The mask of someone who takes each prompt for `step` tokens longer than it is."""

    def wrong(labels: Tensor, prompt_lengths: list[int]) -> Tensor:
        sizes = (labels != IGNORE_INDEX).sum(1).tolist()
        moved = [min(max(n + step, 0), s) for n, s in zip(prompt_lengths, sizes, strict=True)]
        return _completion(labels, moved)

    return wrong


def _answers_off(labels: Tensor, prompt_lengths: list[int]) -> Tensor:
    return labels.where(_completion(labels, prompt_lengths) == IGNORE_INDEX, IGNORE_INDEX)


def _prompts_zero(labels: Tensor, prompt_lengths: list[int]) -> Tensor:
    return labels.masked_fill(_completion(labels, prompt_lengths) != labels, 0)


def _one_length(labels: Tensor, prompt_lengths: list[int]) -> Tensor:
    sizes = (labels != IGNORE_INDEX).sum(1).tolist()
    return _completion(labels, [min(prompt_lengths[0], size) for size in sizes])


def _with_prompts(rng: random.Random) -> Args:
    rows = cases.documents(rng)
    return pad_documents(rows).labels, [rng.randint(0, len(row)) for row in rows]


def _answers_kept(value: Any, labels: Tensor, prompt_lengths: list[int]) -> str:
    kept = (numbers(value) != IGNORE_INDEX).sum(1)
    right = (labels != IGNORE_INDEX).sum(1).tolist()
    for row, n in enumerate(prompt_lengths):
        if kept[row] != right[row] - n:
            return f"row {row} has {right[row] - n} answer tokens; {kept[row]} labels are left"
    return ""


# --- 4.2


def _no_row_start(labels: Tensor, document_ids: Tensor) -> Tensor:
    return labels.masked_fill(document_starts(document_ids), IGNORE_INDEX)


def _last_tokens(labels: Tensor, document_ids: Tensor) -> Tensor:
    ends = torch.zeros_like(document_ids, dtype=torch.bool)
    ends[:, :-1] = document_ids[:, 1:] != document_ids[:, :-1]
    return labels.masked_fill(ends, IGNORE_INDEX)


def _second_tokens(labels: Tensor, document_ids: Tensor) -> Tensor:
    seconds = torch.zeros_like(document_ids, dtype=torch.bool)
    seconds[:, 2:] = document_starts(document_ids)[:, 1:-1]
    return labels.masked_fill(seconds, IGNORE_INDEX)


def _later_documents(labels: Tensor, document_ids: Tensor) -> Tensor:
    return labels.masked_fill(document_ids > 0, IGNORE_INDEX)


def _packed(rng: random.Random) -> Args:
    ids = cases.packed_ids(rng, rng.randint(1, 3))
    tokens = cases.rectangle([cases.tokens(rng, ids.shape[1]) for _ in ids])
    return tokens.masked_fill(ids < 0, IGNORE_INDEX), ids


def _boundary_left(value: Any, labels: Tensor, document_ids: Tensor) -> str:
    kept = numbers(value)
    for row, slot in (document_ids[:, 1:].diff(dim=1, prepend=document_ids[:, :1]) > 0).nonzero():
        if kept[row, slot + 1] != IGNORE_INDEX:
            return f"a document begins at row {row}, slot {slot + 1}, and it is still a target"
    return ""


def _row(text: str, lengths: list[int]) -> tuple[Tensor, Tensor]:
    """Labels under A and document ids, both [1, T], of one packed row written as text."""
    ids = cases.rectangle([encode(text)])
    documents = document_ids_from_lengths(lengths, ids.shape[1])[None]
    return ids.masked_fill(documents < 0, IGNORE_INDEX), documents


# --- 4.3 and 4.4

CHAT = "<user> a <assistant> b <eos> <user> c <assistant> c b <eos> <pad>"
CHAT_LENGTHS, CHAT_PROMPTS = [5, 6], [3, 3]
PLAIN = "a b <eos> c <eos> b b a <eos> <pad>"
PLAIN_LENGTHS = [3, 2, 4]


def _chat_ledger(moved: dict[str, str] | None = None) -> dict[str, int]:
    """The ledger of the chat row; with `moved`, slots of one reason are counted as another."""
    labels, documents = _row(CHAT, CHAT_LENGTHS)
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
    labels, documents = _row(CHAT, CHAT_LENGTHS)
    counts = torch.bincount(slot_reasons(labels, documents).flatten(), minlength=len(REASONS))
    return dict(zip(REASONS, counts.tolist(), strict=True))


def _not_all_slots(value: dict[str, Any]) -> str:
    total, slots = sum(scalar_of(n) for n in value.values()), len(encode(CHAT))
    if total == slots:
        return ""
    return f"the five counts add up to {total}, but the row has {slots} slots"


def _by_hand(rule: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], list[int]]:
    return lambda: rule(*_row(PLAIN, PLAIN_LENGTHS))[0].tolist()


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
                    (cases.rectangle([[5, 1, 6, 2, 4], [5, 3, 6, 4, -100]]), [3, 2]),
                    (cases.rectangle([[1, 2, 4], [2, 3, 4]]), [0, 3]),
                ],
            ),
            Property("every answer token keeps its label", _with_prompts, _answers_kept),
            Random("20 random batches", _with_prompts),
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
    Exercise(
        id="4.2",
        title="From A to B",
        objective="Switch off the targets that would be predicted from another document.",
        minutes=10,
        difficulty="medium",
        chapter=4,
        idea="B masks the first token of each later document, and nothing else.",
        prompt="Return the labels under convention B: -100 on the first token of each document "
        "but the first of its row. The first slot of a row keeps its label.",
        stub="def boundary_b(labels, document_ids):\n"
        '    """[B, T] under A, [B, T] -> labels [B, T]"""\n    ...',
        hints=(
            "at which slots is the document id another one than in the slot to the left?",
            "compare document_ids[:, 1:] with document_ids[:, :-1].",
            "what you found counts from slot 1; slot 0 has no left neighbour and stays.",
        ),
        returns=LABELS,
        reference=mask_boundaries,
        checks=(
            Exact(
                "a row of two documents, a row of three, and single tokens",
                lambda: [
                    _row("a b c <eos> a a <eos> <pad>", [4, 3]),
                    _row(PLAIN, PLAIN_LENGTHS),
                    _row("a b c", [1, 1, 1]),
                ],
            ),
            Property("no later document begins with a target", _packed, _boundary_left),
            Random("20 random packed batches", _packed),
        ),
        misconceptions={
            "boundary_kept": lambda labels, document_ids: labels,
            "row_start_masked": _no_row_start,
            "eos_masked": _last_tokens,
            "second_token_masked": _second_tokens,
            "later_documents_masked": _later_documents,
        },
        own=("targets.mask_boundaries",),
    ),
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
    Exercise(
        id="4.4",
        title="Labels by hand",
        objective="Write the labels of a packed row under convention B.",
        minutes=5,
        difficulty="easy",
        chapter=4,
        idea="labels are a copy of the ids; B and padding put -100 in, and nothing moves.",
        prompt="Three documents share a row of 10 slots. Write its labels under convention B.",
        stub="labels = ...",
        hints=(
            "begin with a copy of the row's ids.",
            "which slots hold no token, and which hold the first token of a later document?",
            "is the first slot of the row a later document's first token?",
        ),
        returns=Numbers("labels", "int", ("slot",)),
        reference=_by_hand(mask_boundaries),
        checks=(Exact("the ten labels"),),
        misconceptions={
            "boundary_kept": _by_hand(lambda labels, documents: labels),
            "row_start_masked": _by_hand(_no_row_start),
            "eos_masked": _by_hand(_last_tokens),
            "second_token_masked": _by_hand(_second_tokens),
            "later_documents_masked": _by_hand(_later_documents),
            "pad_target": lambda: numbers(encode(PLAIN)).tolist(),
        },
        given=lambda: {"row": encode(PLAIN), "text": PLAIN, "lengths": list(PLAIN_LENGTHS)},
    ),
)
