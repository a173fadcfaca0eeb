"""Masks against PyTorch's own functions and the worked examples of the course."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention.flex_attention import create_mask

from course_lib import (
    causal_mask,
    document_ids_from_lengths,
    document_mask,
    is_fully_masked,
    key_padding_mask,
    pack_documents,
    pad_documents,
    padding_mask,
    to_additive,
)


def test_causal_mask_is_the_one_of_torch() -> None:
    theirs = torch.nn.Transformer.generate_square_subsequent_mask(5) == 0
    assert torch.equal(causal_mask(5), theirs)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([1, 2, 3], ["10000", "11000", "11100", "11100", "11100"]),
        ([1, 1], ["10000", "11000", "11000", "11000", "11000"]),
    ],
)
def test_both_worked_masks(document: list[int], expected: list[str]) -> None:
    mask = padding_mask(pad_documents([document], length=5))[0]
    assert ["".join(map(str, row)) for row in mask.int().tolist()] == expected
    assert not is_fully_masked(mask).any()  # pad queries keep their view of real keys


def test_left_padding_leaves_the_pad_queries_with_nothing_to_see() -> None:
    mask = padding_mask(pad_documents([[1, 2], [1, 2, 3, 1]], side="left"))
    assert is_fully_masked(mask)[0].tolist() == [True, True, False, False]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(0, 3))
def test_document_mask_is_the_one_of_flex_attention(sizes: list[int], pads: int) -> None:
    ids = document_ids_from_lengths(sizes, sum(sizes) + pads)

    def rule(b: object, h: object, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return (q >= k) & (ids[q] == ids[k]) & (ids[q] >= 0)

    theirs = create_mask(rule, 1, 1, len(ids), len(ids), device="cpu")[0, 0]
    assert torch.equal(document_mask(ids), theirs)
    blocks = [torch.ones(n, n).tril() for n in sizes] + [torch.zeros(1, 1)] * pads
    assert torch.equal(document_mask(ids), torch.block_diag(*blocks).bool())


def test_rows_of_padding_are_all_false() -> None:
    batch = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4)
    assert is_fully_masked(document_mask(batch))[0].tolist() == [False] * 7 + [True]
    assert not document_mask(batch)[0, :, 7].any()


def test_document_ids_may_be_a_list() -> None:
    assert torch.equal(document_mask([0, 0, 1]), document_mask(torch.tensor([0, 0, 1])))


def test_nothing_looks_ahead_or_across() -> None:
    mask = document_mask(pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4))[0]
    assert not mask.triu(1).any()
    assert not mask[4:, :4].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_additive_form_gives_the_same_attention(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 7, 4, dtype=dtype).unbind(0)
    mask = document_mask(document_ids_from_lengths([4, 3]))
    ours = F.scaled_dot_product_attention(q, k, v, attn_mask=to_additive(mask, dtype))
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(ours, theirs)


def test_a_fully_masked_row_in_softmax_in_sdpa_and_in_additive_form() -> None:
    mask = torch.zeros(1, 1, 2, 2, dtype=torch.bool)
    q = torch.ones(1, 1, 2, 3)
    by_hand = torch.zeros(2, 2).masked_fill(~mask[0, 0], float("-inf")).softmax(-1)
    assert by_hand.isnan().all()
    assert (F.scaled_dot_product_attention(q, q, q, attn_mask=mask) == 0).all()
    assert to_additive(mask).softmax(-1).unique().tolist() == [0.5]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: causal_mask(0), ValueError, "length must be at least 1, got 0"),
        (lambda: causal_mask(2.0), TypeError, "length must be a whole number"),
        (lambda: key_padding_mask(torch.ones(3)), ValueError, r"must be \[B, T\]"),
        (lambda: key_padding_mask(torch.tensor([[1, 2]])), ValueError, "holds 2;"),
        (lambda: to_additive(torch.ones(2, 2)), TypeError, "mask must be boolean"),
        (lambda: to_additive(causal_mask(2), torch.int64), TypeError, "floating type"),
        (lambda: is_fully_masked(torch.ones(2)), TypeError, "mask must be boolean"),
        (lambda: document_mask(torch.zeros(2)), TypeError, "document_ids must hold whole numbers"),
        (lambda: document_mask("ab"), TypeError, "document_ids holds text"),
        (lambda: document_mask(torch.tensor([])), ValueError, "document_ids has no elements"),
        (lambda: document_mask(torch.zeros(1, 1, 1).long()), ValueError, "1 or 2 axes"),
    ],
)
def test_bad_masks(call: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
