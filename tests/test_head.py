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


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_many_small_chunks_are_as_exact_as_one_in_half_precision(dtype):
    hidden, weight, bias, labels = inputs(6, 2, 400, 8, 5)
    parts = [part.detach().to(dtype).requires_grad_() for part in (hidden, weight, bias)]
    wide = [part.detach().double().requires_grad_() for part in parts]
    mean = head_loss(parts[0], parts[1], labels, bias=parts[2], chunk=1).mean
    logits = F.linear(*wide)
    exact = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
    assert mean.item() == pytest.approx(exact.item(), rel=2e-3)
    for mine, other in zip(
        torch.autograd.grad(mean, parts), torch.autograd.grad(exact, wide), strict=True
    ):
        assert mine.dtype == dtype
        off = (mine.double() - other).norm() / other.norm()
        assert off < 2 * torch.finfo(dtype).eps, off


def test_the_scale_of_a_grad_scaler_is_no_infinity():
    hidden, weight, _, labels = inputs(7, 1, 5, 3, 4)
    parts = [(hidden.detach() / 64).half().requires_grad_(), (weight.detach() / 64).half()]
    pair = head_loss(*parts, labels)
    (scaled,) = torch.autograd.grad(pair.total * 2.0**16, parts[0])
    wide = (parts[0].detach() * 1.0).float().requires_grad_()
    logits = wide @ parts[1].float().T
    loss = F.cross_entropy(logits[0, :-1], labels[0, 1:], reduction="sum")
    (exact,) = torch.autograd.grad(loss * 2.0**16, wide)
    torch.testing.assert_close(scaled.float(), exact, rtol=0.01, atol=4)


def test_a_second_derivative_is_refused_and_not_half_there():
    hidden, weight, _, labels = inputs(8, 1, 5, 3, 4)
    (first,) = torch.autograd.grad(
        head_loss(hidden, weight, labels).total ** 2, hidden, create_graph=True
    )
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_a_head_is_given_by_its_weight_on_one_device():
    hidden, weight, _, labels = inputs(9, 1, 5, 3, 4)
    with pytest.raises(TypeError, match="weight must be a tensor, got Linear.*head.weight"):
        head_loss(hidden, torch.nn.Linear(3, 4), labels)
    with pytest.raises(TypeError, match="labels must be a tensor, got list"):
        head_loss(hidden, weight, labels.tolist())
    with pytest.raises(TypeError, match="hidden must be floating-point"):
        head_loss(hidden.long(), weight.long(), labels)
    with pytest.raises(ValueError, match="weight is on meta and hidden on cpu"):
        head_loss(hidden, weight.to("meta"), labels)
    with pytest.raises(TypeError, match=r"Under autocast give weight.to\(hidden.dtype\)"):
        head_loss(hidden.bfloat16(), weight, labels)
