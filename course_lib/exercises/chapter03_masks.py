"""Exercise 3.2: the key padding mask and the combined mask."""

from __future__ import annotations

import random
from typing import Any

from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Items, parts
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Difference, Numbers, numbers
from course_lib.masks import causal_mask, key_padding_mask
from course_lib.padding import pad_documents


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


def _with_holes(rng: random.Random) -> Args:
    return (cases.coins(rng, cases.many(rng), 24, 0.8).long(),)


def _sees_padding(value: Any, attention_mask: Tensor) -> str:
    combined = numbers(parts(value)[1])
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


EXERCISES = (
    Exercise(
        id="3.2",
        title="Two masks",
        objective="Build the key padding mask and combine it with the causal one.",
        minutes=10,
        difficulty="medium",
        chapter=3,
        idea="the key padding mask closes columns (keys), never rows (queries).",
        prompt="Return the key padding mask and the combined mask: causal, and no key is padding. "
        "True = may attend. A padding query keeps its view of the real keys. Padding (0) may stand "
        "anywhere in a row.",
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
            Edges(
                "one slot, no real token, padding inside a row, and large batches",
                lambda: [
                    (cases.rectangle(rows),)
                    for rows in ([[1]], [[0]], [[0, 0], [1, 1]], [[1, 0, 1, 1, 0]])
                ],
                _with_holes,
            ),
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
)
