"""Exercises of chapter 3: padding, its two masks, labels by length, and a collator to repair."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import broken, cases
from course_lib.exercises.checks import Args, Exact, Property, Random
from course_lib.exercises.containers import Fields, Items
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Difference, Numbers, numbers
from course_lib.masks import causal_mask, key_padding_mask
from course_lib.padding import pad_documents
from course_lib.targets import labels_by_length
from course_lib.vocabulary import EOS, IGNORE_INDEX

IDS = Numbers("input_ids", "int", ("row", "slot"))
REAL = Numbers("attention_mask", "int", ("row", "slot"))
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


def _tokens_lost(value: tuple, documents: list[list[int]], pad_id: int) -> str:
    real = numbers(value[1])
    counts = real.sum(1).tolist()
    wrong = [i for i, d in enumerate(documents) if counts[i] != len(d)]
    if not wrong:
        return ""
    i = wrong[0]
    return f"document {i} has {len(documents[i])} tokens, but attention_mask counts {counts[i]}"


# --- 3.2


def _both_masks(attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    keys = key_padding_mask(attention_mask)
    return keys, causal_mask(attention_mask.shape[1]) & keys


def _query_masked(attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    keys, combined = _both_masks(attention_mask)
    return keys, combined & keys.transpose(1, 2)


def _no_causal(attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    keys = key_padding_mask(attention_mask)
    return keys, keys.expand(-1, keys.shape[-1], -1)


def _no_padding(attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    keys = key_padding_mask(attention_mask)
    return keys, causal_mask(keys.shape[-1]).expand(len(keys), -1, -1)


def _rows_for_columns(attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    keys, _ = _both_masks(attention_mask)
    return keys, causal_mask(keys.shape[-1]) & keys.transpose(1, 2)


def _true_means_masked(attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    keys, combined = _both_masks(attention_mask)
    return ~keys, ~combined


def _future_visible(attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    keys, _ = _both_masks(attention_mask)
    return keys, causal_mask(keys.shape[-1]).T & keys


def _attention_mask(rng: random.Random) -> Args:
    side = rng.choice(["right", "right", "left"])
    return (pad_documents(cases.documents(rng), side=side).attention_mask,)


def _sees_padding(value: tuple, attention_mask: Tensor) -> str:
    combined = numbers(value[1])
    for row, real in enumerate(attention_mask.tolist()):
        for key, here in enumerate(real):
            if not here and combined[row, :, key].any():
                return f"in row {row}, slot {key} is padding, yet some query may attend to it"
    return ""


def _why_masked(args: Args, found: Difference) -> str:
    if len(found.index) != 3:
        return ""
    row, query, key = found.index
    if key > query and found.name == "combined":
        return f"key {key} lies in the future of query {query}."
    if not args[0][row, key]:
        return f"key {key} is padding."
    return f"key {key} is a real token that the query may attend to."


# --- 3.3


def _by_length(input_ids: Tensor, lengths: list[int]) -> Tensor:
    slots = torch.arange(input_ids.shape[1])
    return labels_by_length(input_ids, (slots < torch.tensor(lengths)[:, None]).long())


def _by_id(input_ids: Tensor, lengths: list[int]) -> Tensor:
    return input_ids.masked_fill(input_ids == EOS, IGNORE_INDEX)


def _one_too_few(input_ids: Tensor, lengths: list[int]) -> Tensor:
    return _by_length(input_ids, [n + 1 for n in lengths])


def _one_too_many(input_ids: Tensor, lengths: list[int]) -> Tensor:
    return _by_length(input_ids, [n - 1 for n in lengths])


def _early(input_ids: Tensor, lengths: list[int]) -> Tensor:
    labels = _by_length(input_ids, lengths)
    return torch.nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORE_INDEX)


def _pad_is_eos(rng: random.Random) -> Args:
    rows = [[*d, EOS] for d in cases.documents(rng)]
    return pad_documents(rows, pad_id=EOS).input_ids, [len(row) for row in rows]


def _eos_lost(value: Any, input_ids: Tensor, lengths: list[int]) -> str:
    kept = numbers(value)
    for row, n in enumerate(lengths):
        if kept[row, n - 1] != EOS:
            return f"row {row} ends with a real EOS at slot {n - 1}, and its label is gone"
    return ""


def _small_eos() -> list[Args]:
    documents = [[1, 2, EOS], [3, EOS]], [[1, EOS], [1, 2, EOS, 3, EOS], [EOS]]
    return [
        (pad_documents(rows, pad_id=EOS).input_ids, [len(row) for row in rows])
        for rows in documents
    ]


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
        ),
        misconceptions={
            "pad_by_id": _mask_by_id,
            "pads_left": _padded_left,
            "mask_inverted": _mask_inverted,
        },
        own=("padding.pad_documents",),
    ),
    Exercise(
        id="3.2",
        title="Two masks",
        objective="Build the key padding mask and combine it with the causal one.",
        minutes=10,
        difficulty="medium",
        chapter=3,
        idea="the key padding mask closes columns (keys), never rows (queries).",
        prompt="Return the key padding mask and the combined mask: causal, and no key is padding. "
        "True = may attend. A padding query keeps its view of the real keys.",
        stub="def attention_masks(attention_mask):\n"
        '    """[B, T] -> two bool masks, [B, 1, T], [B, T, T]"""\n    ...',
        hints=(
            "which axis of the mask is the query, and which the key?",
            "an axis of size 1 in the middle says: the same for every query.",
            "a [T, T] lower triangle and a [B, 1, T] mask broadcast to [B, T, T] under &.",
        ),
        returns=Items(
            (
                Numbers("key_padding", "bool", ("row", "query", "key"), tensor=True),
                Numbers("combined", "bool", ("row", "query", "key"), tensor=True),
            ),
            ("key_padding", "combined"),
        ),
        reference=_both_masks,
        checks=(
            Exact(
                "rows of three and of two real tokens in five slots, and one padded left",
                lambda: [
                    (cases.rectangle([[1, 1, 1, 0, 0]]),),
                    (cases.rectangle([[1, 1, 0, 0, 0]]),),
                    (cases.rectangle([[0, 1, 1]]),),
                ],
            ),
            Property("no query sees padding", _attention_mask, _sees_padding),
            Random("20 random batches, padded right or left", _attention_mask),
        ),
        misconceptions={
            "pad_query_masked": _query_masked,
            "no_causal_mask": _no_causal,
            "padding_keys_visible": _no_padding,
            "rows_for_columns": _rows_for_columns,
            "true_means_masked": _true_means_masked,
            "upper_triangle": _future_visible,
        },
        own=("masks.key_padding_mask", "masks.padding_mask"),
        explain=_why_masked,
    ),
    Exercise(
        id="3.3",
        title="Labels by length",
        objective="Keep every real EOS as a target when EOS is also the pad.",
        minutes=8,
        difficulty="medium",
        chapter=3,
        idea="where pad and EOS share an id, only the length tells them apart.",
        prompt="The batch is padded on the right with its EOS. Return labels: a copy of the ids, "
        "-100 on padding, and every real EOS kept.",
        stub="def make_labels(input_ids, lengths):\n"
        '    """[B, T], [B] -> labels [B, T]"""\n    ...',
        hints=(
            "can the id of a slot tell whether it is padding here? Which number can?",
            "slot t of a row is padding when t is at least the row's length.",
            "compare torch.arange(T) with the lengths as a column.",
        ),
        returns=LABELS,
        reference=_by_length,
        checks=(
            Exact("two small batches", _small_eos),
            Property("the last real EOS of a row is a target", _pad_is_eos, _eos_lost),
            Random("20 random batches", _pad_is_eos),
        ),
        misconceptions={
            "eos_erased": _by_id,
            "pad_target": lambda ids, lengths: ids.clone(),
            "first_pad_kept": _one_too_few,
            "last_token_lost": _one_too_many,
            "collator_shifts": _early,
        },
        own=("targets.labels_by_length", "padding.pad_documents"),
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
)
