"""Labels by rule, and a ledger whose sums must agree."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import (
    EOS,
    IGNORE_INDEX,
    Ledger,
    Lost,
    mask_boundaries,
    mask_prompts,
    pack_documents,
    pad_documents,
    prompt_slots,
)
from tests.strategies import documents, with_any_id


@given(with_any_id, st.sampled_from(["left", "right"]), st.integers(0, 6))
def test_padding_goes_by_length_whatever_the_pad_id(docs: list, side: str, pad_id: int) -> None:
    batch = pad_documents(docs, side=side, pad_id=pad_id)
    for row, doc in enumerate(docs):
        kept = batch.labels[row][batch.labels[row] != IGNORE_INDEX].tolist()
        behind_padding = side == "left" and len(doc) < batch.labels.shape[1]
        assert kept == (doc[1:] if behind_padding else doc)


def test_eos_as_pad_keeps_its_targets() -> None:
    batch = pad_documents([[1, 2, EOS], [1, EOS]], pad_id=EOS)
    assert batch.labels.tolist() == [[1, 2, EOS], [1, EOS, IGNORE_INDEX]]
    by_id = batch.input_ids.masked_fill(batch.input_ids == EOS, IGNORE_INDEX)
    assert (by_id == EOS).sum() == 0  # what masking by id does: no EOS is ever a target


@given(documents(max_length=4), st.data())
def test_prompts_are_masked_and_nothing_else(docs: list, data: st.DataObject) -> None:
    prompts = [data.draw(st.integers(0, len(d))) for d in docs]
    masked = pad_documents(docs, prompt_lengths=prompts)
    plain = pad_documents(docs)
    slots = prompt_slots(plain.document_ids, [[p] for p in prompts])
    assert slots.sum() == sum(prompts)
    assert torch.equal(masked.labels, plain.labels.masked_fill(slots, IGNORE_INDEX))
    packed = pack_documents(docs, 8, eos_id=EOS, prompt_lengths=prompts)
    assert (packed.labels[packed.attention_mask == 1] == IGNORE_INDEX).sum() == sum(prompts)


@given(documents())
def test_b_is_a_without_the_boundary_targets(docs: list) -> None:
    a = pack_documents(docs, 12, eos_id=EOS, boundary="A")
    b = pack_documents(docs, 12, eos_id=EOS, boundary="B")
    assert torch.equal(mask_boundaries(a.labels, a.document_ids), b.labels)
    assert a.num_targets - b.num_targets == len(docs) - len(a)
    assert b.ledger().boundaries == len(docs) - len(a)


@given(documents(), st.sampled_from("AB"), st.sampled_from(["error", "split"]), st.data())
def test_the_ledger_balances(docs: list, boundary: str, overlong: str, data: st.DataObject) -> None:
    prompts = [data.draw(st.integers(0, len(d))) for d in docs]
    batch = pack_documents(
        docs, 9, eos_id=EOS, boundary=boundary, overlong=overlong, prompt_lengths=prompts
    )
    ledger = batch.ledger()
    assert ledger.slots == batch.num_slots
    assert ledger.targets == batch.num_targets
    assert ledger.padding == batch.num_slots - int(batch.attention_mask.sum())
    assert ledger.row_starts == len(batch)


@given(documents(max_length=12), st.sampled_from(["split", "truncate", "drop"]))
def test_no_token_is_lost_silently(docs: list, overlong: str) -> None:
    given_tokens = sum(len(d) + 1 for d in docs)
    try:
        batch = pack_documents(docs, 6, eos_id=EOS, overlong=overlong)
    except ValueError as error:
        assert overlong == "drop" and "were dropped" in str(error)
        return
    assert int(batch.attention_mask.sum()) + batch.lost.tokens == given_tokens
    long = [d for d in docs if len(d) + 1 > 6]
    counted = batch.lost
    assert {
        "split": counted.split_documents,
        "truncate": counted.truncated_documents,
        "drop": counted.dropped_documents,
    }[overlong] == len(long)


def test_the_ledger_says_what_was_lost() -> None:
    batch = pack_documents([[1] * 9, [2, 3]], 6, eos_id=EOS, overlong="truncate")
    assert batch.lost == Lost(truncated_tokens=4, truncated_documents=1)
    assert dict(batch.ledger().rows())["truncated tokens"] == 4
    assert "truncated tokens" in str(batch.ledger())
    assert "truncated tokens" in batch.ledger()._repr_html_()
    assert "truncated" not in str(pack_documents([[1]], 6).ledger())


def test_ledger_of_nothing_is_zero() -> None:
    assert Ledger().slots == 0 and Lost().tokens == 0


def test_prompts_of_the_wrong_shape() -> None:
    ids = torch.tensor([[0, 0, 1]])
    with pytest.raises(ValueError, match="2 rows for 1 rows of tokens"):
        mask_prompts(ids, ids, [[1], [1]])
    with pytest.raises(ValueError, match="1 entries for 2 documents"):
        mask_prompts(ids, ids, [[1]])
