"""Exercises L1.2 and L1.4: logits compared, and scored honestly."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.loss import reduce_losses, token_losses
from course_lib.padding import pad_documents
from course_lib.vocabulary import IGNORE_INDEX, VOCAB_SIZE

# --- L1.2


def _largest(packed: Tensor, separate: list[Tensor]) -> float:
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).abs().max().item()


def _signed(packed: Tensor, separate: list[Tensor]) -> float:
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).max().item()


def _mean(packed: Tensor, separate: list[Tensor]) -> float:
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).abs().mean().item()


def _from_slot_0(packed: Tensor, separate: list[Tensor]) -> float:
    return max(_largest(packed[: len(one)], [one]) for one in separate)


def _no_nan(packed: Tensor, separate: list[Tensor]) -> float:
    """What Python's max() makes of the differences, counted up from 0."""
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).abs().nan_to_num(nan=0.0).max().item()


def _padding_in(packed: Tensor, separate: list[Tensor]) -> float:
    return max(_largest(packed, separate), packed[sum(map(len, separate)) :].abs().sum().item())


def _logits(rng: random.Random) -> Args:
    separate = [cases.floats(rng, n, 3) for n in cases.lengths(rng)]
    packed = torch.cat([*separate, cases.floats(rng, rng.randint(0, 2), 3)])
    return packed + cases.floats(rng, *packed.shape) * rng.choice([0.0, 0.01, 0.01]), separate


def _small_logits() -> list[Args]:
    one, two = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 0.0], [4.0, 1.0]])
    padding = torch.tensor([[9.0, 9.0]])
    off = torch.tensor([[0.0, 0.0], [0.0, -0.5], [0.25, 0.0], [0.0, 0.0]])
    return [
        (torch.cat([one, two]), [one, two]),
        (torch.cat([one, two, padding]) + off, [one, two]),
        (torch.cat([one, two]) + off.abs()[1:], [one, two]),
    ]


def _many_logits(rng: random.Random) -> Args:
    """Over 16 documents, and padding that is NaN, as a hand-written softmax leaves it."""
    separate = [cases.floats(rng, n, 20) for n in cases.many_lengths(rng)]
    packed = torch.cat([*separate, torch.full((cases.many(rng), 20), torch.nan)])
    return packed + cases.floats(rng, *packed.shape) * 0.01, separate


def _odd_logits() -> list[Args]:
    """One number; padding that is NaN; a NaN that is compared."""
    one, three = torch.tensor([[2.0]]), torch.tensor([[1.0], [0.0], [4.0]])
    nan = torch.full((2, 1), torch.nan)
    return [
        (one.clone(), [one]),
        (torch.cat([one - 3, nan]), [one]),
        (torch.cat([one, three.index_fill(0, torch.tensor([1]), torch.nan) + 5]), [one, three]),
    ]


def _no_size(value: Any, packed: Tensor, separate: list[Tensor]) -> str:
    return "" if scalar_of(value) >= 0 else "a largest absolute difference is never negative"


# --- L1.4


def _honest(
    logits: Tensor, documents: list[list[int]], by: str = "token", pads: bool = False
) -> Tensor:
    """The honest loss; with `pads`, padding is scored too."""
    batch = pad_documents(documents)
    labels = batch.input_ids if pads else batch.labels
    return reduce_losses(token_losses(logits, labels), labels[:, 1:] != IGNORE_INDEX, by)


def _ahead(steps: int) -> Callable[[Tensor, list[list[int]]], Tensor]:
    """The mean of someone who scores position t on token t + steps."""

    def wrong(logits: Tensor, documents: list[list[int]]) -> Tensor:
        labels = pad_documents(documents).labels[:, steps:]
        kept = logits[:, : labels.shape[1]].reshape(-1, logits.shape[-1])
        return torch.nn.functional.cross_entropy(kept, labels.reshape(-1))

    return wrong


def _per_prediction(logits: Tensor, documents: list[list[int]]) -> Tensor:
    targets = sum(len(d) - 1 for d in documents)
    return _honest(logits, documents) * targets / (logits.shape[0] * (logits.shape[1] - 1))


def _per_token(logits: Tensor, documents: list[list[int]]) -> Tensor:
    targets = sum(len(d) - 1 for d in documents)
    return _honest(logits, documents) * targets / (targets + len(documents))


