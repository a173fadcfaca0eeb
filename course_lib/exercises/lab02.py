"""Exercises of lab 2: a row drawn by hand, a mask counted, and what each control moves."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

from course_lib.batch import Batch
from course_lib.boundaries import document_ids_from_lengths, document_starts
from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Exact, Property, Random
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, One, scalar_of
from course_lib.loss import LossSum
from course_lib.masks import causal_mask, document_mask, key_padding_mask
from course_lib.packing import pack_documents
from course_lib.vocabulary import EOS

# --- L2.3

ROW: dict[str, Any] = {
    "documents": [[2, 1], [3, 3, 1]],
    "capacity": 8,
    "boundary": "B",
    "losses": [1.0, 0.5, 2.0, 1.5, 0.5, 1.0, 3.0],
}
DRAWN = {
    "starts": Numbers("starts", "int", ("document",)),
    "position_ids": Numbers("position_ids", "int", ("slot",)),
    "mask": Numbers("mask", "bool", ("query", "key"), digits=True),
    "labels": Numbers("labels", "int", ("slot",)),
    "numerator": One("numerator", "float"),
    "denominator": One("denominator"),
}


def _row(boundary: str = ROW["boundary"]) -> Batch:
    return pack_documents(ROW["documents"], ROW["capacity"], eos_id=EOS, boundary=boundary)


def _draw(boundary: str = ROW["boundary"]) -> dict[str, Any]:
    """Everything that the workbench asks for."""
    batch = _row(boundary)
    pair = LossSum.of(torch.tensor([ROW["losses"]]), batch.target_mask)
    return {
        "starts": document_starts(batch.document_ids)[0].nonzero().flatten().tolist(),
        "position_ids": batch.position_ids[0].tolist(),
        "mask": document_mask(batch)[0],
        "labels": batch.labels[0].tolist(),
        "numerator": float(pair.total),
        "denominator": pair.count,
    }


def _but(**change: Callable[[Batch], Any]) -> Callable[[], dict[str, Any]]:
    """The right drawing but for one part."""
    return lambda: _draw() | {name: make(_row()) for name, make in change.items()}


def _all_keys(batch: Batch) -> Any:
    real = key_padding_mask(batch.attention_mask)[0]
    return causal_mask(ROW["capacity"]) & real & real.T


# --- L2.2

KINDS = ("causal", "padding", "document")


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


def _count(lengths: list[int], capacity: int, kind: str) -> int:
    """Count the True cells of the mask itself."""
    ids = document_ids_from_lengths(lengths, capacity)
    mask = causal_mask(capacity)
    if kind == "padding":
        mask = mask & (ids >= 0)
    return int((document_mask(ids) if kind == "document" else mask).sum())


def _counted(
    causal: Callable[[int, int], int] | None = None,
    padding: Callable[[int, int], int] | None = None,
    document: Callable[[list[int], int], int] | None = None,
) -> Callable[[list[int], int, str], int]:
    """The right count, with another one for some kinds; each gets what is real and the capacity."""

    def wrong(lengths: list[int], capacity: int, kind: str) -> int:
        if kind == "causal" and causal:
            return causal(sum(lengths), capacity)
        if kind == "padding" and padding:
            return padding(sum(lengths), capacity)
        if kind == "document" and document:
            return document(lengths, capacity)
        return _count(lengths, capacity, kind)

    return wrong


def _some_row(rng: random.Random) -> Args:
    lengths = cases.lengths(rng)
    return lengths, sum(lengths) + rng.randint(0, 4), rng.choice([*KINDS, "document", "document"])


def _impossible(value: Any, lengths: list[int], capacity: int, kind: str) -> str:
    low, high = sum(lengths), _triangle(capacity)
    if low <= scalar_of(value) <= high:
        return ""
    return (
        f"each of the {low} real tokens sees itself, and no causal mask of {capacity} slots has "
        f"more than {high} True cells"
    )


# --- L2.1

CHOICES = {
    "boundary": "B becomes A",
    "prompt": "the prompt of document 0 gets one token longer",
    "mask kind": "causal becomes document",
    "lengths": "the same tokens, but document 0 ends one token later",
}
WORDS = ("mask", "labels", "both", "neither")


def _settings(name: str) -> tuple[Batch, str]:
    """One row and its kind of mask, with one control moved ("" for none)."""
    at = 4 if name == "lengths" else 3
    tokens = [1, 2, 3, 1, 2, 3, 1]
    batch = pack_documents(
        [tokens[:at], tokens[at:]], 8, boundary="A" if name == "boundary" else "B",
        prompt_lengths=[2 if name == "prompt" else 1, 0], strategy="next_fit",
    )  # fmt: skip
    return batch, "causal" if name == "mask kind" else "document"


def _moves() -> dict[str, str]:
    """Compare labels and mask before and after each move."""
    before, found = _settings(""), {}
    for name in CHOICES:
        after = _settings(name)
        labels = not torch.equal(before[0].labels, after[0].labels)
        mask = not torch.equal(_mask(*before), _mask(*after))
        found[name] = WORDS[2 if labels and mask else 1 if labels else 0 if mask else 3]
    return found


def _mask(batch: Batch, kind: str) -> torch.Tensor:
    return document_mask(batch)[0] if kind == "document" else causal_mask(batch.labels.shape[1])


EXERCISES = (
    Exercise(
        id="L2.3",
        title="Draw a row",
        objective="Write down all that a model and a loss need to know about a packed row.",
        minutes=12,
        difficulty="medium",
        chapter=5,
        idea="boundaries decide positions and mask; boundaries and conventions decide the targets.",
        prompt="For the given documents, packed into one row with EOS behind each: the slots where "
        "documents begin, position ids (-1 on padding), the document mask, labels, and the two "
        "numbers whose quotient is the token mean of the given losses. The workbench writes all "
        "six down for you.",
        stub='drawn = {\n    "starts": ...,\n    "position_ids": ...,\n    "mask": ...,\n'
        '    "labels": ...,\n    "numerator": ...,\n    "denominator": ...,\n}',
        hints=(
            "how long are the documents once EOS stands behind each? Where does the second begin?",
            "the mask is a triangle for each document, and empty rows for padding.",
            "losses[t] is the loss of the prediction at slot t, scored on labels[t + 1].",
        ),
        returns=Fields(DRAWN),
        reference=_draw,
        checks=(Exact("starts, positions, mask, labels and the pair, in this order"),),
        misconceptions={
            "boundary_kept": lambda: _draw("A"),
            "no_document_mask": _but(mask=_all_keys),
            "positions_not_reset": _but(position_ids=lambda b: [*range(7), -1]),
            "pad_position_zero": _but(position_ids=lambda b: b.model_position_ids[0]),
            "row_start_masked": _but(labels=lambda b: [-100, *b.labels[0, 1:].tolist()]),
            "divides_by_slots": _but(denominator=lambda b: b.num_slots),
            "counts_real_tokens": _but(denominator=lambda b: int(b.attention_mask.sum())),
        },
        given=lambda: dict(ROW),
    ),
    Exercise(
        id="L2.2",
        title="Count the pairs",
        objective="Say how much attention a mask leaves, from lengths alone.",
        minutes=10,
        difficulty="medium",
        chapter=5,
        idea="a causal mask over n tokens is a triangle of n(n + 1)/2 cells.",
        prompt="How many (query, key) pairs does a mask allow? kind is 'causal' (all slots), "
        "'padding' (causal, and no padding key; queries on padding keep their view) or 'document' "
        "(causal, within a document; padding sees nothing and is seen by nothing).",
        stub="def count_pairs(lengths, capacity, kind):\n"
        '    """lengths of the documents of one row -> int"""\n    ...',
        hints=(
            "query t of a causal mask sees t + 1 keys. What is the sum over n queries?",
            "a query on padding stands behind all real tokens and sees each of them.",
            "under the document mask every document has its own triangle, and padding has none.",
        ),
        returns=One("the number of pairs"),
        reference=_count,
        checks=(
            Exact(
                "documents of 2 and 3 tokens in 6 slots under each mask, and a full row",
                lambda: [([2, 3], 6, kind) for kind in KINDS] + [([4], 4, "document")],
            ),
            Property("a number that such a mask can have", _some_row, _impossible),
            Random("80 random rows", _some_row, 80),
        ),
        misconceptions={
            "self_masked": _counted(
                lambda real, n: _triangle(n - 1),
                lambda real, n: _count([real], n, "padding") - real,
                lambda ns, size: sum(_triangle(n - 1) for n in ns),
            ),
            "future_in_document": _counted(document=lambda ns, size: sum(n * n for n in ns)),
            "pad_query_masked": _counted(padding=lambda real, n: _triangle(real)),
            "padding_keys_visible": _counted(padding=lambda real, n: _triangle(n)),
            "padding_is_a_document": _counted(
                document=lambda ns, size: sum(map(_triangle, [*ns, size - sum(ns)]))
            ),
            "no_document_mask": _counted(document=lambda ns, size: _triangle(sum(ns))),
        },
    ),
    Exercise(
        id="L2.1",
        title="What moves?",
        objective="Tell what a decision changes: who may attend, or what is scored.",
        minutes=5,
        difficulty="easy",
        chapter=4,
        idea="the mask says what a prediction may read, labels say which predictions are scored.",
        prompt="Two documents of 3 and 4 tokens in a row of 8, convention B, a prompt of one token "
        "in document 0, the document mask. One control is moved at a time: "
        + "; ".join(f"{name}: {what}" for name, what in CHOICES.items())
        + ". What changes?",
        stub='moves = {\n    "boundary": ...,\n    "prompt": ...,\n    "mask kind": ...,\n'
        '    "lengths": ...,\n}',
        hints=(
            "which tensor holds -100, and which holds True and False? Ask for each control.",
            "a prompt is read by the answer. Does masking its labels hide it?",
            "the length of document 0 says where document 1 begins. What depends on that?",
        ),
        returns=Fields({name: One(name, "word", WORDS) for name in CHOICES}),
        reference=_moves,
        checks=(Exact("the four controls, compared tensor by tensor"),),
        misconceptions={
            "boundary_hides": lambda: _moves() | {"boundary": "mask"},
            "boundary_does_both": lambda: _moves() | {"boundary": "both"},
            "prompt_hidden": lambda: _moves() | {"prompt": "both"},
            "mask_scores": lambda: _moves() | {"mask kind": "both"},
            "lengths_mask_only": lambda: _moves() | {"lengths": "mask"},
        },
        given=lambda: {"words": list(WORDS)},
    ),
)
