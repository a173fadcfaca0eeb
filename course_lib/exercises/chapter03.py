"""Exercises of chapter 3: padding, and a collator to repair; masks and labels beside it."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import broken, cases, chapter03_labels, chapter03_masks
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Fields, Items, parts
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.padding import pad_documents
from course_lib.vocabulary import IGNORE_INDEX

IDS = Numbers("input_ids", "int", ("row", "slot"))
REAL = Numbers("attention_mask", "int", ("row", "slot"), digits=True)
LABELS = Numbers("labels", "int", ("row", "slot"))


# --- 3.1


def _padded(documents: list[list[int]], pad_id: int) -> tuple[Tensor, Tensor]:
    batch = pad_documents(documents, pad_id=pad_id)
    return batch.input_ids, batch.attention_mask


def _padded_left(documents: list[list[int]], pad_id: int) -> tuple[Tensor, Tensor]:
    batch = pad_documents(documents, pad_id=pad_id, side="left")
    return batch.input_ids, batch.attention_mask


def _mask_by_id(documents: list[list[int]], pad_id: int) -> tuple[Tensor, Tensor]:
    ids, _ = _padded(documents, pad_id)
    return ids, (ids != pad_id).long()


def _mask_inverted(documents: list[list[int]], pad_id: int) -> tuple[Tensor, Tensor]:
    ids, real = _padded(documents, pad_id)
    return ids, 1 - real


def _documents(rng: random.Random) -> Args:
    """Documents in which the pad id stands as a real token, too."""
    return cases.documents(rng, least=0), rng.choice([0, 4])


def _many_documents(rng: random.Random) -> Args:
    return cases.many_documents(rng), rng.choice([0, 4, cases.MOST_ID + 1])


def _little_to_pad() -> list[Args]:
    return [([[0]], 0), ([[7], [0]], 0), ([[1, 2], [3, 4]], 0), ([[4, 4], [4]], 4)]


def _tokens_lost(value: Any, documents: list[list[int]], pad_id: int) -> str:
    real = numbers(parts(value)[1])
    counts = real.sum(1).tolist()
    wrong = [i for i, d in enumerate(documents) if counts[i] != len(d)]
    if not wrong:
        return ""
    i = wrong[0]
    return f"document {i} has {len(documents[i])} tokens, but attention_mask counts {counts[i]}"


# --- 3.4


def _collated(documents: list[list[int]], pad_id: int) -> dict[str, Tensor]:
    batch = pad_documents(documents, pad_id=pad_id)
    return {name: getattr(batch, name) for name in ("input_ids", "attention_mask", "labels")}


def _still(**change: Callable[[dict[str, Tensor], int], Tensor]) -> Callable[..., Any]:
    """A repaired collator but for the fields in `change`, each made from the right batch."""

    def collate(documents: list[list[int]], pad_id: int) -> dict[str, Tensor]:
        batch = _collated(documents, pad_id)
        return batch | {name: make(batch, pad_id) for name, make in change.items()}

    return collate


def _moved(value: dict[str, Any], documents: list[list[int]], pad_id: int) -> str:
    labels, ids = numbers(value["labels"]), numbers(value["input_ids"])
    if ((labels != IGNORE_INDEX) & (labels != ids)).any():
        return "a label differs from the id in its own slot; the collator does not shift"
    return ""


EXERCISES = (
    *chapter03_masks.EXERCISES,
    *chapter03_labels.EXERCISES,
    Exercise(
        id="3.1",
        title="Pad",
        objective="Turn ragged documents into a rectangle, and remember what is real.",
        minutes=8,
        difficulty="easy",
        chapter=3,
        idea="padding is known by the length of a document, never by the id that fills it.",
        prompt="Pad the documents on the right, to the longest of them, and mark real tokens "
        "with 1. The pad id may also occur as a real token.",
        stub="def pad(documents, pad_id):\n"
        '    """-> input_ids [B, T], attention_mask [B, T]"""\n    ...',
        hints=(
            "how wide is the batch? Ask the longest document.",
            "a row is the document, then pad_id as often as slots are left.",
            "the mask of a row needs the length of its document, and nothing else.",
        ),
        returns=Items((IDS, REAL), ("input_ids", "attention_mask")),
        reference=_padded,
        checks=(
            Exact(
                "two, three and one documents",
                lambda: [
                    ([[1, 2, 3], [1, 1]], 0),
                    ([[1, 2], [3], [4, 5, 6]], 0),
                    ([[2, 2]], 0),
                    ([[1, 0, 2], [3]], 0),
                ],
            ),
            Property("attention_mask counts every token", _documents, _tokens_lost),
            Random("20 random lists, pad id 0 or 4", _documents),
            Edges("single tokens, nothing to pad, and large lists", _little_to_pad,
                  _many_documents),
        ),
        misconceptions={
            "pad_by_id": _mask_by_id,
            "pads_left": _padded_left,
            "mask_inverted": _mask_inverted,
        },
        own=("padding.pad_documents",),
    ),
    Exercise(
        id="3.4",
        title="Repair a collator",
        objective="Find and mend three faults in one collator.",
        minutes=12,
        difficulty="medium",
        chapter=3,
        idea="the collator clones and masks by length; it does not shift.",
        prompt="The collator in given('3.4')['source'] shifts, finds padding by id, and leaves "
        "out the attention mask. Write one with none of these faults, for documents that may "
        "hold the pad id themselves.",
        stub="def collate(documents, pad_id):\n"
        '    """-> input_ids, attention_mask, labels in a dict"""\n    ...',
        hints=(
            "which shapes do the three tensors have, and are they the same?",
            "who shifts: the collator or the loss? Only one of them may.",
            "where does the mask come from, if a real token can have the pad id?",
        ),
        returns=Fields({form.name: replace(form, tensor=True) for form in (IDS, REAL, LABELS)}),
        reference=_collated,
        checks=(
            Exact(
                "two small lists, one with the pad id inside a document",
                lambda: [([[1, 2, 3, 4], [1, 2]], 0), ([[1, 4], [4, 2, 4]], 4)],
            ),
            Property(
                "labels are a copy where a token is real",
                _documents,
                _moved,
            ),
            Random("20 random lists, pad id 0 or 4", _documents),
            Edges("single tokens, nothing to pad, and large lists", _little_to_pad,
                  _many_documents),
        ),
        misconceptions={
            "collator_cuts": lambda documents, pad_id: broken.collate(documents, pad_id)
            | {"attention_mask": _padded(documents, pad_id)[1][:, :-1]},
            "collator_shifts": _still(
                labels=lambda b, pad: torch.nn.functional.pad(
                    b["labels"][:, 1:], (0, 1), value=IGNORE_INDEX
                )
            ),
            "eos_erased": _still(
                labels=lambda b, pad: b["input_ids"].masked_fill(
                    b["input_ids"] == pad, IGNORE_INDEX
                )
            ),
            "pad_by_id": _still(
                labels=lambda b, pad: b["input_ids"].masked_fill(
                    b["input_ids"] == pad, IGNORE_INDEX
                ),
                attention_mask=lambda b, pad: (b["input_ids"] != pad).long(),
            ),
            "all_ones": _still(attention_mask=lambda b, pad: torch.ones_like(b["input_ids"])),
            "pad_target": _still(labels=lambda b, pad: b["input_ids"].clone()),
        },
        own=("padding.pad_documents",),
        given=lambda: {"source": inspect.getsource(broken.collate)},
    ),
)  # fmt: skip
