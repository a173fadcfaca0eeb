"""The head in chunks is the head and the loss: value and gradients against PyTorch's own."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import LossSum, head_loss, token_losses


def inputs(seed: int, batch: int, columns: int, wide: int, vocab: int):
    torch.manual_seed(seed)
    hidden = torch.randn(batch, columns, wide, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(vocab, wide, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(vocab, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(-1, vocab, (batch, columns))
    return hidden, weight, bias, labels.where(labels >= 0, -100)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 9), st.integers(1, 5),
    st.integers(2, 11), st.integers(1, 30), st.booleans(),
)  # fmt: skip
def test_value_and_gradients_are_those_of_cross_entropy(
    seed, batch, columns, wide, vocab, chunk, biased
):
    hidden, weight, bias, labels = inputs(seed, batch, columns, wide, vocab)
    parts = (hidden, weight, bias) if biased else (hidden, weight)
    pair = head_loss(hidden, weight, labels, bias=bias if biased else None, chunk=chunk)
    logits = F.linear(hidden, weight, bias if biased else None)
    expected = F.cross_entropy(
        logits[:, :-1].reshape(-1, vocab), labels[:, 1:].reshape(-1), reduction="sum"
    )
    assert pair.count == int((labels[:, 1:] != -100).sum())
    torch.testing.assert_close(pair.total, expected.detach().double())
    ours = torch.autograd.grad(pair.total * 3, parts)
    theirs = torch.autograd.grad(expected * 3, parts)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other)


def test_gradients_pass_pytorchs_own_check():
    hidden, weight, bias, labels = inputs(1, 2, 5, 3, 4)
    assert torch.autograd.gradcheck(
        lambda h, w, b: head_loss(h, w, labels, bias=b, chunk=3).total, (hidden, weight, bias)
    )


def test_the_pair_is_that_of_token_losses_and_adds_up_over_rows():
    hidden, weight, bias, labels = inputs(2, 4, 7, 3, 6)
    logits = F.linear(hidden, weight, bias)
    whole = LossSum.of(token_losses(logits, labels), labels[:, 1:] != -100)
    rows = sum(head_loss(hidden[i : i + 1], weight, labels[i : i + 1], bias=bias, chunk=2)
               for i in range(4))  # fmt: skip
    assert rows.count == whole.count
    torch.testing.assert_close(rows.mean, whole.mean)


def test_a_frozen_head_gets_no_gradient_and_the_hidden_states_do():
    hidden, weight, _, labels = inputs(3, 1, 5, 3, 4)
    head_loss(hidden, weight.detach(), labels).total.backward()
    assert weight.grad is None and hidden.grad.abs().sum() > 0
    assert not head_loss(hidden.detach(), weight.detach(), labels).total.requires_grad


def test_no_target_is_a_sum_of_nothing_and_its_mean_says_so():
    hidden, weight, _, labels = inputs(4, 1, 5, 3, 4)
    pair = head_loss(hidden, weight, torch.full_like(labels, -100))
    assert (pair.total.item(), pair.count) == (0.0, 0)
    with pytest.raises(ValueError, match="zero targets"):
        _ = pair.mean


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda h, w, y: (h, w, y[:, 1:]), ValueError, "same B and T"),
        (lambda h, w, y: (h, w[:, :2], y), ValueError, r"weight \(4, 2\) must be \[V, d\]"),
        (lambda h, w, y: (h, w, y.clamp(min=0) + 4), ValueError, "ids 0 to 3"),
        (lambda h, w, y: (h, w, y.double()), TypeError, "labels must be int64"),
        (lambda h, w, y: (h, w.float(), y), TypeError, "use one dtype"),
    ],
)
def test_what_does_not_fit_is_named(change, error, words):
    hidden, weight, _, labels = inputs(5, 2, 5, 3, 4)
    with pytest.raises(error, match=words):
        head_loss(*change(hidden, weight, labels))
    with pytest.raises(ValueError, match="chunk"):
        head_loss(hidden, weight, labels, chunk=0)
    with pytest.raises(ValueError, match=r"bias \(3,\) must be \[V\]"):
        head_loss(hidden, weight, labels, bias=torch.zeros(3, dtype=torch.float64))
