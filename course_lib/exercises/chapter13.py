"""Exercises of chapter 13: the weights of one head, and what the loss asks of the logits."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.boundaries import document_ids_from_lengths
from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Difference, Numbers, numbers
from course_lib.masks import causal_mask
from course_lib.vocabulary import IGNORE_INDEX


def _softmax(q: Tensor, k: Tensor, mask: Tensor, scale: float) -> Tensor:
    scores = (q.double() @ k.double().T * scale).masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num(0.0)


def _weights_under(mask: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> Callable:
    """The weights under mask(causal, same document, real query, real key)."""

    def weights(q: Tensor, k: Tensor, document_ids: Tensor) -> Tensor:
        real = document_ids >= 0
        same = document_ids[:, None] == document_ids
        allowed = mask(causal_mask(len(q)), same, real[:, None], real[None, :])
        return _softmax(q, k, allowed, q.shape[1] ** -0.5)

    return weights


_weights = _weights_under(lambda causal, same, query, key: causal & same & query)


def _weights_case(rng: random.Random) -> Args:
    """Two documents or more, and a slot of padding."""
    lengths = [rng.randint(2, 3), *cases.lengths(rng, most=3, count=2)]
    ids = document_ids_from_lengths(lengths, sum(lengths) + 2)
    width = rng.choice([2, 3, 4])
    return cases.floats(rng, len(ids), width), cases.floats(rng, len(ids), width), ids


def _many_weights(rng: random.Random) -> Args:
    ids = cases.many_ids(rng, 1)[0]
    return cases.floats(rng, len(ids), 20), cases.floats(rng, len(ids), 20), ids


def _odd_weights() -> list[Args]:
    """One slot, nothing but padding, a head of one number."""
    rng = random.Random("13.1")
    rows = ([0], 2), ([-1, -1], 2), ([0, 0, 1, -1], 1)
    return [(cases.floats(rng, len(ids), d), cases.floats(rng, len(ids), d), torch.tensor(ids))
            for ids, d in rows]


def _row_sums(value: Any, q: Tensor, k: Tensor, document_ids: Tensor) -> str:
    for i, (total, own) in enumerate(zip(numbers(value).sum(1), document_ids, strict=True)):
        if own < 0 and abs(total) > 1e-5:
            return f"row {i} is padding and may attend to nothing, but its weights add to {total:g}"
        if own >= 0 and abs(total - 1) > 1e-5:
            return f"the weights of query {i} add to {total:g}, not to 1"
    return ""


def _explain_weights(args: Args, found: Difference) -> str:
    q, k, ids = args
    if found.got == "nan":
        return "nothing is allowed in this row, and 0 / 0 is NaN. Weights of nothing are 0."
    if found.grids is None:
        return ""
    real = ids >= 0
    mask = causal_mask(len(q)) & (ids[:, None] == ids) & real[:, None]
    for scale, words in ((1.0, "are not divided"), (1 / q.shape[1], "are divided by d, not")):
        if np.allclose(found.grids[1], _softmax(q, k, mask, scale), atol=1e-5):
            return f"the scores {words} by √d, the root of the head's width."
    return ""


def _logit_gradient(targets: Callable[[Tensor], Tensor], everywhere: bool = False) -> Callable:
    """softmax - one-hot in the rows with a target, by a function that lines up the targets."""

    def gradient(logits: Tensor, labels: Tensor) -> Tensor:
        aligned = targets(labels)
        chances = logits.double().softmax(-1)
        scored = aligned != IGNORE_INDEX
        hot = torch.zeros_like(chances)
        hot[scored, aligned[scored]] = 1
        return chances - hot if everywhere else (chances - hot) * scored[:, None]

    return gradient


def _moved(labels: Tensor, by: int = 1) -> Tensor:
    """Labels, `by` slots to the left, -100 behind them."""
    return torch.cat([labels[by:], labels.new_full((by,), IGNORE_INDEX)])[: len(labels)]


_gradient = _logit_gradient(_moved)


def _gradient_case(rng: random.Random) -> Args:
    """Scores of a row and its labels; one label or more is ignored, not the first two."""
    length, vocab = rng.randint(5, 7), rng.randint(3, 6)
    labels = torch.tensor(cases.tokens(rng, length, 0, vocab - 1))
    labels[rng.randint(2, length - 2)] = IGNORE_INDEX
    return cases.floats(rng, length, vocab), labels


def _many_gradients(rng: random.Random) -> Args:
    labels = torch.tensor(cases.tokens(rng, 40, 0, 32))
    ignored = cases.coins(rng, 1, 40, 0.2)[0]
    return cases.floats(rng, 40, 33), labels.masked_fill(ignored, IGNORE_INDEX)


def _odd_gradients() -> list[Args]:
    """One slot, no target, a target in the last two slots only."""
    rng = random.Random("13.2")
    rows = [1], [1, IGNORE_INDEX, IGNORE_INDEX], [IGNORE_INDEX, IGNORE_INDEX, 0]
    return [(cases.floats(rng, len(row), 3), torch.tensor(row)) for row in rows]


def _zero_rows(value: Any, logits: Tensor, labels: Tensor) -> str:
    for t, total in enumerate(numbers(value).sum(1)):
        if abs(total) > 1e-5:
            return f"the gradient of slot {t} adds to {total:g}: what one score gains, others lose"
    return ""


def _explain_gradient(args: Args, found: Difference) -> str:
    if found.grids is None:
        return ""
    wanted, got = found.grids
    count = int((args[1][1:] != IGNORE_INDEX).sum())
    if np.allclose(got, -wanted, atol=1e-5):
        return "the sign is turned: softmax minus one-hot, and training steps against it."
    if np.allclose(got * count, wanted, atol=1e-5):
        return f"that is the gradient of the mean over {count} targets; the sum is asked for."
    return ""


EXERCISES = (
    Exercise(
        id="13.1",
        title="The weights of one head",
        objective="Compute attention weights from queries, keys and document ids.",
        minutes=15,
        difficulty="medium",
        chapter=13,
        idea="scores are products over √d; what the mask forbids gets no part of the softmax.",
        prompt="Queries and keys of one head, and the document of each slot (-1 on padding). What "
        "weight does each query give to each key under the document mask? A row that may attend "
        "to nothing has weights 0.",
        stub="def weights(q, k, document_ids):\n"
        '    """q, k [T, d], document_ids [T] -> [T, T]"""\n    ...',
        hints=(
            "which keys may query i attend to? Those at i or before it, of its own document.",
            "score of query i and key j: q[i] @ k[j] / d ** 0.5.",
            "softmax over the allowed keys only; leave the row of a padding query at 0.",
        ),
        returns=Numbers("the weights", "float", ("query", "key")),
        reference=_weights,
        checks=(
            Exact(
                "equal scores: two documents, one slot of padding",
                lambda: [(torch.zeros(5, 2), torch.zeros(5, 2), torch.tensor([0, 0, 1, 1, -1]))],
            ),
            Property("each row adds to 1, a row of padding to 0", _weights_case, _row_sums),
            Random("30 random rows", _weights_case, 30),
            Edges("one slot, only padding, one number, and a long row", _odd_weights,
                  _many_weights),
        ),
        explain=_explain_weights,
        misconceptions={
            "no_document_mask": _weights_under(lambda causal, same, query, key: causal),
            "no_document_mask_but_padding": _weights_under(
                lambda causal, same, query, key: causal & query & key
            ),
            "future_in_document": _weights_under(lambda causal, same, query, key: same & query),
            "padding_is_a_document": _weights_under(lambda causal, same, query, key: causal & same),
            "self_masked": _weights_under(
                lambda causal, same, query, key: causal & same & query & ~same.diag().diag()
            ),
        },
    ),
    Exercise(
        id="13.2",
        title="What the loss asks of the logits",
        objective="Write the gradient of a loss with respect to the logits, ignored slots and all.",
        minutes=12,
        difficulty="medium",
        chapter=13,
        idea="softmax minus one-hot in a slot with a target, zero in a slot without one.",
        prompt="Logits and labels of one row; the labels are not shifted, and some are -100. What "
        "is the gradient of the sum of the token losses with respect to each logit?",
        stub="def gradient(logits, labels):\n"
        '    """logits [T, V], labels [T] -> [T, V]"""\n    ...',
        hints=(
            "which label is slot t scored on? The one of slot t + 1; the last slot has none.",
            "in a slot with target y: logits[t].softmax(-1), and 1 less at y.",
            "a slot whose target is -100, and the last one, gets a row of zeros.",
        ),
        returns=Numbers("the gradient", "float", ("slot", "token")),
        reference=_gradient,
        checks=(
            Exact(
                "equal logits: one target, one ignored",
                lambda: [(torch.zeros(3, 2), torch.tensor([0, 1, IGNORE_INDEX]))],
            ),
            Property("each row adds to 0", _gradient_case, _zero_rows),
            Random("30 random rows", _gradient_case, 30),
            Edges("one slot, no target, and long rows", _odd_gradients, _many_gradients),
        ),
        explain=_explain_gradient,
        misconceptions={
            "missing_shift": _logit_gradient(lambda labels: labels),
            "double_shift": _logit_gradient(lambda labels: _moved(labels, 2)),
            "wraps_around": _logit_gradient(lambda labels: labels.roll(-1)),
            "ignored_scored": _logit_gradient(_moved, everywhere=True),
        },
    ),
)  # fmt: skip
