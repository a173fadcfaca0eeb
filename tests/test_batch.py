"""The record itself, and what it says in other systems' words."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import Batch, document_mask, pack_documents, pad_documents
from course_lib.batch import TENSORS
from course_lib.exchange import FORMS, LOSES
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


MODEL = ["input_ids", "labels", "position_ids"]
MARKS = ["cu_seq_lens_q", "cu_seq_lens_k", "max_length_q", "max_length_k"]
NAMES = {
    "padded": [*MODEL, "attention_mask"],
    "packed": MODEL,
    "dense": [*MODEL, "attention_mask"],
    "flattened": [*MODEL, *MARKS],
    "padding_free": [*MODEL, *MARKS, "seq_idx"],
    "flash_attention": [
        *MODEL, "cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k",
    ],
    "flex": [*MODEL, "document_ids"],
    "document_ids": [*MODEL, "attention_mask"],
    "torchtune": ["tokens", "labels", "input_pos", "seq_lens"],
    "megatron": ["tokens", "labels", "loss_mask", "position_ids", "attention_mask"],
    "megatron_thd": ["tokens", "labels", "loss_mask", "position_ids", "packed_seq_params"],
    "shift_labels": ["input_ids", "position_ids", "shift_labels"],
    "shifted": [*MODEL, "document_ids"],
}  # fmt: skip


def test_forms(packed: Batch) -> None:
    assert set(NAMES) == set(FORMS) == set(LOSES)
    b = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4, boundary="B")
    for form in FORMS:
        assert sorted(b.to_dict(form)) == sorted(NAMES[form]), form
    dense = packed.to_dict("dense", torch.bfloat16)["attention_mask"]
    assert dense.shape == (1, 1, 8, 8) and dense.dtype == torch.bfloat16
    assert torch.equal(dense[:, 0] == 0, document_mask(packed))


def test_each_form_of_the_packed_row_in_integers(packed: Batch) -> None:
    assert packed.to_dict("document_ids")["attention_mask"].tolist() == [[1, 1, 1, 1, 2, 2, 2, 0]]
    assert packed.to_dict("flex")["document_ids"].tolist() == [[0, 0, 0, 0, 1, 1, 1, -1]]
    tune = packed.to_dict("torchtune")
    assert tune["input_pos"].tolist() == [[0, 1, 2, 3, 0, 1, 2, 3]]
    assert [n.tolist() for n in tune["seq_lens"]] == [[4, 3, 1]]
    meg = packed.to_dict("megatron")
    assert meg["labels"].tolist() == [[2, 3, 4, 1, 1, 4, 0, 0]]
    assert meg["loss_mask"].tolist() == [[1, 1, 1, 1, 1, 1, 0, 0]]
    assert meg["loss_mask"].dtype == torch.float32
    assert torch.equal(~meg["attention_mask"][:, 0], document_mask(packed))
    thd = packed.to_dict("megatron_thd")
    assert thd["tokens"].tolist() == [[1, 2, 3, 4, 1, 1, 4]]
    assert thd["packed_seq_params"]["cu_seqlens_q"].tolist() == [0, 4, 7]
    assert packed.to_dict("padding_free")["seq_idx"].tolist() == [[0, 0, 0, 0, 1, 1, 1]]
    assert packed.to_dict("padding_free")["seq_idx"].dtype == torch.int32
    flash = packed.to_dict("flash_attention")
    assert flash["input_ids"].shape == (7,) and flash["max_seqlen_q"] == 4
    assert packed.to_dict("shift_labels")["shift_labels"].tolist() == [
        [2, 3, 4, 1, 1, 4, -100, -100]
    ]
    b = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4, boundary="B").to_dict("shifted")
    assert b["input_ids"].tolist() == [[1, 2, 3, 1, 1]]
    assert b["labels"].tolist() == [[2, 3, 4, 1, 4]]
    assert b["position_ids"].tolist() == [[0, 1, 2, 0, 1]]


EXACT = ("padded", "dense", "flex", "document_ids", "torchtune", "megatron")


def test_forms_that_lose_nothing_are_those_named() -> None:
    assert {form for form, lost in LOSES.items() if not lost} == set(EXACT) - {"megatron"}


@given(documents(), st.sampled_from("AB"), st.sampled_from(EXACT))
def test_rows_come_back_from_their_form(docs: list, boundary: str, form: str) -> None:
    batch = pack_documents(docs, 10, boundary=boundary)
    same(Batch.from_dict(batch.to_dict(form), form), batch)


@given(documents(), st.sampled_from(EXACT))
def test_padded_rows_and_prompts_come_back_too(docs: list, form: str) -> None:
    batch = pad_documents([[1, *d] for d in docs], prompt_lengths=[1] * len(docs))
    back = Batch.from_dict(batch.to_dict(form), form)
    if form == "megatron":  # knows no label of a row's first slot: no loss asks for it
        assert torch.equal(back.labels[:, 1:], batch.labels[:, 1:])
        assert torch.equal(back.labels[:, 0], batch.input_ids[:, 0])
        back = replace(back, labels=batch.labels)
    same(back, batch)


FLAT = ("flattened", "padding_free", "flash_attention", "megatron_thd")


@given(documents(), st.sampled_from("AB"), st.sampled_from(FLAT))
def test_flat_forms_keep_documents_and_targets(docs: list, boundary: str, form: str) -> None:
    batch = pack_documents(docs, 10, boundary=boundary)
    back = Batch.from_dict(batch.to_dict(form), form)
    assert torch.equal(back.cu_seqlens(), batch.cu_seqlens())
    assert back.num_targets == batch.num_targets
    real = batch.attention_mask.bool()
    assert torch.equal(back.input_ids[0], batch.input_ids[real])
    assert torch.equal(back.position_ids[0], batch.position_ids[real])


@given(documents(), st.sampled_from("AB"))
def test_shifted_labels_are_not_shifted_again(docs: list, boundary: str) -> None:
    batch = pack_documents(docs, 10, boundary=boundary)
    form = batch.to_dict("shift_labels")
    assert torch.equal(form["shift_labels"][:, :-1], batch.labels[:, 1:])
    back = Batch.from_dict(form)  # known by its name
    assert torch.equal(back.labels[:, 1:], batch.labels[:, 1:])


@given(documents(min_length=2))
def test_the_form_without_boundary_slots_gives_every_document_back(docs: list) -> None:
    batch = pack_documents(docs, 10, boundary="B")
    form = batch.to_dict("shifted")
    assert int((form["labels"] != -100).sum()) == batch.num_targets
    back = Batch.from_dict(form, "shifted")
    used = back.input_ids.shape[1]
    for name in TENSORS:
        theirs, ours = getattr(back, name), getattr(batch, name)
        assert torch.equal(theirs, ours[:, :used]), name
    assert not (batch.attention_mask[:, used:]).any()


def test_what_a_form_cannot_hold_is_an_error(packed: Batch) -> None:
    with pytest.raises(ValueError, match=r"B′ and has no slot for the 1 targets .* \(0, 4\)"):
        packed.to_dict("shifted")
    lonely = pack_documents([[1, 2], [3]], 4, boundary="B")
    with pytest.raises(ValueError, match="no slot for a document of one token; there are 1"):
        lonely.to_dict("shifted")
    with pytest.raises(ValueError, match="padding at the end of a row only"):
        pad_documents([[1], [1, 2]], side="left").to_dict("torchtune")
    empty = Batch.from_dict({"input_ids": [[1], [0]], "attention_mask": [[1], [0]]})
    with pytest.raises(ValueError, match="row 1 is padding only"):
        empty.to_dict("torchtune")
    form = pack_documents([[1, 2, 3]], 3).to_dict("shifted")
    with pytest.raises(ValueError, match="has no last target"):
        Batch.from_dict({**form, "labels": [[2, -100]]}, "shifted")
    with pytest.raises(ValueError, match="Say its form: form='torchtune'"):
        Batch.from_dict(packed.to_dict("torchtune"))
    with pytest.raises(ValueError, match="form 'megatron' needs 'loss_mask'"):
        Batch.from_dict({"tokens": [[1]]}, "megatron")
    with pytest.raises(ValueError, match="form must be one of"):
        Batch.from_dict({"input_ids": [[1]]}, "nemo")


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


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("seq_lengths", [], "seq_lengths is empty"),
        ("seq_lengths", 4, "seq_lengths must be a list of lengths for each row, got 4"),
        ("seq_lengths", [[3.7, 0.3]], r"seq_lengths\[0\] must hold whole numbers, got float64"),
        ("seq_lengths", [[True] * 4], r"seq_lengths\[0\] must hold whole numbers, got bool"),
        ("attention_mask", [[1, 1], [1]], "attention_mask cannot be read as rows of numbers"),
        ("attention_mask", torch.ones(1, 4, 4), r"shape \(1, 4, 4\).*mask\[:, None\]"),
        ("attention_mask", torch.ones(1, 1, 3, 3), r"must be .* = \(1, 1, 4, 4\)"),
        ("attention_mask", torch.full((1, 1, 4, 4), torch.nan), "attention_mask holds nan"),
        ("document_ids", [[False, False, True, True]], "document_ids must hold whole numbers"),
        ("input_ids", np.array([[2**63]], np.uint64), "input_ids holds 9223372036854775808"),
    ],
)
def test_a_field_that_cannot_be_read_is_named(field: str, value: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Batch.from_dict({"input_ids": [[1, 2, 3, 4]], field: value})


def test_a_4d_mask_of_keys_alone_tells_padding() -> None:
    """[B, 1, 1, T], as encoders have it: the one query stands for all."""
    real = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 0]])
    for mask in (real.bool(), real, (1 - real) * torch.finfo(torch.float32).min):
        mapping = {"input_ids": torch.ones_like(real), "attention_mask": mask[:, None, None]}
        assert torch.equal(Batch.from_dict(mapping).attention_mask, real)


@pytest.mark.parametrize(
    ("form", "field"),
    [("padded", "attention_mask"), ("dense", "attention_mask"), ("document_ids", "attention_mask"),
     ("packed", "position_ids"), ("flattened", "position_ids"), ("flex", "document_ids"),
     ("padding_free", "seq_idx"), ("flash_attention", "cu_seqlens_q")],
)  # fmt: skip
def test_a_named_form_needs_what_tells_its_documents(
    packed: Batch, form: str, field: str
) -> None:
    mapping = packed.to_dict(form)
    del mapping[field]
    with pytest.raises(ValueError, match=f"form '{form}' needs '{field}'"):
        Batch.from_dict(mapping, form)


B_ROW = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4, boundary="B")


@pytest.mark.parametrize(
    ("form", "changed", "message"),
    [
        ("torchtune", {"seq_lens": [[4, 3]]}, r"seq_lens\[0\] adds up to 7, .* 8 slots"),
        ("torchtune", {"seq_lens": [[4, 3.9, 1]]}, r"seq_lens\[0\] must hold whole numbers"),
        ("torchtune", {"seq_lens": [[4, 3, 1]] * 2}, "seq_lens has 2 rows, but tokens has 1"),
        ("torchtune", {"input_pos": [[0, 1]]}, "input_pos has shape"),
        ("megatron", {"loss_mask": torch.full((1, 8), 0.5)}, "loss_mask holds 0.5"),
        ("megatron", {"loss_mask": torch.full((1, 8), torch.nan)}, "loss_mask holds nan"),
        ("megatron", {"loss_mask": torch.ones(1, 3)}, "loss_mask has shape"),
        ("megatron", {"labels": B_ROW.input_ids}, r"labels\[0, 0\] is 1, but the next token is 2"),
        ("megatron_thd", {"packed_seq_params": {}}, "needs 'cu_seqlens_q'"),
        ("megatron_thd", {"packed_seq_params": 5}, "needs 'cu_seqlens_q'"),
        ("shift_labels", {"shift_labels": [[2] * 8]}, r"shift_labels\[0, -1\] is 2, a target"),
        ("shifted", {"document_ids": [[0, 0, 1, 1]]}, "document_ids has shape"),
        ("shifted", {"labels": [[2, 3, 4, 1]]}, "labels has shape"),
        ("shifted", {"document_ids": [[-1] * 5]}, "there is no document"),
    ],
)
def test_a_form_that_contradicts_itself_is_an_error(
    form: str, changed: dict, message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Batch.from_dict({**B_ROW.to_dict(form), **changed}, form)


def test_a_last_target_that_is_not_in_the_tokens_is_not_lost_silently() -> None:
    row = {"tokens": [[1, 2]], "labels": [[2, 3]], "loss_mask": [[1, 1]]}
    with pytest.raises(ValueError, match="counts the last slot of row 0"):
        Batch.from_dict(row, "megatron")
    back = Batch.from_dict({**row, "loss_mask": [[1, 0]]}, "megatron")
    assert back.labels.tolist() == [[1, 2]]


def test_packed_params_are_read_as_an_object_too() -> None:
    form = B_ROW.to_dict("megatron_thd")
    params = SimpleNamespace(**form["packed_seq_params"])
    back = Batch.from_dict({**form, "packed_seq_params": params}, "megatron_thd")
    assert back.document_lengths == [[4, 3]]


def test_a_batch_of_padding_only_has_no_flat_form() -> None:
    empty = Batch.from_dict({"input_ids": [[0, 0]], "attention_mask": [[0, 0]]})
    for form in (*FLAT, "shifted"):
        with pytest.raises(ValueError, match="this batch is padding only"):
            empty.to_dict(form)


def test_rows_that_carry_on_are_not_joined_silently_in_a_flat_form() -> None:
    rows = {"input_ids": [[1, 2], [3, 4]], "position_ids": [[0, 1], [2, 3]]}
    for form in FLAT:
        with pytest.raises(ValueError, match="begins at position 2, right behind position 1"):
            Batch.from_dict(rows).to_dict(form)
    from_zero = Batch.from_dict({**rows, "position_ids": [[0, 1], [0, 1]]})
    assert from_zero.to_dict("flattened")["cu_seq_lens_q"].tolist() == [0, 2, 4]
