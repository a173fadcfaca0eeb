"""Shift, sums and denominators against PyTorch's cross-entropy and the numbers of the course."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from course_lib import (
    IGNORE_INDEX,
    LossSum,
    TinyDecoder,
    pad_documents,
    reduce_losses,
    shift,
    token_losses,
)
from tests.strategies import documents

# two documents in a row: losses 1 and 3, then five times 1, and one slot that is no target
LOSSES = torch.tensor([[1.0, 3.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
MASK = torch.tensor([[True, True, False, True, True, True, True, True]])
DOCUMENTS = torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1]])


def test_the_three_denominators() -> None:
    assert reduce_losses(LOSSES, MASK).item() == pytest.approx(9 / 7)
    assert reduce_losses(LOSSES, MASK, by="sequence", document_ids=DOCUMENTS).item() == 1.5
    assert reduce_losses(LOSSES, MASK, by="slot").item() == 9 / 8


def test_the_same_denominators_on_padded_rows() -> None:
    losses = torch.tensor([[1.0, 3.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    mask = losses > 0
    assert reduce_losses(losses, mask).item() == pytest.approx(9 / 7)
    assert reduce_losses(losses, mask, by="sequence").item() == 1.5


def test_the_same_denominators_on_a_row_of_eight_slots() -> None:
    # documents of three and five tokens, convention A: seven predictions, all targets
    losses = LOSSES[MASK][None]
    slots = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])
    mask = torch.ones_like(losses, dtype=torch.bool)
    assert reduce_losses(losses, mask, document_ids=slots).item() == pytest.approx(9 / 7)
    assert reduce_losses(losses, mask, by="sequence", document_ids=slots).item() == 1.5
    assert reduce_losses(losses, mask, by="slot", document_ids=slots).item() == 9 / 8


@given(documents(max_length=6), st.integers(0, 2**16))
def test_token_losses_are_those_of_torch(docs: list, seed: int) -> None:
    batch = pad_documents(docs, length=7)
    logits = torch.randn(*batch.labels.shape, 7, generator=torch.Generator().manual_seed(seed))
    losses = token_losses(logits, batch.labels)
    moved, targets = shift(logits, batch.labels)
    theirs = F.cross_entropy(moved.reshape(-1, 7), targets.reshape(-1), reduction="none")
    assert torch.equal(losses.flatten(), theirs)
    assert losses.dtype == torch.float32
    assert (losses[~batch.target_mask] == 0).all()
    if batch.num_targets:
        mean = F.cross_entropy(moved.reshape(-1, 7), targets.reshape(-1))
        torch.testing.assert_close(reduce_losses(losses, batch.target_mask), mean)


def test_half_precision_is_lifted_to_float32() -> None:
    logits = torch.randn(1, 4, 7, dtype=torch.bfloat16)
    labels = torch.tensor([[1, 2, 3, 4]])
    assert torch.equal(token_losses(logits, labels), token_losses(logits.float(), labels))


def test_the_shift_scores_position_0_on_the_second_token() -> None:
    ids = torch.tensor([[1, 2, 3, 4]])
    logits = F.one_hot(ids, 7).float() * 50  # each position is sure of its own token
    moved, targets = shift(logits.roll(-1, 1), ids)  # … and now of the next one
    assert targets[0, 0] == ids[0, 1]
    assert token_losses(logits.roll(-1, 1), ids).max() < 1e-6
    assert token_losses(logits, ids).min() > 49  # unshifted logits are wrong everywhere


@given(documents(min_documents=2, min_length=2, max_length=6), st.data())
def test_micro_batches_add_up(docs: list, data: st.DataObject) -> None:
    model = TinyDecoder()
    cut = data.draw(st.integers(1, len(docs) - 1))

    def pair(part: list) -> LossSum:
        batch = pad_documents(part)
        return LossSum.of(token_losses(model(batch.input_ids), batch.labels), batch.target_mask)

    whole, parts = pair(docs), sum([pair(docs[:cut]), pair(docs[cut:])])
    assert parts.count == whole.count
    torch.testing.assert_close(parts.mean, whole.mean, rtol=1e-6, atol=1e-6)
    params = list(model.parameters())
    for a, b in zip(
        torch.autograd.grad(parts.mean, params),
        torch.autograd.grad(whole.mean, params),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_a_mean_of_means_is_another_number() -> None:
    parts = [LossSum(4.0, 2), LossSum(5.0, 5)]
    assert sum(parts).mean == 9 / 7
    assert sum(p.mean for p in parts) / 2 == 1.5


def test_sequences_without_a_target_do_not_count() -> None:
    losses, mask = torch.tensor([[2.0, 0.0], [0.0, 0.0]]), torch.tensor([[True, False]] * 2)
    mask[1] = False
    assert reduce_losses(losses, mask, by="sequence").item() == 2.0


def test_gradients_flow_through_every_mean() -> None:
    for by in ("token", "sequence", "slot"):
        losses = LOSSES.clone().requires_grad_()
        reduce_losses(losses, MASK, by=by, document_ids=DOCUMENTS).backward()
        assert (losses.grad[~MASK] == 0).all() and (losses.grad[MASK] > 0).all()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: LossSum(0.0, 0).mean, ValueError, "zero targets"),
        (lambda: reduce_losses(LOSSES, MASK & False), ValueError, "no targets"),
        (lambda: reduce_losses(LOSSES, MASK, by="row"), ValueError, "by must be one of"),
        (lambda: reduce_losses(LOSSES, MASK[:, 1:]), ValueError, "differ"),
        (lambda: reduce_losses(LOSSES, MASK.long()), TypeError, "target_mask must be boolean"),
        (lambda: reduce_losses(LOSSES.long(), MASK), TypeError, "losses must be floating-point"),
        (lambda: reduce_losses([[1.0]], MASK), TypeError, "losses must be a tensor"),
        (
            lambda: reduce_losses(LOSSES, MASK, by="sequence", document_ids=DOCUMENTS[:, 2:]),
            ValueError,
            "document_ids has shape",
        ),
        (
            lambda: shift(torch.zeros(1, 4, 7), torch.zeros(1, 3, dtype=torch.long)),
            ValueError,
            "not shifted before the loss",
        ),
        (
            lambda: token_losses(torch.zeros(1, 3, 7), torch.tensor([[1, 7, 2]])),
            ValueError,
            r"labels\[0, 1\] is 7",
        ),
        (
            lambda: token_losses(torch.zeros(1, 2, 7), torch.tensor([[1, -1]])),
            ValueError,
            r"labels\[0, 1\] is -1",
        ),
        (
            lambda: token_losses(torch.zeros(1, 2, 7), torch.tensor([[1.0, 2.0]])),
            TypeError,
            "labels must be int64",
        ),
    ],
)
def test_bad_losses(call: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_only_sums_are_added_to_sums() -> None:
    with pytest.raises(TypeError):
        _ = LossSum(1.0, 1) + 2.0
    assert IGNORE_INDEX == torch.nn.CrossEntropyLoss().ignore_index


def test_int32_labels_are_taken() -> None:
    logits, labels = torch.randn(1, 4, 7), torch.tensor([[1, 2, 3, 4]])
    assert torch.equal(token_losses(logits, labels.int()), token_losses(logits, labels))
