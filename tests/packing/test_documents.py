"""Packed rows: worked examples, the four over-long rules, and packed = separate."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import (
    EOS,
    IGNORE_INDEX,
    LossSum,
    Lost,
    TinyDecoder,
    document_mask,
    pack_documents,
    pad_documents,
    token_losses,
)
from course_lib.packing import OVERLONG, STRATEGIES
from tests.strategies import documents, eos_ids


def test_the_packed_row_of_eight() -> None:
    batch = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=EOS)
    assert batch.input_ids.tolist() == [[1, 2, 3, 4, 1, 1, 4, 0]]
    assert batch.position_ids.tolist() == [[0, 1, 2, 3, 0, 1, 2, -1]]
    assert batch.labels.tolist() == [[1, 2, 3, 4, 1, 1, 4, -100]]
    assert batch.target_mask[0].nonzero().flatten().tolist() == [0, 1, 2, 3, 4, 5]
    assert batch.cu_seqlens().tolist() == [0, 4, 7]
    mask = document_mask(batch)[0]
    assert torch.equal(mask[:4, :4], torch.ones(4, 4).tril().bool())
    assert torch.equal(mask[4:7, 4:7], torch.ones(3, 3).tril().bool())
    assert mask.sum() == 10 + 6 and not mask[7].any()


def test_the_packed_row_of_the_exit_check() -> None:
    batch = pack_documents([[1, 2], [3], [4, 5, 6]], 10, eos_id=7)
    assert batch.input_ids.tolist() == [[1, 2, 7, 3, 7, 4, 5, 6, 7, 0]]
    assert batch.position_ids.tolist() == [[0, 1, 2, 0, 1, 0, 1, 2, 3, -1]]
    assert batch.labels.tolist() == [[1, 2, 7, 3, 7, 4, 5, 6, 7, -100]]
    assert batch.labels[0, 1:].tolist() == [2, 7, 3, 7, 4, 5, 6, 7, -100]
    shifted = batch.labels[0, 1:]
    assert shifted[2] == 3 and shifted[4] == 4  # EOS predicts the next document's first token
    b = pack_documents([[1, 2], [3], [4, 5, 6]], 10, eos_id=7, boundary="B")
    assert b.labels.tolist() == [[1, 2, 7, -100, 7, -100, 5, 6, 7, -100]]


def pieces(batch: object) -> list[list[int]]:
    """Each document of each row as a list of ids."""
    found = []
    for ids, docs in zip(batch.input_ids, batch.document_ids, strict=True):
        found += [ids[docs == d].tolist() for d in range(int(docs.max()) + 1)]
    return found


@given(documents(max_length=9), eos_ids, st.sampled_from(STRATEGIES[:-1]))
def test_every_document_is_there_once(docs: list, eos: int | None, strategy: str) -> None:
    batch = pack_documents(docs, 10, eos_id=eos, strategy=strategy)
    finished = [d if eos is None else [*d, eos] for d in docs]
    assert sorted(pieces(batch)) == sorted(finished)
    assert batch.lost == Lost()
    assert (batch.document_ids.max(1).values >= 0).all()  # no row is empty


@given(documents(max_length=12), eos_ids, st.integers(1, 7))
def test_concatenate_is_one_stream_cut_at_capacity(
    docs: list, eos: int | None, capacity: int
) -> None:
    batch = pack_documents(docs, capacity, eos_id=eos, strategy="concatenate")
    stream = [t for d in docs for t in (d if eos is None else [*d, eos])]
    assert batch.input_ids[batch.attention_mask == 1].tolist() == stream
    assert len(batch) == -(-len(stream) // capacity)
    ends = torch.tensor([len(d) + (eos is not None) for d in docs]).cumsum(0).tolist()
    row_ends = range(capacity, len(stream), capacity)
    assert batch.lost.cuts == len([e for e in row_ends if e not in ends])
    assert batch.lost.tokens == 0


@given(documents(max_length=14), st.integers(2, 6), st.sampled_from(["split", "truncate", "drop"]))
def test_overlong_rules(docs: list, capacity: int, rule: str) -> None:
    finished = [[*d, EOS] for d in docs]
    expected = {
        "split": [d[i : i + capacity] for d in finished for i in range(0, len(d), capacity)],
        "truncate": [d[:capacity] for d in finished],
        "drop": [d for d in finished if len(d) <= capacity],
    }[rule]
    if not expected:
        with pytest.raises(ValueError, match="were dropped: no row is left"):
            pack_documents(docs, capacity, eos_id=EOS, overlong=rule)
        return
    batch = pack_documents(docs, capacity, eos_id=EOS, overlong=rule)
    assert sorted(pieces(batch)) == sorted(expected)


def test_error_is_the_default_for_overlong_documents() -> None:
    assert OVERLONG[0] == "error"
    with pytest.raises(ValueError, match="document 1 has 5 tokens with its EOS.*overlong='split'"):
        pack_documents([[1], [1, 2, 3, 1]], 4, eos_id=EOS)


def test_a_prompt_that_was_split_stays_a_prompt() -> None:
    batch = pack_documents([[1, 2, 3, 1, 2]], 3, overlong="split", prompt_lengths=[4])
    assert batch.labels.tolist() == [[-100] * 3, [-100, 2, -100]]


def test_documents_keep_their_order_inside_a_row() -> None:
    batch = pack_documents([[1], [2, 2, 2], [3, 3]], 6)
    assert batch.input_ids.tolist() == [[1, 2, 2, 2, 3, 3]]


@given(documents(max_length=7), st.sampled_from(["learned", "rope"]))
def test_packed_equals_separate(docs: list, positions: str) -> None:
    """Logits, loss and gradient, with document mask and reset positions, boundary B."""
    model = TinyDecoder(positions=positions).double()
    params = list(model.parameters())
    packed = pack_documents(docs, 16, eos_id=EOS, boundary="B")
    logits = model(packed.input_ids, mask=document_mask(packed), position_ids=packed.position_ids)
    total = LossSum.of(token_losses(logits, packed.labels), packed.target_mask)
    apart, seen = [], []
    for doc in pieces(packed):
        alone = pad_documents([doc])
        out = model(alone.input_ids)
        seen.append(out[0])
        apart.append(LossSum.of(token_losses(out, alone.labels), alone.target_mask))
    real = packed.attention_mask.bool()
    torch.testing.assert_close(logits[real], torch.cat(seen), rtol=0, atol=1e-10)
    separate = sum(apart)
    assert separate.count == total.count
    torch.testing.assert_close(total.mean, separate.mean, rtol=0, atol=1e-10)
    ours = torch.autograd.grad(total.mean, params)
    theirs = torch.autograd.grad(separate.mean, params)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def test_packed_does_not_equal_separate_under_a_causal_mask() -> None:
    model = TinyDecoder()
    packed = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=EOS)
    leaky = model(packed.input_ids, position_ids=packed.position_ids)
    alone = model(torch.tensor([[1, 1, 4]]))
    assert (leaky[0, 4:7] - alone[0]).abs().max() > 1e-3


@given(documents(max_length=7), st.randoms(use_true_random=False))
def test_order_of_documents_does_not_matter(docs: list, random: object) -> None:
    model = TinyDecoder()

    def mean(part: list) -> torch.Tensor:
        batch = pack_documents(part, 16, eos_id=EOS, boundary="B")
        logits = model(batch.input_ids, mask=document_mask(batch), position_ids=batch.position_ids)
        return LossSum.of(token_losses(logits, batch.labels), batch.target_mask).mean

    torch.testing.assert_close(
        mean(docs), mean(random.sample(docs, len(docs))), rtol=1e-6, atol=1e-6
    )


def test_boundary_target_is_the_only_difference_between_a_and_b() -> None:
    a = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=EOS, boundary="A")
    b = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=EOS, boundary="B")
    assert (a.labels != b.labels).nonzero().tolist() == [[0, 4]]
    assert b.labels[0, 4] == IGNORE_INDEX
