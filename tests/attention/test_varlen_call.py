"""What the varlen backend hands to PyTorch's kernel, with a kernel of our own in its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from course_lib import DocumentAttention, attend, document_mask
from course_lib.attention import backends


def each(q, k, v, marks: torch.Tensor) -> torch.Tensor:
    """SDPA on each stretch of [N, H, d]."""
    sizes = marks.diff().tolist()
    parts = zip(*(x.transpose(0, 1).split(sizes, 1) for x in (q, k, v)), strict=True)
    outs = [F.scaled_dot_product_attention(*part, is_causal=True) for part in parts]
    return torch.cat(outs, 1).transpose(0, 1)


def new(q, k, v, cu_seq_q, cu_seq_k, max_q, max_k, *, window_size=(-1, -1)):
    assert window_size == (-1, 0)
    assert max_q == max_k == int(cu_seq_q.diff().max()) and cu_seq_q.dtype == torch.int32
    return each(q, k, v, cu_seq_q)


def old(q, k, v, cu_seq_q, cu_seq_k, max_q, max_k, is_causal=False, return_aux=None):
    assert is_causal
    return each(q, k, v, cu_seq_q)


@pytest.mark.parametrize("kernel", [new, old])
def test_padding_is_removed_and_put_back(kernel: Callable, monkeypatch) -> None:
    monkeypatch.setattr("torch.nn.attention.varlen.varlen_attn", kernel)
    monkeypatch.setitem(backends._REASONS, "varlen", lambda q: None)
    ids = torch.tensor([[0, 0, 0, 1, -1, -1], [-1, 0, 1, 1, 1, 2]])
    rng = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 2, 2, 6, 8, generator=rng, dtype=torch.float64).unbind(0)
    results = []
    for mask in (document_mask(ids), DocumentAttention(ids, "varlen")):
        inputs = [x.clone().requires_grad_() for x in (q, k, v)]
        out = attend(*inputs, mask=mask)
        results.append([out, *torch.autograd.grad(out.square().sum(), inputs)])
    for dense, ours in zip(*results, strict=True):
        torch.testing.assert_close(ours, dense, rtol=0, atol=1e-12)
