"""Each wrong set-up is the fault it is named after, and the right one is packed = separate."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import document_mask, pack_documents, pad_documents
from course_lib.decoder import TinyDecoder
from course_lib.setups import Setup, prepare

DOCUMENTS = [[1, 2, 3, 4], [5, 6, 2, 4], [1, 1, 4]]
BATCH = pack_documents(DOCUMENTS, 13, boundary="B")


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")


def test_the_right_set_up_is_the_batch_itself() -> None:
    feed = prepare(BATCH)
    assert torch.equal(feed.input_ids, BATCH.input_ids)
    assert torch.equal(feed.labels, BATCH.labels)
    assert torch.equal(feed.position_ids, BATCH.position_ids.clamp(min=0))
    assert torch.equal(feed.mask, document_mask(BATCH))


@pytest.mark.parametrize("positions", ["learned", "rope"])
@settings(max_examples=20)
@given(
    documents=st.lists(
        st.lists(st.integers(1, 6), min_size=2, max_size=6), min_size=1, max_size=5
    ),
    capacity=st.integers(6, 14),
)
def test_the_right_loss_of_a_packed_batch_is_that_of_its_documents(
    positions: str, documents: list[list[int]], capacity: int
) -> None:
    model = TinyDecoder(positions=positions).double()
    packed = prepare(pack_documents(documents, capacity, boundary="B")).loss(model)
    padded = prepare(pad_documents(documents)).loss(model)
    assert packed.count == padded.count == sum(len(d) - 1 for d in documents)
    torch.testing.assert_close(packed.total, padded.total, rtol=0, atol=1e-10)


def test_a_double_shift_scores_a_logit_on_the_token_after_the_next() -> None:
    model, feed = TinyDecoder(), prepare(BATCH, Setup(shift=2))
    logits = model(feed.input_ids, mask=feed.mask, position_ids=feed.position_ids)
    expected = cross_entropy(logits[:, :-2], BATCH.labels[:, 2:])
    torch.testing.assert_close(feed.loss(model).total, expected)


def test_a_missing_shift_scores_a_logit_on_its_own_token() -> None:
    model, feed = TinyDecoder(), prepare(BATCH, Setup(shift=0))
    logits = model(feed.input_ids, mask=feed.mask, position_ids=feed.position_ids)
    expected = cross_entropy(logits[:, :-1], BATCH.labels[:, :-1])
    torch.testing.assert_close(feed.loss(model).total, expected)


def test_pads_in_the_loss_are_the_only_new_targets() -> None:
    right, wrong = prepare(BATCH), prepare(BATCH, Setup(pads_in_loss=True))
    new = wrong.labels != right.labels
    assert torch.equal(new, BATCH.attention_mask == 0)
    assert wrong.labels[new].tolist() == [0, 0]
    assert wrong.loss(TinyDecoder()).count == right.loss(TinyDecoder()).count + 2


def test_mask_and_positions_are_separate_choices() -> None:
    feed = prepare(BATCH, Setup(mask="causal", reset=False))
    assert torch.equal(feed.mask[0], torch.ones(13, 13).tril().bool())
    assert feed.position_ids[0].tolist() == list(range(13))
    masked, running = prepare(BATCH, Setup(mask="causal")), prepare(BATCH, Setup(reset=False))
    assert torch.equal(masked.position_ids, prepare(BATCH).position_ids)
    assert torch.equal(running.mask, prepare(BATCH).mask)


def test_rows_are_picked_in_every_tensor() -> None:
    feed = prepare(pad_documents(DOCUMENTS))
    picked = feed.rows(torch.tensor([2, 2, 0]))
    assert picked.input_ids.tolist() == [[1, 1, 4, 0], [1, 1, 4, 0], [1, 2, 3, 4]]
    assert picked.labels.tolist()[0] == [1, 1, 4, -100]
    assert torch.equal(picked.mask[2], feed.mask[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(mask="none"), "mask must be one of 'document', 'causal'; got 'none'"),
        (dict(shift=3), r"shift must be 0 \(missing\), 1 or 2 \(double\); got 3"),
    ],
)
def test_an_unknown_set_up_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Setup(**arguments)
