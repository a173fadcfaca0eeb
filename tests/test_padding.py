"""Padding: the worked examples, other collators, and a loss that does not see it."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence

from course_lib import (
    IGNORE_INDEX,
    LossSum,
    TinyDecoder,
    pad_documents,
    padding_mask,
    reduce_losses,
    token_losses,
)
from tests.strategies import documents, with_any_id


def test_the_preview_of_two_sequences() -> None:
    batch = pad_documents([[1, 2, 3], [1, 1]], length=5)
    assert batch.input_ids.tolist() == [[1, 2, 3, 0, 0], [1, 1, 0, 0, 0]]
    assert batch.attention_mask.tolist() == [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]]
    assert batch.labels.tolist() == [[1, 2, 3, -100, -100], [1, 1, -100, -100, -100]]
    assert batch.labels[:, 1:].tolist() == [[2, 3, -100, -100], [1, -100, -100, -100]]
    assert batch.target_mask.nonzero().tolist() == [[0, 0], [0, 1], [1, 0]]


def test_the_exit_check_has_three_targets() -> None:
    batch = pad_documents([[1, 2], [3], [4, 5, 6]])
    assert batch.input_ids.tolist() == [[1, 2, 0], [3, 0, 0], [4, 5, 6]]
    assert batch.labels[:, 1:].tolist() == [[2, -100], [-100, -100], [5, 6]]
    assert batch.num_targets == 3


@given(with_any_id, st.integers(0, 6), st.sampled_from(["left", "right"]))
def test_ids_are_those_of_pad_sequence(docs: list, pad_id: int, side: str) -> None:
    theirs = pad_sequence(
        [torch.tensor(d) for d in docs], True, float(pad_id), padding_side=side
    )
    batch = pad_documents(docs, pad_id=pad_id, side=side)
    assert torch.equal(batch.input_ids, theirs)
    assert batch.attention_mask.sum(1).tolist() == [len(d) for d in docs]
    for row, doc in zip(batch.position_ids, docs, strict=True):
        assert row[row >= 0].tolist() == list(range(len(doc)))


@given(documents(), st.integers(1, 9), st.integers(0, 5))
def test_width(docs: list, multiple: int, extra: int) -> None:
    longest = max(map(len, docs))
    assert pad_documents(docs).input_ids.shape[1] == longest
    width = pad_documents(docs, length=longest + extra, multiple_of=multiple).input_ids.shape[1]
    assert width % multiple == 0 and longest + extra <= width < longest + extra + multiple


@given(documents(min_length=2), st.integers(0, 6), st.sampled_from(["left", "right"]))
def test_padding_changes_neither_loss_nor_gradient(docs: list, extra: int, side: str) -> None:
    model = TinyDecoder()
    params = list(model.parameters())

    def total(part: list, **how: object) -> LossSum:
        batch = pad_documents(part, **how)
        logits = model(
            batch.input_ids, mask=padding_mask(batch), position_ids=batch.position_ids
        )
        return LossSum.of(token_losses(logits, batch.labels), batch.target_mask)

    apart = sum(total([doc]) for doc in docs)
    padded = total(docs, length=max(map(len, docs)) + extra, side=side)
    assert padded.count == apart.count
    torch.testing.assert_close(padded.mean, apart.mean, rtol=1e-6, atol=1e-6)
    ours = torch.autograd.grad(padded.mean, params)
    theirs = torch.autograd.grad(apart.mean, params)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@given(documents(min_length=2), st.randoms(use_true_random=False))
def test_order_of_documents_does_not_matter(docs: list, random: object) -> None:
    model = TinyDecoder()

    def mean(part: list) -> torch.Tensor:
        batch = pad_documents(part)
        losses = token_losses(model(batch.input_ids, mask=padding_mask(batch)), batch.labels)
        return reduce_losses(losses, batch.target_mask)

    shuffled = random.sample(docs, len(docs))
    torch.testing.assert_close(mean(docs), mean(shuffled), rtol=1e-6, atol=1e-6)


def test_a_document_of_one_token_trains_nothing() -> None:
    batch = pad_documents([[3]])
    assert batch.num_targets == 0 and batch.labels.tolist() == [[3]]
    assert (pad_documents([[3], [1, 2]], side="left").labels[0] == IGNORE_INDEX).sum() == 2
