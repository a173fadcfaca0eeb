"""Exercises of lab 1: the 423-parameter decoder, counted, packed and scored."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import position_ids_from_lengths
from course_lib.decoder import TinyDecoder
from course_lib.exercises import lab01_logits
from course_lib.exercises.checks import Exact, Property
from course_lib.exercises.containers import Fields
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.masks import document_mask
from course_lib.packing import pack_documents

# --- L1.1

PARTS = ("token embedding", "positions", "attention", "feed-forward", "layer norms", "output")
_WORDS = {"norm": "layer norms", "token_emb": "token embedding", "position_emb": "positions",
          "attention": "attention", "swiglu": "feed-forward", "output": "output"}  # fmt: skip


@cache
def _tensors() -> list[tuple[str, Tensor]]:
    return list(TinyDecoder().named_parameters())


def _count(skip: Callable[[str, Tensor], bool] = lambda name, tensor: False) -> dict[str, int]:
    """Count the parameters of each part, without the tensors that `skip` names."""
    counts = dict.fromkeys(PARTS, 0)
    for name, tensor in _tensors():
        part = next(part for word, part in _WORDS.items() if word in name)
        counts[part] += 0 if skip(name, tensor) else tensor.numel()
    return counts | {"total": sum(counts.values())}


def _sum_differs(value: dict[str, Any]) -> str:
    parts, total = sum(scalar_of(value[name]) for name in PARTS), scalar_of(value["total"])
    return "" if parts == total else f"your parts add up to {parts}, and your total is {total}"


# --- L1.3

CHOICES = ("learned, reset", "learned, running", "rope, reset", "rope, running")


@cache
def _measured() -> dict[str, bool]:
    """Run the decoder with each choice of positions, packed and separate."""
    documents = [[1, 2, 3], [2, 2], [3, 1, 1, 2]]
    batch = pack_documents(documents, sum(map(len, documents)))
    return {choice: _equal(choice, documents, batch.input_ids) for choice in CHOICES}


def _equal(choice: str, documents: list[list[int]], row: Tensor) -> bool:
    kind, counting = choice.split(", ")
    model, lengths = TinyDecoder(positions=kind), [len(d) for d in documents]
    ids = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    positions = position_ids_from_lengths(lengths if counting == "reset" else [sum(lengths)])
    with torch.no_grad():
        packed = model(row, mask=document_mask(ids), position_ids=positions)[0]
        alone = torch.cat([model(torch.tensor([d]))[0] for d in documents])
    return bool(torch.allclose(packed, alone, atol=1e-5))


def _but(**change: bool) -> dict[str, bool]:
    return _measured() | {name.replace("__", ", "): value for name, value in change.items()}


EXERCISES = (
    *lab01_logits.EXERCISES,
    Exercise(
        id="L1.1",
        title="Count the parameters",
        objective="Account for every number that training can change.",
        minutes=10,
        difficulty="easy",
        chapter=0,
        idea="a linear layer from n to m has n·m weights and m biases; a norm has two vectors.",
        prompt="Count the parameters of TinyDecoder() by part, and in total. Layer norms stand "
        "together; attention holds its input and its output projection.",
        stub='parameters = {\n    "token embedding": ...,\n    "positions": ...,\n'
        '    "attention": ...,\n    "feed-forward": ...,\n    "layer norms": ...,\n'
        '    "output": ...,\n    "total": ...,\n}',
        hints=(
            "an embedding is a table: one row for each id, one column for each number.",
            "which linear layers have biases? list(model.named_parameters()) shows all tensors.",
            "how many norms has one block, and is there one behind the last block?",
        ),
        returns=Fields({name: One(name) for name in (*PARTS, "total")}),
        reference=_count,
        checks=(
            Property("the parts add up to the total", lambda rng: (), _sum_differs, 1),
            Exact("the seven counts"),
        ),
        misconceptions={
            "biases_forgotten": lambda: _count(
                lambda name, tensor: "bias" in name and "norm" not in name
            ),
            "final_norm_forgotten": lambda: _count(lambda name, tensor: "final_norm" in name),
            "two_matrices": lambda: _count(lambda name, tensor: "gate" in name),
            "norm_bias_forgotten": lambda: _count(
                lambda name, tensor: name.endswith("norm.bias")
            ),
            "positions_forgotten": lambda: _count(lambda name, tensor: "position" in name),
            "output_tied": lambda: _count(lambda name, tensor: name == "output.weight"),
        },
    ),
    Exercise(
        id="L1.3",
        title="Which positions?",
        objective="Predict when positions must be reset.",
        minutes=5,
        difficulty="medium",
        chapter=5,
        idea="learned positions are looked up, so their number counts; RoPE sees only distances.",
        prompt="The document mask is on. For learned positions and for RoPE, each with positions "
        "reset in every document or running through the row: are packed logits equal to separate "
        "ones? Write True or False.",
        stub='equal = {\n    "learned, reset": ...,\n    "learned, running": ...,\n'
        '    "rope, reset": ...,\n    "rope, running": ...,\n}',
        hints=(
            "which position number has the first token of the second document, in each case?",
            "a learned position is a vector of its own: another number, another vector.",
            "RoPE turns query and key; their product depends on the distance. Which distances "
            "remain under the document mask?",
        ),
        returns=Fields({name: One(name, "bool") for name in CHOICES}),
        reference=_measured,
        checks=(Exact("the four cases, as measured on TinyDecoder"),),
        misconceptions={
            "rope_needs_reset": lambda: _but(rope__running=False),
            "reset_never_matters": lambda: _but(learned__running=True),
            "learned_never_equal": lambda: _but(learned__reset=False),
            "only_running_equal": lambda: {name: not value for name, value in _measured().items()},
            "nothing_equal": lambda: dict.fromkeys(CHOICES, False),
        },
    ),
)
