"""The record itself, and what it says in other systems' words."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import Batch, document_mask, pack_documents, pad_documents
from course_lib.batch import TENSORS
from course_lib.exchange import FORMS
from tests.strategies import documents


@pytest.fixture
def packed() -> Batch:
    return pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4)


def same(a: Batch, b: Batch) -> None:
    for name in TENSORS:
        assert torch.equal(getattr(a, name), getattr(b, name)), name


def test_properties_of_the_packed_row(packed: Batch) -> None:
    assert packed.num_slots == 8 and packed.num_targets == 6
    assert packed.utilization == 7 / 8
    assert packed.cu_seqlens().tolist() == [0, 4, 7] and packed.cu_seqlens().dtype == torch.int32
    assert packed.document_lengths == [[4, 3]]
    assert packed.model_position_ids.tolist() == [[0, 1, 2, 3, 0, 1, 2, 0]]
    assert repr(packed) == "Batch(1 × 8 slots, 2 documents, 6 targets, 88% used)"
    assert "<caption>Batch(1 × 8 slots" in packed._repr_html_()
    assert "(beginning)" in packed._repr_html_(columns=4)
    same(packed, packed.to("cpu"))


@given(documents(), st.sampled_from("AB"))
def test_from_dict_reads_back_every_tensor(docs: list, boundary: str) -> None:
    batch = pack_documents(docs, 10, boundary=boundary)
    same(Batch.from_dict({name: getattr(batch, name) for name in TENSORS}), batch)
    as_lists = {name: getattr(batch, name).tolist() for name in TENSORS}
    same(Batch.from_dict(as_lists), batch)
    same(Batch.from_dict({k: np.array(v) for k, v in as_lists.items()}), batch)


@given(documents(), st.sampled_from(["attention_mask", "seq_idx", "seq_lengths", "position_ids"]))
def test_every_source_of_boundaries_gives_the_same_documents(docs: list, source: str) -> None:
    batch = pack_documents(docs, 10)
    mapping: dict = {"input_ids": batch.input_ids, "labels": batch.labels}
    mapping[source] = {
        "attention_mask": batch.document_ids + 1,
        "seq_idx": batch.document_ids,
        "seq_lengths": batch.document_lengths,
        "position_ids": batch.position_ids,
    }[source]
    same(Batch.from_dict(mapping), batch)


def test_a_flattened_row_keeps_documents_and_targets() -> None:
    docs = [[1, 2, 3, 1], [2, 2], [3, 1, 1]]
    batch = pack_documents(docs, 6, boundary="A")
    flat = batch.to_dict("flattened")
    back = Batch.from_dict(flat)
    assert back.num_targets == batch.num_targets
    assert torch.equal(back.cu_seqlens(), batch.cu_seqlens())
    assert flat["max_length_q"] == 4


def test_forms(packed: Batch) -> None:
    assert {form: sorted(packed.to_dict(form)) for form in FORMS} == {
        "padded": ["attention_mask", "input_ids", "labels", "position_ids"],
        "packed": ["input_ids", "labels", "position_ids"],
        "dense": ["attention_mask", "input_ids", "labels", "position_ids"],
        "flattened": sorted(
            ["input_ids", "labels", "position_ids", "cu_seq_lens_q", "cu_seq_lens_k"]
            + ["max_length_q", "max_length_k"]
        ),
    }
    dense = packed.to_dict("dense", torch.bfloat16)["attention_mask"]
    assert dense.shape == (1, 1, 8, 8) and dense.dtype == torch.bfloat16
    assert torch.equal(dense[:, 0] == 0, document_mask(packed))


@given(documents())
def test_a_dense_mask_tells_padding(docs: list) -> None:
    batch = pack_documents(docs, 10)
    same(Batch.from_dict(batch.to_dict("dense")), batch)
    as_boolean = {**batch.to_dict("dense"), "attention_mask": document_mask(batch)[:, None]}
    same(Batch.from_dict(as_boolean), batch)


def test_defaults_of_from_dict() -> None:
    batch = Batch.from_dict({"input_ids": [1, 2, 3]})
    assert batch.labels.tolist() == [[1, 2, 3]] and batch.document_lengths == [[3]]
    left = Batch.from_dict({"input_ids": [[0, 1, 2]], "attention_mask": [[0, 1, 1]]})
    same(left, pad_documents([[1, 2]], length=3, side="left"))


@pytest.mark.parametrize(
    ("mapping", "kind", "message"),
    [
        ({}, ValueError, "no 'input_ids' .it has: nothing"),
        ({"ids": 1}, ValueError, "no 'input_ids' .it has: ids"),
        ([1, 2], TypeError, "expected a mapping of tensors, got list"),
        ({"input_ids": [[1], [2, 3]]}, ValueError, "input_ids is ragged"),
        ({"input_ids": [[1.5]]}, TypeError, "input_ids must hold whole numbers"),
        ({"input_ids": [[1, 2]], "labels": [[1]]}, ValueError, "labels has shape"),
        ({"input_ids": [[1, 2]], "cu_seqlens": [1, 2]}, ValueError, "must start at 0"),
        ({"input_ids": [[1, 2]], "seq_lengths": [[3]]}, ValueError, "more than total=2"),
        ({"input_ids": [[1], [2]], "seq_lengths": [[1]]}, ValueError, "boundaries for 1 rows"),
    ],
)
def test_bad_mappings(mapping: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Batch.from_dict(mapping)


def test_a_batch_refuses_tensors_that_do_not_fit(packed: Batch) -> None:
    parts = {name: getattr(packed, name) for name in TENSORS}
    with pytest.raises(TypeError, match="Batch.labels must be an int64 tensor, got torch.int32"):
        Batch(**{**parts, "labels": packed.labels.int()})
    with pytest.raises(ValueError, match="Batch.labels has shape"):
        Batch(**{**parts, "labels": packed.labels[:, 1:]})
    with pytest.raises(ValueError, match="form must be one of"):
        packed.to_dict("ragged")


@given(documents(), st.sampled_from(["left", "right"]))
def test_padded_rows_read_back_from_any_side(docs: list, side: str) -> None:
    batch = pad_documents(docs, side=side)
    same(Batch.from_dict(batch.to_dict()), batch)
    counted = (batch.attention_mask.cumsum(1) - 1).masked_fill(batch.attention_mask == 0, 1)
    theirs = {**batch.to_dict(), "position_ids": counted}  # as generation code counts positions
    assert torch.equal(Batch.from_dict(theirs).document_ids, batch.document_ids)
    lengths = [[len(d)] for d in docs]
    sized = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    same(Batch.from_dict({**sized, "seq_lengths": lengths, "labels": batch.labels}), batch)
    as_booleans = {**sized, "labels": batch.labels, "attention_mask": sized["attention_mask"] > 0}
    same(Batch.from_dict({k: v.tolist() for k, v in as_booleans.items()}), batch)


def test_a_4d_mask_of_digits_is_not_taken_for_an_additive_one() -> None:
    ones = torch.ones(1, 1, 3, 3).tril()
    batch = Batch.from_dict({"input_ids": [[1, 2, 3]], "attention_mask": ones})
    assert batch.document_ids.tolist() == [[0, 0, 0]]
