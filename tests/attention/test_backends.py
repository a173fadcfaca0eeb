"""Every backend gives what the dense mask gives: forward, gradient, and through a decoder."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention.flex_attention import create_block_mask

from course_lib import (
    DocumentAttention,
    TinyDecoder,
    attend,
    attention_weights,
    document_block_mask,
    document_ids_from_lengths,
    document_mask,
    document_spans,
    pack_documents,
)
from course_lib.attention import BACKENDS, choose, usable, why_not

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")

rows = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(1, 6), min_size=1, max_size=4)),
    min_size=1, max_size=3,
)  # fmt: skip
"""Rows of (padding on the left, document lengths)."""


def ids_of(layout: list[tuple[int, list[int]]]) -> torch.Tensor:
    width = max(left + sum(sizes) for left, sizes in layout) + 1
    out = torch.full((len(layout), width), -1)
    for row, (left, sizes) in enumerate(layout):
        out[row, left:] = document_ids_from_lengths(sizes, width - left)
    return out


def queries(ids: torch.Tensor, seed: int = 0, **how: object) -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [
        torch.randn(len(ids), 2, ids.shape[1], 4, generator=rng, dtype=torch.float64, **how)
        for _ in range(3)
    ]


@given(rows)
def test_per_document_equals_dense_forward_and_backward(layout: list) -> None:
    ids = ids_of(layout)
    results = []
    for mask in (document_mask(ids), DocumentAttention(ids, "per_document")):
        q, k, v = queries(ids, requires_grad=True)
        out = attend(q, k, v, mask=mask)
        weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(1)).double()
        results.append((out, *torch.autograd.grad((out * weight).sum(), (q, k, v))))
    for dense, ours in zip(*results, strict=True):
        torch.testing.assert_close(ours, dense, rtol=0, atol=1e-12)


@settings(max_examples=20)
@given(rows)
def test_flex_equals_dense_forward(layout: list) -> None:
    ids = ids_of(layout)
    q, k, v = (x.float() for x in queries(ids))
    flex = attend(q, k, v, mask=DocumentAttention(ids, "flex"))
    dense = attend(q, k, v, mask=document_mask(ids))
    torch.testing.assert_close(flex, dense, rtol=1e-5, atol=1e-6)


@given(rows)
def test_what_is_made_from_document_ids(layout: list) -> None:
    ids = ids_of(layout)
    documents = DocumentAttention(ids)
    assert torch.equal(documents.mask, document_mask(ids))
    assert documents.shape == document_mask(ids).shape
    sizes = [n for _, lengths in layout for n in lengths]
    assert [stop - start for _, start, stop in document_spans(ids)] == sizes
    assert documents.cu_seqlens.diff().tolist() == sizes
    assert documents.cu_seqlens.dtype == torch.int32
    assert documents.longest == max(sizes)


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=6), st.integers(0, 300),
    st.sampled_from([0, 0, 5, 128, 200]),
)  # fmt: skip
def test_block_tables_are_those_of_torch(sizes: list[int], right: int, left: int) -> None:
    width = left + sum(sizes) + right
    ids = torch.full((2, width), -1)
    ids[0, left:] = document_ids_from_lengths(sizes, width - left)
    ids[1] = document_ids_from_lengths(sizes[::-1], width)

    def rule(b, h, q, k):
        return (q >= k) & (ids[b, q] == ids[b, k]) & (ids[b, q] >= 0)

    theirs = create_block_mask(rule, 2, None, width, width, device="cpu")
    ours = document_block_mask(ids)
    for name in ("kv_num_blocks", "full_kv_num_blocks", "q_num_blocks", "full_q_num_blocks"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name)), name
    for count, table in (
        ("kv_num_blocks", "kv_indices"), ("full_kv_num_blocks", "full_kv_indices"),
        ("q_num_blocks", "q_indices"), ("full_q_num_blocks", "full_q_indices"),
    ):  # fmt: skip
        used = getattr(ours, count)[..., None] > torch.arange(getattr(ours, table).shape[-1])
        assert torch.equal(getattr(ours, table)[used], getattr(theirs, table)[used]), table
    assert ours.sparsity() == theirs.sparsity()


@pytest.mark.parametrize("backend", ["auto", "dense", "per_document"])
def test_the_decoder_runs_on_any_of_them(backend: str) -> None:
    batch = pack_documents([[1, 2, 3], [1, 1], [3]], 10, eos_id=4, boundary="B")
    model, grads = TinyDecoder().double(), []
    for mask in (document_mask(batch), DocumentAttention(batch.document_ids, backend)):
        logits = model(batch.input_ids, mask=mask, position_ids=batch.position_ids)
        grads.append([logits, *torch.autograd.grad(logits.square().sum(), model.parameters())])
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-11)
    seen = model.look(batch.input_ids, mask=DocumentAttention(batch.document_ids))
    assert torch.equal(seen.attention[0] > 0, document_mask(batch)[:, None].expand(1, 2, -1, -1))


def test_weights_under_documents_are_those_under_their_mask() -> None:
    ids = torch.tensor([[0, 0, 1, -1]])
    q, k, _ = queries(ids)
    under_mask = attention_weights(q, k, mask=document_mask(ids))
    assert torch.equal(attention_weights(q, k, mask=DocumentAttention(ids)), under_mask)


def test_auto_and_the_reasons() -> None:
    assert choose(torch.zeros(1, 1, 128, 8)) == "dense"
    assert choose(torch.zeros(1, 1, 129, 8)) == "per_document"
    assert set(usable(torch.zeros(1, 1, 2, 8))) == set(BACKENDS)
    q = torch.zeros(1, 1, 2, 8, requires_grad=True)
    assert "no backward pass on a CPU; per_document" in why_not("flex", q)
    ids = torch.zeros(1, 2, dtype=torch.long)
    with pytest.raises(ValueError, match="varlen needs a GPU.*per_document does the same"):
        attend(q, q, q, mask=DocumentAttention(ids, "varlen"))
    with pytest.raises(ValueError, match="no backward pass on a CPU"):
        attend(q, q, q, mask=DocumentAttention(ids, "flex"))


def test_bad_documents() -> None:
    q = torch.zeros(1, 1, 3, 8)
    with pytest.raises(ValueError, match=r"document_ids has shape \(1, 2\)"):
        attend(q, q, q, mask=DocumentAttention(torch.zeros(1, 2, dtype=torch.long)))
    with pytest.raises(ValueError, match="backend must be one of"):
        DocumentAttention(torch.zeros(1, 2, dtype=torch.long), "flash")
    with pytest.raises(TypeError, match="document_ids must hold whole numbers"):
        DocumentAttention(torch.zeros(1, 2))
