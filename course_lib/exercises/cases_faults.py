"""Random batches with faults in them, for the detectors of chapter 7."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from course_lib.boundaries import document_ids_from_lengths
from course_lib.exercises import cases
from course_lib.masks import causal_mask, document_mask
from course_lib.padding import pad_documents
from course_lib.targets import mask_boundaries
from course_lib.vocabulary import EOS, IGNORE_INDEX


def scored_twice(rng: random.Random) -> tuple[Tensor, Tensor]:
    """Rows of which some are scored two ahead; their tokens repeat now and then."""
    rows = [cases.tokens(rng, rng.randint(3, 6), most=4) for _ in range(rng.randint(1, 4))]
    batch = pad_documents(rows)
    moved = torch.cat([batch.labels[:, 2:], torch.full((len(rows), 1), IGNORE_INDEX)], 1)
    twice = cases.coins(rng, len(rows), 1)
    return batch.input_ids, torch.where(twice, moved, batch.labels[:, 1:])


def padding_labelled(rng: random.Random) -> tuple[Tensor, ...]:
    """A batch, padded right or left, in which some padding carries a label; id 0 may be real."""
    batch = pad_documents(cases.documents(rng, least=0), side=rng.choice(["right", "left"]))
    leak = cases.coins(rng, *batch.input_ids.shape, 0.4)
    labels = torch.where(leak & (batch.attention_mask == 0), batch.input_ids, batch.labels)
    return batch.input_ids, labels, batch.attention_mask


def eos_erased(rng: random.Random) -> tuple[Tensor, Tensor, Tensor, int]:
    """Documents with EOS, padded with EOS, some labels of a real EOS switched off."""
    rows = [[*d, EOS] if cases.coin(rng, 0.8) else d for d in cases.documents(rng)]
    batch = pad_documents(rows, pad_id=EOS)
    lost = cases.coins(rng, *batch.input_ids.shape)
    prompt = cases.coins(rng, *batch.input_ids.shape, 0.2)
    eos = batch.input_ids == EOS
    labels = batch.labels.masked_fill(eos & lost | ~eos & prompt, IGNORE_INDEX)
    return batch.input_ids, labels, batch.attention_mask, EOS


def many_scored_twice(rng: random.Random) -> tuple[Tensor, Tensor]:
    """Long rows of which some predictions are scored two ahead; tokens repeat in most of them."""
    rows = [
        cases.tokens(rng, max(3, n), 0, rng.choice([2, cases.MOST_ID]))
        for n in cases.many_lengths(rng)
    ]
    batch = pad_documents(rows)
    moved = torch.cat([batch.labels[:, 2:], torch.full((len(rows), 1), IGNORE_INDEX)], 1)
    twice = cases.coins(rng, *moved.shape)
    return batch.input_ids, torch.where(twice, moved, batch.labels[:, 1:])


def many_padding_labelled(rng: random.Random) -> tuple[Tensor, ...]:
    """The same with long rows, and labels of any id where there is padding."""
    batch = pad_documents(cases.many_documents(rng), side=rng.choice(["right", "left"]))
    shape = batch.input_ids.shape
    rows = [cases.tokens(rng, shape[1], 0, cases.MOST_ID) for _ in range(shape[0])]
    leak = cases.coins(rng, *shape, 0.2) & (batch.attention_mask == 0)
    labels = torch.where(leak, cases.rectangle(rows), batch.labels)
    return batch.input_ids, labels, batch.attention_mask


def many_eos_erased(rng: random.Random) -> tuple[Tensor, Tensor, Tensor, int]:
    """The same with long rows, and an EOS that has another id."""
    eos_id = cases.MOST_ID + 1
    rows = [[*d, eos_id] if cases.coin(rng, 0.8) else d for d in cases.many_documents(rng)]
    rows = [[eos_id if cases.coin(rng, 0.2) else token for token in row] for row in rows]
    batch = pad_documents(rows, pad_id=eos_id)
    labels = batch.labels.masked_fill(cases.coins(rng, *batch.labels.shape, 0.3), IGNORE_INDEX)
    return batch.input_ids, labels, batch.attention_mask, eos_id


def many_leaks(rng: random.Random) -> tuple[Tensor, Tensor]:
    ids = cases.many_ids(rng, 1)[0]
    return document_mask(ids) | cases.coins(rng, len(ids), len(ids), 0.05), ids


def leaky_mask(rng: random.Random) -> tuple[Tensor, Tensor]:
    ids = cases.packed_ids(rng, 1)[0]
    mask = document_mask(ids)
    leak = rng.choice(["none", "causal", "some", "full"])
    if leak == "causal":
        mask = causal_mask(len(ids))
    elif leak == "some":
        mask = mask | cases.coins(rng, len(ids), len(ids), 0.15)
    elif leak == "full":
        mask = torch.ones_like(mask)
    return mask, ids


def rows_under_b(
    rng: random.Random, layouts: list[list[int]], width: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return losses [B, T-1], 0 where nothing is scored, labels under B and document ids [B, T]."""
    ids = torch.stack([document_ids_from_lengths(lengths, width) for lengths in layouts])
    labels = cases.rectangle([cases.tokens(rng, width) for _ in ids])
    labels = mask_boundaries(labels.masked_fill(ids < 0, IGNORE_INDEX), ids)
    losses = cases.losses(rng, len(ids), width - 1)
    return losses * (labels[:, 1:] != IGNORE_INDEX), labels, ids
