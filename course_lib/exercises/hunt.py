"""Eight broken collators, A to H, and three sets of documents to try them on. Lab 5 hunts them.

Each takes documents that end with EOS, the lengths of their prompts and the id of padding, and
returns tensors [B, T] and `num_items_in_batch`, the number of targets; those that pack return
`document_ids` as well. The loop that they work for shifts labels once, keeps documents apart by
their ids, and divides its sum of losses by that number. A row has room for `CAPACITY` tokens. Each
collator has one fault, which not every set of documents brings out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from course_lib.boundaries import position_ids_from_document_ids
from course_lib.vocabulary import ASSISTANT, EOS, IGNORE_INDEX, USER

CAPACITY = 12
Documents = Sequence[Sequence[int]]
Collator = Callable[[Documents, Sequence[int], int], dict[str, Tensor | int]]

SETS: dict[str, tuple[list[list[int]], list[int]]] = {
    "plain text": (
        [[1, 2, 3, EOS], [2, 2, EOS], [3, 1, 2, 3, 1, EOS], [1, 1, EOS]],
        [0, 0, 0, 0],
    ),
    "chats": (
        [
            [USER, 1, ASSISTANT, 2, EOS],
            [USER, 3, ASSISTANT, 1, 2, EOS],
            [USER, 2, ASSISTANT, 3, EOS],
        ],
        [3, 3, 3],
    ),
    "a long question": (
        [[USER, *[1, 2, 3] * 4, ASSISTANT, 2, EOS], [USER, 3, ASSISTANT, 1, EOS]],
        [14, 3],
    ),
}
"""Name -> (documents, lengths of their prompts)."""


def collator_a(documents, prompt_lengths, pad_id):
    """One document a row, padding on the right."""
    documents, prompts = _fit(documents, prompt_lengths)
    ids, real = _pad(documents, pad_id)
    labels = ids.masked_fill(~real | _prompts(ids, prompts), IGNORE_INDEX)
    end = torch.full_like(labels[:, :1], IGNORE_INDEX)
    labels = torch.cat([labels[:, 1:], end], dim=1)
    return _batch(ids, real, labels, _count_up(ids), _targets(labels))


def collator_b(documents, prompt_lengths, pad_id):
    """One document a row, padding on the left."""
    documents, prompts = _fit(documents, prompt_lengths)
    width = max(map(len, documents))
    gaps = torch.tensor([[width - len(d)] for d in documents])
    ids = torch.tensor([[pad_id] * (width - len(d)) + list(d) for d in documents])
    hidden = _count_up(ids) < gaps + torch.tensor(prompts)[:, None]
    labels = ids.masked_fill(hidden, IGNORE_INDEX)
    return _batch(ids, torch.ones_like(ids), labels, _count_up(ids), _targets(labels))


def collator_c(documents, prompt_lengths, pad_id):
    """One document a row, padding on the right."""
    documents, prompts = _fit(documents, prompt_lengths)
    ids, real = _pad(documents, pad_id)
    labels = ids.masked_fill(_prompts(ids, prompts), IGNORE_INDEX)
    labels[labels == pad_id] = IGNORE_INDEX
    return _batch(ids, real, labels, _count_up(ids), _targets(labels))


def collator_d(documents, prompt_lengths, pad_id):
    """One document a row, padding on the right."""
    documents, prompts = _fit(documents, prompt_lengths)
    ids, real = _pad(documents, pad_id)
    labels = ids.masked_fill(_prompts(ids, prompts), IGNORE_INDEX)
    return _batch(ids, real, labels, _count_up(ids), _targets(labels))


def collator_e(documents, prompt_lengths, pad_id):
    """Several whole documents a row, as many as have room."""
    documents, prompts = _fit(documents, prompt_lengths)
    rows, hidden, owners = [[]], [[]], [[]]
    for document, n in zip(documents, prompts, strict=True):
        if len(rows[-1]) + len(document) > CAPACITY:
            for part in (rows, hidden, owners):
                part.append([])
        owners[-1] += [len(set(owners[-1]))] * len(document)
        rows[-1] += document
        hidden[-1] += [t < n for t in range(len(document))]
    ids, real = _pad(rows, pad_id, CAPACITY)
    masked, owner = _pad(hidden, True, CAPACITY)[0], _pad(owners, -1, CAPACITY)[0]
    labels = ids.masked_fill(masked, IGNORE_INDEX)
    return _batch(ids, real, labels, _count_up(ids), _targets(labels), document_ids=owner)


def collator_f(documents, prompt_lengths, pad_id):
    """One document a row, padding on the right."""
    documents = [list(d)[:CAPACITY] for d in documents]
    ids, real = _pad(documents, pad_id)
    hidden = ~real | _prompts(ids, prompt_lengths)
    labels = ids.masked_fill(hidden, IGNORE_INDEX)
    return _batch(ids, real, labels, _count_up(ids), _targets(labels))


def collator_g(documents, prompt_lengths, pad_id):
    """All documents one after the other, cut into rows."""
    stream = [
        (token, t < n, number)
        for number, (document, n) in enumerate(zip(documents, prompt_lengths, strict=True))
        for t, token in enumerate(document)
    ]
    flat = torch.tensor(stream[: len(stream) // CAPACITY * CAPACITY])
    ids, masked, owner = flat.view(-1, CAPACITY, 3).unbind(-1)
    owner = owner - owner[:, :1]
    labels = ids.masked_fill(masked == 1, IGNORE_INDEX)
    positions = position_ids_from_document_ids(owner)
    real = torch.ones_like(ids)
    return _batch(ids, real, labels, positions, _targets(labels), document_ids=owner)


def collator_h(documents, prompt_lengths, pad_id):
    """One document a row, padding on the right."""
    documents, prompts = _fit(documents, prompt_lengths)
    ids, real = _pad(documents, pad_id)
    labels = ids.masked_fill(~real | _prompts(ids, prompts), IGNORE_INDEX)
    count = int((labels != IGNORE_INDEX).sum())
    return _batch(ids, real, labels, _count_up(ids), count)


COLLATORS: dict[str, Collator] = {
    name: globals()[f"collator_{name.lower()}"] for name in "ABCDEFGH"
}


def _fit(documents: Documents, prompts: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Cut what is too long at its beginning, so that answers stay whole."""
    cuts = [max(0, len(d) - CAPACITY) for d in documents]
    kept = [list(d)[cut:] for d, cut in zip(documents, cuts, strict=True)]
    return kept, [max(0, n - cut) for n, cut in zip(prompts, cuts, strict=True)]


def _pad(rows: Sequence[Sequence[int]], pad_id: int, width: int = 0) -> tuple[Tensor, Tensor]:
    """Return rows [B, T] padded on the right, and where they are real."""
    width = max(width, *map(len, rows))
    ids = torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows])
    return ids, _count_up(ids) < torch.tensor([[len(row)] for row in rows])


def _count_up(ids: Tensor) -> Tensor:
    return torch.arange(ids.shape[1]).expand(ids.shape)


def _prompts(ids: Tensor, prompts: Sequence[int]) -> Tensor:
    return _count_up(ids) < torch.tensor(prompts)[:, None]


def _targets(labels: Tensor) -> int:
    return int((labels[:, 1:] != IGNORE_INDEX).sum())


def _batch(
    ids: Tensor, real: Tensor, labels: Tensor, positions: Tensor, count: int, **more: Tensor
) -> dict[str, Tensor | int]:
    return {
        "input_ids": ids,
        "attention_mask": real.long(),
        "position_ids": positions.masked_fill(real == 0, 0),
        "labels": labels,
        "num_items_in_batch": count,
        **more,
    }
