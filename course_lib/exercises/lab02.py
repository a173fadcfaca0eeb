"""Exercises of lab 2: L2.1, what each control moves; the others from their own rooms."""

from __future__ import annotations

import torch

from course_lib.batch import Batch
from course_lib.exercises.checks import Exact
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One
from course_lib.exercises.lab02_drawn import DRAW_A_ROW
from course_lib.exercises.lab02_pairs import COUNT_PAIRS
from course_lib.masks import causal_mask, document_mask
from course_lib.packing import pack_documents

CHOICES = {
    "boundary": "B becomes A",
    "prompt": "the prompt of document 0 gets one token longer",
    "mask kind": "causal becomes document",
    "lengths": "the same tokens, but document 0 ends one token later",
}
START = {"boundary": "B", "prompt": 1, "mask kind": "document", "lengths": 3}
MOVED = {"boundary": "A", "prompt": 2, "mask kind": "causal", "lengths": 4}
WORDS = ("mask", "labels", "both", "neither")


def _settings(name: str) -> tuple[Batch, str]:
    """One row and its kind of mask, with one control moved ("" for none)."""
    moved = START | {name: MOVED[name]} if name else START
    tokens, at = [1, 2, 3, 1, 2, 3, 1], int(moved["lengths"])
    batch = pack_documents(
        [tokens[:at], tokens[at:]], 8, boundary=str(moved["boundary"]),
        prompt_lengths=[int(moved["prompt"]), 0], strategy="next_fit",
    )  # fmt: skip
    return batch, str(moved["mask kind"])


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
    COUNT_PAIRS,
    DRAW_A_ROW,
)
