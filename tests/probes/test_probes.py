"""Probes find faults that are there, and none where there is none, in models we did not write."""

from __future__ import annotations

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from transformers import (
    DataCollatorForLanguageModeling,
    DataCollatorWithFlattening,
    LlamaConfig,
    LlamaForCausalLM,
)
from transformers.loss.loss_utils import ForCausalLMLoss

from course_lib import (
    EOS,
    TinyDecoder,
    causal_mask,
    document_mask,
    pack_documents,
    pad_documents,
    reduce_losses,
    token_losses,
)
from course_lib.probes import (
    probe_causality,
    probe_collator,
    probe_isolation,
    probe_padding,
    probe_shift,
)
from tests.interop.test_transformers import tokenizer
from tests.strategies import documents

ROW = pack_documents([[1, 2, 3], [1, 1], [3, 2]], 11, eos_id=EOS)


@pytest.fixture(scope="module")
def llama() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=7, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


@settings(max_examples=25)
@given(documents(min_documents=2, max_length=5))
def test_isolation_of_the_decoder(docs: list) -> None:
    batch = pack_documents(docs, 16, boundary="B")
    model = TinyDecoder()
    if batch.document_ids.max() == 0:
        with pytest.raises(ValueError, match="no row of this batch holds two documents"):
            probe_isolation(model, batch)
        return
    assert probe_isolation(model, batch, mask=document_mask(batch)).ok
    assert not probe_isolation(model, batch, tolerance=1e-6).ok


def test_isolation_names_every_leaking_pair_and_no_other() -> None:
    result = probe_isolation(TinyDecoder(), ROW)
    pairs = {(leak.source, leak.victim) for leak in result.leaks}
    assert pairs == {(0, 1), (0, 2), (1, 2)}  # a causal mask leaks forwards only
    assert result.leaks[0].size == max(leak.size for leak in result.leaks) > 1e-3
    assert result.trials == 9 and "document 0 moves logits of document" in str(result)
    with pytest.raises(AssertionError, match="leak"):
        result.raise_if_found()


def test_one_leaking_pair_is_found_alone() -> None:
    mask = document_mask(ROW)
    mask[0, 9, 0] = True  # the last document may read the first token of the first
    result = probe_isolation(TinyDecoder(), ROW, mask=mask)
    assert {(leak.source, leak.victim) for leak in result.leaks} == {(0, 2)}


def test_a_leak_of_all_that_a_causal_model_can_leak_says_so() -> None:
    said = "all that a causal model can leak"
    assert said in str(probe_isolation(TinyDecoder(), ROW))
    mask = document_mask(ROW)
    mask[0, 9, 0] = True
    assert said not in str(probe_isolation(TinyDecoder(), ROW, mask=mask))


def test_documents_of_a_row_without_boundaries_can_be_said_beside_it() -> None:
    row = pack_documents([[1, 2, 3], [1, 1], [3, 2]], 10, eos_id=EOS)
    bare = {"input_ids": row.input_ids, "labels": row.labels}
    with pytest.raises(ValueError, match="eos_token_id="):
        probe_isolation(TinyDecoder(), bare)
    by_eos = probe_isolation(TinyDecoder(), bare, eos_token_id=EOS)
    by_ids = probe_isolation(TinyDecoder(), bare, document_ids=row.document_ids)
    assert not by_eos.ok and by_eos.leaks == by_ids.leaks and by_eos.pairs == 6
    mask = document_mask(row)
    assert probe_isolation(TinyDecoder(), bare, eos_token_id=EOS, mask=mask).ok


def test_document_ids_stand_in_for_boundaries_that_cannot_be_read() -> None:
    flattened = {"input_ids": [[1, 2, 3], [3, 2, 1]], "cu_seq_lens_q": [0, 2, 3, 6]}
    with pytest.raises(ValueError, match="boundaries for 1 rows"):
        probe_isolation(TinyDecoder(), flattened)
    result = probe_isolation(TinyDecoder(), flattened, document_ids=[[0, 0, 1], [0, 0, 0]])
    assert {(leak.row, leak.source, leak.victim) for leak in result.leaks} == {(0, 0, 1)}


def test_boundaries_in_the_batch_come_before_those_of_eos() -> None:
    inner = pack_documents([[1, EOS, 2], [3, 1]], 5)  # a turn ends inside the first document
    result = probe_isolation(TinyDecoder(), inner, eos_token_id=EOS)
    assert {(leak.source, leak.victim) for leak in result.leaks} == {(0, 1)}


def test_padding_behind_eos_is_no_document() -> None:
    row = {"input_ids": [[1, EOS, EOS, EOS]], "attention_mask": [[1, 1, 0, 0]]}
    with pytest.raises(ValueError, match="no row of this batch holds two documents"):
        probe_isolation(TinyDecoder(), row, eos_token_id=EOS)