def _scores(rng: random.Random) -> Args:
    documents = [*cases.documents(rng), cases.tokens(rng, rng.randint(2, 5))]
    width = max(map(len, documents))
    return cases.floats(rng, len(documents), width, VOCAB_SIZE), documents


def _many_scores(rng: random.Random) -> Args:
    documents = cases.many_documents(rng, most=32)
    return cases.floats(rng, len(documents), max(map(len, documents)), 33), documents


def _single_tokens() -> list[Args]:
    """One target; documents of one token first and last; ids of 0."""
    rng = random.Random("L1.4")
    layouts = [[[2, 1]], [[3], [0, 0], [5]], [[0, 0, 0], [0]]]
    return [(cases.floats(rng, len(d), max(map(len, d)), VOCAB_SIZE), d) for d in layouts]


def _small_scores() -> list[Args]:
    rng = random.Random("L1.4")
    layouts = [[[1, 2, 4]], [[1, 2, 3, 4], [2, 4]], [[3], [1, 1, 4]]]
    return [(cases.floats(rng, len(d), max(map(len, d)), VOCAB_SIZE), d) for d in layouts]


def _too_small(value: Any, logits: Tensor, documents: list[list[int]]) -> str:
    lowest = torch.logsumexp(logits, -1) - logits.max(-1).values
    if scalar_of(value) >= lowest.min().item() - 1e-4:
        return ""
    return "no token of these logits has so small a loss: the denominator is too large"


EXERCISES = (
    Exercise(
        id="L1.2",
        title="Packed against separate",
        objective="Measure whether packing changed what the model computes.",
        minutes=10,
        difficulty="medium",
        chapter=5,
        idea="a packed row holds its documents one behind the other; padding has no partner.",
        prompt="Return the largest absolute difference between the logits of a packed row and "
        "those of its documents run separately. Padding at the end of the row stays out. Where a "
        "logit that is compared is NaN, the answer is NaN.",
        stub="def max_difference(packed, separate):\n"
        '    """[T, V], list of [n, V] -> one number"""\n    ...',
        hints=(
            "where in the row does the second document begin?",
            "join the separate logits along the token axis; how many rows does that give?",
            "differences have two signs; the largest size is asked for.",
        ),
        returns=One("the difference", "float"),
        reference=_largest,
        checks=(
            Exact("equal rows, a row with padding, a larger difference", _small_logits),
            Property("never negative", _logits, _no_size),
            Random("60 random rows", _logits, 60),
            Edges("one number, padding that is NaN, a NaN that counts, and large rows",
                  _odd_logits, _many_logits),
        ),
        misconceptions={
            "signed_difference": _signed,
            "mean_difference": _mean,
            "from_slot_0": _from_slot_0,
            "padding_compared": _padding_in,
            "nan_vanishes": _no_nan,
            "only_first_document": lambda packed, separate: _largest(packed, separate[:1]),
        },
    ),
    Exercise(
        id="L1.4",
        title="Honest loss",
        objective="Score a model on separate documents with the right targets.",
        minutes=12,
        difficulty="hard",
        chapter=6,
        idea="every token but the first of its document is a target, and nothing else is.",
        prompt="Return the token mean, in nats, over the documents whose right-padded logits are "
        "given: logits at t are scored on the document's token t+1.",
        stub="def honest_loss(logits, documents):\n"
        '    """[B, T, V], B lists of ids -> one number"""\n    ...',
        hints=(
            "which targets has a document of n tokens, and at which positions are they scored?",
            "row by row: logits[row, : n - 1] against document[1:].",
            "add up losses and counts over all documents, and divide at the end.",
        ),
        returns=One("the honest loss", "float", tolerance=1e-4),
        reference=_honest,
        checks=(
            Exact("one document, two of unlike length, one of a single token", _small_scores),
            Property("a loss that these logits can have", _scores, _too_small),
            Random("20 random sets of documents", _scores),
            Edges("one target, single tokens, ids of 0, and large sets", _single_tokens,
                  _many_scores),
        ),
        misconceptions={
            "pad_target": lambda logits, documents: _honest(logits, documents, pads=True),
            "missing_shift": _ahead(0),
            "double_shift": _ahead(2),
            "mean_of_row_means": lambda logits, documents: _honest(logits, documents, "sequence"),
            "divides_by_predictions": _per_prediction,
            "counts_real_tokens": _per_token,
        },
    ),
)  # fmt: skip
