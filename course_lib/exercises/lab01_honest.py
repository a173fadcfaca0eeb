"""Exercise L1.4: logits scored honestly."""

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