def test_isolation_in_transformers(llama: LlamaForCausalLM) -> None:
    """Isolation rests on position_ids, no attention mask and no cache, all three together."""
    packed = {k: v for k, v in ROW.to_dict("packed").items() if k != "labels"}
    assert probe_isolation(llama, packed, use_cache=False).ok
    assert not probe_isolation(llama, packed).ok, "the default cache no longer ends isolation"
    ones = {**packed, "attention_mask": torch.ones_like(ROW.input_ids)}
    assert not probe_isolation(llama, ones, use_cache=False).ok
    assert probe_isolation(llama, ROW.to_dict("dense"), use_cache=False).ok


def test_a_model_that_gives_nan_leaks() -> None:
    def broken(ids: torch.Tensor) -> torch.Tensor:
        logits = F.one_hot(ids, 7).double()
        return logits + (ids[:, :1, None] != 1) * float("nan")

    assert not probe_isolation(broken, ROW).ok


def test_causality(llama: LlamaForCausalLM) -> None:
    ids = torch.tensor([[1, 2, 3, 1, 2], [3, 3, 1, 2, 2]])
    assert probe_causality(TinyDecoder(), ids).ok
    assert probe_causality(llama, ids).ok
    peek = causal_mask(5)
    peek[1, 3] = True
    result = probe_causality(TinyDecoder(), ids, mask=peek)
    assert {(row, at, seen) for row, at, seen, _ in result.leaks} == {(0, 3, 1), (1, 3, 1)}
    assert not probe_causality(lambda x: F.one_hot(x.flip(1), 7).float(), ids).ok
    with pytest.raises(ValueError, match="rows of one token"):
        probe_causality(TinyDecoder(), [[1]])


def ours(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return reduce_losses(token_losses(logits, labels), labels[:, 1:] != -100)


def theirs(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return ForCausalLMLoss(logits, labels, vocab_size=logits.shape[-1])


def flat(logits: torch.Tensor, labels: torch.Tensor, **how: object) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), **how)


@pytest.mark.parametrize(
    ("loss", "shift", "ok"),
    [
        (ours, 1, True),
        (theirs, 1, True),
        (flat, 0, True),
        (lambda x, y: flat(x, y, reduction="sum"), 0, True),
        (lambda x, y: ours(x[:, :-1], y[:, 1:]), 2, False),
        (lambda x, y: ours(x[:, 1:], y[:, :-1]), 0, True),
        (lambda x, y: flat(x[:, 1:], y[:, :-1]), -1, False),
        (lambda x, y: theirs(x.flatten(0, 1)[None], y.flatten()[None]), None, False),
        (lambda x, y: flat(x[:, :-1], y[:, 1:].where(y[:, 1:] >= 0, 0)), 1, False),
    ],
    ids="ours transformers flat sum double undone reversed flattened -100".split(),
)
def test_shift(loss: object, shift: int | None, ok: bool) -> None:
    result = probe_shift(loss)
    assert (result.shift, result.ok) == (shift, ok), str(result)


def test_a_loss_flattened_before_the_shift_crosses_rows() -> None:
    result = probe_shift(lambda x, y: theirs(x.flatten(0, 1)[None], y.flatten()[None]))
    assert "another row" in result.summary
    assert ((0, 5), (1, 0)) in result.pairs


@pytest.mark.parametrize("scale", [1e-9, 1e-5, 1.0, 1e6])
def test_a_shift_is_found_whatever_the_loss_is_divided_by(scale: float) -> None:
    result = probe_shift(lambda x, y: theirs(x, y) * scale)
    assert (result.shift, result.ignores, result.ok) == (1, True, True), str(result)
    assert "nothing is trained" in probe_shift(lambda x, y: theirs(x, y) * 0).summary


def test_shift_of_something_that_is_no_loss() -> None:
    with pytest.raises(TypeError, match="scalar tensor with a gradient"):
        probe_shift(lambda x, y: 1.0)
    with pytest.raises(TypeError, match="does not depend on the logits"):
        probe_shift(lambda x, y: torch.ones(1, requires_grad=True).sum())
    with pytest.raises(TypeError, match="failed on logits"):
        probe_shift(lambda x, y: x.view(3, -1) @ y)


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding(side: str, llama: LlamaForCausalLM) -> None:
    docs = [[1, 2, 3, 1], [1, 2]]
    assert probe_padding(TinyDecoder(), docs, side=side).ok
    assert probe_padding(llama, docs, side=side).ok
    blind = probe_padding(TinyDecoder(), docs, side=side, arguments=lambda batch: {})
    assert blind.ok == (side == "right")  # right padding stands behind what it could spoil


def test_a_loss_divided_by_slots_shrinks() -> None:
    result = probe_padding(
        TinyDecoder(), [[1, 2, 3], [1, 1]], loss_fn=lambda x, y: token_losses(x, y).mean()
    )
    assert not result.ok and result.logits_moved < 1e-4
    assert "divided by slots" in result.summary and result.loss_after < result.loss_before


