"""Each form of `Batch.to_dict`, fed to the library that it is named after."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from megatron.core.datasets.gpt_dataset import _get_ltor_masks_and_position_ids
from megatron.core.packed_seq_params import PackedSeqParams
from torch.nn.attention.flex_attention import create_block_mask
from torchtune.data import padded_collate_packed
from torchtune.datasets import PackedDataset
from torchtune.modules.attention_utils import packed_block_causal_mask
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.loss.loss_utils import ForCausalLMLoss
from transformers.masking_utils import find_packed_sequence_indices
from transformers.modeling_flash_attention_utils import prepare_fa_kwargs_from_position_ids
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from course_lib import (
    Batch,
    LossSum,
    document_block_mask,
    document_mask,
    pack_documents,
    pad_documents,
    token_losses,
)
from tests.strategies import documents

EOS = 4
DOCUMENTS = [[5, 6, 7, EOS], [8, 9, 10, 11, EOS], [12, 13, EOS]]
BOUNDARIES = pytest.mark.parametrize("boundary", ["A", "B"])


def llama(attention: str) -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=16, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=2, attn_implementation=attention,
        )
    )  # fmt: skip


def rows(boundary: str) -> Batch:
    """Two rows of nine slots, two slots of padding among them."""
    return pack_documents(DOCUMENTS, 9, boundary=boundary)


@torch.no_grad()
def expected(model: LlamaForCausalLM, batch: Batch) -> LossSum:
    """The loss of the batch, from logits of each document alone."""
    logits = torch.zeros(*batch.input_ids.shape, 16)
    for row, ids in enumerate(batch.document_ids):
        for d in ids[ids >= 0].unique():
            at = ids == d
            logits[row, at] = model(input_ids=batch.input_ids[row, at][None]).logits[0]
    return LossSum.of(token_losses(logits, batch.labels), batch.target_mask)


class TestTransformers:
    """The loss of a model of transformers is ours, whatever form it is fed with."""

    FORMS = ("packed", "dense", "flattened", "padding_free")

    @BOUNDARIES
    @pytest.mark.parametrize("attention", ["eager", "sdpa"])
    @pytest.mark.parametrize("form", FORMS)
    @torch.no_grad()
    def test_the_loss_is_that_of_separate_documents(self, form, attention, boundary):
        model, batch = llama(attention), rows(boundary)
        loss = model(**batch.to_dict(form), use_cache=False).loss
        assert abs(loss.item() - expected(model, batch).mean) < 1e-5

    @BOUNDARIES
    @torch.no_grad()
    def test_the_padded_form_is_for_one_document_a_row(self, boundary):
        model, batch = llama("sdpa"), rows(boundary)
        leaky = model(**batch.to_dict("padded"), use_cache=False).loss.item()
        assert abs(leaky - expected(model, batch).mean) > 1e-4
        padded = pad_documents(DOCUMENTS)
        loss = model(**padded.to_dict("padded"), use_cache=False).loss.item()
        assert abs(loss - expected(model, padded).mean) < 1e-5

    @BOUNDARIES
    @torch.no_grad()
    def test_shifted_labels_are_used_as_they_are(self, boundary):
        model, batch = llama("sdpa"), rows(boundary)
        form = batch.to_dict("shift_labels")
        wanted = expected(model, batch).mean
        loss = model(**form, labels=batch.labels, use_cache=False).loss.item()
        assert abs(loss - wanted) < 1e-5
        logits = model(input_ids=form["input_ids"], position_ids=form["position_ids"],
                       use_cache=False).logits  # fmt: skip
        alone = ForCausalLMLoss(logits, None, 16, shift_labels=form["shift_labels"]).item()
        assert abs(alone - wanted) < 1e-5
        twice = ForCausalLMLoss(logits, form["shift_labels"], 16).item()
        assert abs(twice - wanted) > 1e-4

    @torch.no_grad()
    def test_documents_shifted_by_themselves_give_the_same_targets(self):
        model, batch = llama("sdpa"), rows("B")
        form = batch.to_dict("shifted")
        documents = form.pop("document_ids")
        labels = form.pop("labels")
        logits = model(**form, use_cache=False).logits
        loss = ForCausalLMLoss(logits, None, 16, shift_labels=labels).item()
        assert abs(loss - expected(model, batch).mean) < 1e-5
        assert int((documents >= 0).sum()) == int(batch.attention_mask.sum()) - len(DOCUMENTS)

    @BOUNDARIES
    @torch.no_grad()
    def test_document_ids_make_the_mask_of_flex_attention(self, boundary):
        model, batch = llama("flex_attention"), rows(boundary)
        form = batch.to_dict("flex")
        ids = form.pop("document_ids")
        loss = model(**form, attention_mask=document_block_mask(ids), use_cache=False).loss
        assert abs(loss.item() - expected(llama("sdpa"), batch).mean) < 1e-5

    @settings(max_examples=50)
    @given(documents())
    def test_its_readers_of_positions_find_our_documents(self, docs):
        batch = pack_documents(docs, sum(map(len, docs)))
        positions = batch.to_dict("packed")["position_ids"]
        found = find_packed_sequence_indices(positions)
        assert (found is None) == (len(docs) == 1)  # None: nothing is packed
        assert found is None or torch.equal(found, batch.document_ids)
        flash = batch.to_dict("flash_attention")
        (q, k), (longest_q, longest_k) = prepare_fa_kwargs_from_position_ids(positions)
        assert torch.equal(flash["cu_seqlens_q"], q) and torch.equal(flash["cu_seqlens_k"], k)
        assert flash["max_seqlen_q"] == longest_q and flash["max_seqlen_k"] == longest_k
        assert flash["cu_seqlens_q"].dtype == q.dtype == torch.int32


class TestFlexAttention:
    @BOUNDARIES
    def test_a_rule_over_the_ids_is_our_block_mask(self, boundary):
        ids = rows(boundary).to_dict("flex")["document_ids"]

        def rule(b, h, q, k):
            mine = ids[b, q]
            return (q >= k) & (mine == ids[b, k]) & (mine >= 0)

        theirs = create_block_mask(rule, 2, None, 9, 9, device="cpu")
        ours = document_block_mask(ids)
        assert torch.equal(theirs.to_dense(), ours.to_dense())


class TestTrl:
    @settings(max_examples=50)
    @given(documents())
    def test_padding_free_is_what_its_collator_returns(self, docs):
        theirs = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)(
            [{"input_ids": [t for d in docs for t in d], "seq_lengths": [len(d) for d in docs]}]
        )
        ours = pack_documents(
            docs, sum(map(len, docs)), boundary="B", strategy="next_fit"
        ).to_dict("padding_free")
        assert set(theirs) == set(ours)
        for name, value in ours.items():
            other = torch.as_tensor(theirs[name])
            assert torch.equal(other, torch.as_tensor(value)), name
            assert other.dtype == torch.as_tensor(value).dtype, name

    def test_padding_is_a_document_for_its_collator_and_gone_here(self):
        collator = DataCollatorForLanguageModeling(
            pad_token_id=0, padding_free=True, pad_to_multiple_of=8
        )
        theirs = collator([{"input_ids": [5, 6, 7], "seq_lengths": [2, 1]}])
        assert theirs["cu_seq_lens_q"].tolist() == [0, 2, 3, 4, 5, 6, 7, 8]
        ours = pack_documents([[5, 6], [7]], 8, strategy="next_fit").to_dict("padding_free")
        assert ours["cu_seq_lens_q"].tolist() == [0, 2, 3]


class TestTorchtune:
    @settings(max_examples=50, deadline=None)
    @given(documents())
    def test_rows_are_those_of_its_packed_dataset(self, docs):
        data = [{"tokens": d, "labels": d} for d in docs]
        theirs = list(PackedDataset(data, max_seq_len=9))
        ours = pack_documents(docs, 9, strategy="next_fit").to_dict("torchtune")
        for name in ("tokens", "labels", "input_pos", "seq_lens"):
            for row, packed in enumerate(theirs):
                assert torch.equal(packed[name], ours[name][row]), name

    def test_its_collator_and_its_mask_take_our_rows(self):
        batch = pack_documents(DOCUMENTS, 9, strategy="next_fit")
        form = batch.to_dict("torchtune")
        each = [{name: form[name][row] for name in form} for row in range(len(batch))]
        theirs = padded_collate_packed(each)
        for name in ("tokens", "labels", "input_pos"):
            assert torch.equal(theirs[name], form[name]), name
        mask = packed_block_causal_mask(form["seq_lens"])
        assert torch.equal(theirs["mask"], mask)
        real = batch.document_ids >= 0
        assert torch.equal(mask[real], document_mask(batch)[real])
        assert mask[~real].any()  # difference: its padding is a causal document of its own


class TestMegatron:
    @settings(max_examples=50)
    @given(documents())
    def test_masks_and_positions_are_those_of_its_three_switches(self, docs):
        batch = pack_documents(docs, sum(map(len, docs)) + len(docs), eos_id=EOS, boundary="B")
        form = batch.to_dict("megatron")
        mask, loss_mask, positions = _get_ltor_masks_and_position_ids(
            batch.input_ids[0], EOS, True, True, True, True
        )
        assert torch.equal(mask, form["attention_mask"][0])
        assert torch.equal(positions, form["position_ids"][0])
        assert torch.equal(loss_mask, form["loss_mask"][0]) and loss_mask.dtype == torch.float32

    def test_convention_a_leaves_the_loss_mask_on(self):
        batch = pack_documents(DOCUMENTS[:2], 9, boundary="A")
        _, loss_mask, _ = _get_ltor_masks_and_position_ids(
            batch.input_ids[0], EOS, True, True, False, True
        )
        ours = batch.to_dict("megatron")["loss_mask"][0]
        assert torch.equal(loss_mask[:-1], ours[:-1])
        assert ours[-1] == 0  # its rows hold one token more, so its last slot has a target

    def test_packed_params_are_arguments_of_its_class(self):
        form = rows("B").to_dict("megatron_thd")
        params = PackedSeqParams(**form["packed_seq_params"])
        assert params.qkv_format == "thd" and params.max_seqlen_kv == 5
        assert params.cu_seqlens_q.dtype == torch.int32
        assert params.cu_seqlens_q[-1] == form["tokens"].shape[1] == form["labels"].shape[1]

    @BOUNDARIES
    @torch.no_grad()
    @pytest.mark.parametrize("form", ["megatron", "megatron_thd"])
    def test_its_sum_over_its_loss_mask_is_our_loss(self, form, boundary):
        model, batch = llama("sdpa"), rows(boundary)
        given = batch.to_dict(form)
        logits = model(input_ids=given["tokens"], position_ids=given["position_ids"],
                       use_cache=False).logits  # fmt: skip
        losses = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), given["labels"].flatten(), reduction="none"
        )
        kept = given["loss_mask"].flatten()
        wanted = expected(model, batch)
        assert kept.sum() == wanted.count
        assert abs(float((losses * kept).sum()) - float(wanted.total)) < 1e-4


def test_a_document_mask_in_integers_is_ignored_by_transformers_and_read_by_us():
    form = rows("B").to_dict("document_ids")
    assert form["attention_mask"].tolist() == [[1] * 4 + [2] * 5, [1] * 3 + [0] * 6]
    back = Batch.from_dict(form)
    assert torch.equal(back.document_ids, rows("B").document_ids)
    model = llama("sdpa")
    with torch.no_grad():
        leaky = model(**form, use_cache=False).loss.item()
    assert abs(leaky - expected(model, rows("B")).mean) > 1e-4
