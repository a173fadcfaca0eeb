"""The document mask three times: as a loop, without one, and drawn by hand."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import document_ids_from_lengths
from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, NoLoop, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Difference, Numbers, numbers
from course_lib.masks import causal_mask, document_mask

HAND_LENGTHS, HAND_SLOTS = [2, 3], 6  # one slot of padding


def _same(ids: Tensor) -> Tensor:
    return ids[..., :, None] == ids[..., None, :]


def _causal(ids: Tensor) -> Tensor:
    return causal_mask(ids.shape[-1]).expand(*ids.shape, -1)


def _real(ids: Tensor) -> Tensor:
    return (ids >= 0)[..., :, None] & (ids >= 0)[..., None, :]


WRONG: dict[str, Callable[[Tensor], Tensor]] = {
    "no_document_mask": lambda ids: _causal(ids),
    "no_document_mask_but_padding": lambda ids: _causal(ids) & _real(ids),
    "future_in_document": lambda ids: _same(ids) & _real(ids),
    "padding_is_a_document": lambda ids: _causal(ids) & _same(ids),
    "upper_triangle": lambda ids: document_mask(ids).transpose(-1, -2),
    "self_masked": lambda ids: document_mask(ids) & ~torch.eye(ids.shape[-1], dtype=torch.bool),
    "true_means_masked": lambda ids: ~document_mask(ids),
    "pad_sees_itself": lambda ids: document_mask(ids)
    | torch.eye(ids.shape[-1], dtype=torch.bool) & ~_real(ids),
    "pad_keeps_view": lambda ids: document_mask(ids)
    | _causal(ids) & (ids < 0)[..., :, None] & (ids >= 0)[..., None, :],
}


HAND_WRONG = dict(WRONG)
del HAND_WRONG["pad_sees_itself"]  # where there is one pad, the same as padding_is_a_document


def _hand_ids() -> Tensor:
    return document_ids_from_lengths(HAND_LENGTHS, HAND_SLOTS)


def _why(ids: Tensor, found: Difference) -> str:
    """Why a cell of the document mask is what it is."""
    if len(found.index) < 2:
        return ""
    *row, query, key = found.index
    line = ids[tuple(row)].tolist()
    if key > query:
        return f"key {key} lies in the future of query {query}."
    if line[query] < 0:
        return f"query {query} is padding."
    if line[query] != line[key]:
        return (
            f"query {query} lies in document {line[query]}, key {key} in document {line[key]}."
        )
    return f"query {query} and key {key} lie in document {line[query]}, and the key is not ahead."


def _crosses(value: Any, document_ids: Any) -> str:
    ids = torch.as_tensor(document_ids)
    seen = torch.as_tensor(numbers(value)).bool() & ~_same(ids) & _real(ids)
    if not seen.any():
        return ""
    *row, query, key = seen.nonzero()[0].tolist()
    line = ids[tuple(row)].tolist()
    return f"query {query} (document {line[query]}) may attend to key {key} (document {line[key]})"


def _one_row(rng: random.Random) -> Args:
    return (cases.packed_ids(rng, 1)[0].tolist(),)


def _rows(rng: random.Random) -> Args:
    return (cases.packed_ids(rng, rng.randint(1, 3)),)


def _small_rows() -> list[list[int]]:
    layouts = [([1, 2], 5), ([4, 3], 8), ([3], 3), ([1, 1, 1], 3)]
    return [document_ids_from_lengths(lengths, total).tolist() for lengths, total in layouts]


def _odd_rows() -> list[list[int]]:
    """One slot, nothing but padding, padding at both ends."""
    return [[0], [-1], [-1, -1], [-1, 0, 0, 1, -1]]


def _two_halves(size: int) -> Args:
    return (document_ids_from_lengths([size // 2, size // 2])[None],)


LOOP = Exercise(
    id="5.3",
    title="The document mask as a loop",
    objective="Say for each pair of query and key whether it may attend.",
    minutes=10,
    difficulty="easy",
    chapter=5,
    idea="a query attends to keys at or before itself, in its own document; padding to nothing.",
    prompt="Return, for the document ids of one row (a list, -1 on padding), a list of rows: "
    "True (or 1) where the query of the row may attend to the key of the column.",
    stub="def document_mask_loop(document_ids):\n"
    '    """list [T] -> T lists of T truth values"""\n    ...',
    hints=(
        "write down three conditions: one on the order, one on the documents, one on padding.",
        "two loops: the outer one over queries, the inner one over keys.",
        "two slots of padding have the same id, -1. Do they lie in one document?",
    ),
    returns=Numbers("mask", "bool", ("query", "key"), digits=True),
    reference=lambda document_ids: document_mask(torch.tensor(document_ids)),
    checks=(
        Exact("four small rows", lambda: [(row,) for row in _small_rows()]),
        Property("no query sees another document", _one_row, _crosses),
        Random("20 random rows", _one_row),
        Edges("one slot, only padding, padding at both ends, and large rows",
              lambda: [(row,) for row in _odd_rows()],
              lambda rng: (cases.many_ids(rng, 1)[0].tolist(),)),
    ),
    misconceptions={
        name: lambda document_ids, wrong=wrong: wrong(torch.tensor(document_ids))
        for name, wrong in WRONG.items()
    },
    own=("masks.document_mask", "masks.causal_mask"),
    explain=lambda args, found: _why(torch.tensor(args[0]), found),
)  # fmt: skip

VECTORISED = Exercise(
    id="5.4",
    title="The document mask without a loop",
    objective="Build the mask of a whole batch with comparisons of tensors.",
    minutes=12,
    difficulty="medium",
    chapter=5,
    idea="compare ids as a column with ids as a row; the triangle and padding come in with &.",
    prompt="Return the document mask of a batch of document ids (-1 on padding). No Python loop "
    "over positions.",
    stub="def document_mask(document_ids):\n"
    '    """tensor [B, T] -> bool [B, T, T]"""\n    ...',
    hints=(
        "which two shapes of the same ids broadcast to [B, T, T]?",
        "the comparison of ids says same document; what says not ahead?",
        "two slots of padding have the same id. Leave the rows of padding out.",
    ),
    returns=Numbers("mask", "bool", ("row", "query", "key"), tensor=True),
    reference=document_mask,
    checks=(
        Exact("four small rows", lambda: [(torch.tensor([row]),) for row in _small_rows()]),
        Property("no query sees another document", _rows, _crosses),
        Random("20 random batches", _rows),
        NoLoop("Python steps do not grow with T", _two_halves),
        Edges("one slot, only padding, padding at both ends, and large batches",
              lambda: [(torch.tensor([row]),) for row in _odd_rows()],
              lambda rng: (cases.many_ids(rng, cases.many(rng)),), 1),
    ),
    misconceptions=WRONG,
    own=("masks.document_mask",),
    explain=lambda args, found: _why(args[0], found),
)  # fmt: skip

BY_HAND = Exercise(
    id="5.5",
    title="The mask by hand",
    objective="Draw the document mask of a small packed row.",
    minutes=6,
    difficulty="easy",
    chapter=5,
    idea="two triangles on the diagonal, one for each document; the row of padding is empty.",
    prompt="Documents of 2 and 3 tokens stand in a row of 6 slots. Write the document mask: rows "
    "are queries, columns are keys, 1 = may attend, 0 = may not.",
    stub="mask = ...",
    hints=(
        "slot by slot: which document is it in? The last one is in none.",
        "begin with query 2, the first token of the second document: what may it see?",
        "each document makes a lower triangle; nothing stands outside of them.",
    ),
    returns=Numbers("mask", "bool", ("query", "key"), digits=True),
    reference=lambda: document_mask(_hand_ids()),
    checks=(Exact("the 36 cells"),),
    misconceptions={
        name: lambda wrong=wrong: wrong(_hand_ids())
        for name, wrong in HAND_WRONG.items()
    },
    given=lambda: {"lengths": list(HAND_LENGTHS), "slots": HAND_SLOTS},
    explain=lambda args, found: _why(_hand_ids(), found),
)

EXERCISES = (LOOP, VECTORISED, BY_HAND)