def test_a_loss_that_scores_pads_moves() -> None:
    def scores_pads(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return token_losses(x, y.clamp(min=0)).sum()

    assert not probe_padding(TinyDecoder(), [[1, 2, 3], [1, 1]], loss_fn=scores_pads).ok


def pads(features: list, **how: object) -> dict:
    return pad_documents([f["input_ids"] for f in features], **how).to_dict()


def packs(features: list, boundary: str) -> dict:
    docs = [f["input_ids"] for f in features]
    return pack_documents(docs, 20, boundary=boundary).to_dict("packed")


def test_collators_of_transformers() -> None:
    tok = tokenizer()
    padded = probe_collator(DataCollatorForLanguageModeling(tok, mlm=False), eos_id=EOS)
    assert padded.ok, str(padded)
    assert padded.facts["layout"] == "one document a row, padding on the right"
    assert padded.facts["EOS"] == "4 real ones, 4 of them are targets"
    flat_rows = probe_collator(DataCollatorWithFlattening(), eos_id=EOS)
    assert flat_rows.ok and flat_rows.facts["boundary"].startswith("B")
    assert flat_rows.facts["positions"] == "start again in each document"
    eos_pad = DataCollatorForLanguageModeling(tokenizer(pad="<eos>"), mlm=False)
    result = probe_collator(eos_pad, eos_id=EOS)
    assert not result.ok and any("never learn to stop" in fault for fault in result.faults)


def test_our_collators() -> None:
    assert probe_collator(pads).ok
    assert probe_collator(lambda f: pads(f, side="left"), eos_id=EOS).ok
    for boundary in "AB":
        result = probe_collator(partial(packs, boundary=boundary))
        assert result.ok and result.facts["boundary"].startswith(boundary)


def test_a_collator_behind_the_packing_is_told_from_one_that_packs() -> None:
    assert "saw no packing" in str(probe_collator(pads))
    assert "saw no packing" not in str(probe_collator(partial(packs, boundary="A")))
    joined = probe_collator(lambda features: pads([{"input_ids": sum(
        (f["input_ids"] for f in features), [])}]))  # fmt: skip
    assert "saw no packing" not in str(joined)
    assert joined.facts["layout"].startswith("several documents")


def broken(what: str):
    def collate(features: list) -> dict:
        docs = [f["input_ids"] for f in features]
        out = pads(features)
        ids, labels = out["input_ids"], out["labels"]
        if what == "pads":
            out["labels"] = ids.clone()
        if what == "shifted":
            out["labels"] = F.pad(labels[:, 1:], (0, 1), value=-100)
        if what == "two":
            out["labels"] = F.pad(labels[:, 2:], (0, 2), value=-100)
        if what == "mask":
            out["attention_mask"] = torch.ones_like(ids)
        if what == "hidden":
            out["attention_mask"][0, 0] = 0
        if what == "lost":
            return pad_documents([d[:3] for d in docs]).to_dict()
        if what == "repeated":
            return pad_documents(docs + docs[:1]).to_dict()
        return out

    return collate


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        ("pads", "padding slots have a label"),
        ("two", "labels do not follow the ids"),
        ("mask", "padding slots may be attended to"),
        ("hidden", "real tokens are hidden"),
        ("lost", "3 tokens are lost, first of document 0"),
        ("repeated", "tokens came out more than once"),
    ],
)
def test_broken_collators(what: str, fault: str) -> None:
    result = probe_collator(broken(what))
    assert not result.ok and any(fault in f for f in result.faults), str(result)


def test_shifted_labels_are_a_fact_and_no_fault() -> None:
    result = probe_collator(broken("shifted"))
    assert result.ok and result.facts["labels"].startswith("shifted already")


def test_bad_subjects() -> None:
    with pytest.raises(TypeError, match="must return a mapping with input_ids and labels"):
        probe_collator(lambda f: {"input_ids": [[1]]})
    with pytest.raises(TypeError, match="must return logits"):
        probe_isolation(lambda ids: ids, ROW)
    with pytest.raises(ValueError, match="no token can be changed"):
        probe_isolation(TinyDecoder(), ROW, vocab_size=1)
    with pytest.raises(ValueError, match="trials must be at least 1"):
        probe_isolation(TinyDecoder(), ROW, trials=0)


def test_a_probe_leaves_the_model_as_it_was(llama: LlamaForCausalLM) -> None:
    llama.train()
    probe_causality(llama, [[1, 2, 3]])
    assert llama.training
    llama.eval()
    probe_causality(llama, [[1, 2, 3]])
    assert not llama.training


def test_a_masked_vocabulary_entry_is_no_leak() -> None:
    def barred(ids: torch.Tensor) -> torch.Tensor:
        logits = F.one_hot(ids, 7).double()
        logits[..., 0] = -torch.inf
        return logits

    assert probe_isolation(barred, ROW).ok and probe_causality(barred, ROW).ok


def test_frozen_parts_stay_frozen() -> None:
    class Half(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Dropout()

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.inner(F.one_hot(ids, 7).float())

    model = Half()
    model.inner.eval()
    probe_causality(model, [[1, 2, 3]])
    assert model.training and not model.inner.training
