"""TRL: its three packing strategies and the collator of SFTTrainer, in the release beside us."""

from __future__ import annotations

import pytest
import torch
import trl
from datasets import Dataset
from trl import pack_dataset
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

import course_lib
from course_lib import pack_documents, pad_documents
from course_lib.audit import audit_packing

ROW = "the rows 'TRL' of the table of systems"
DOCUMENTS = [[5, 6, 7, 8, 9, 1], [10, 11, 1], [12, 1], [13, 14, 15, 1], [16, 17, 1]]
CAPACITY = 5


def packed(strategy: str) -> dict[str, list]:
    dataset = Dataset.from_dict({"input_ids": DOCUMENTS})
    return pack_dataset(dataset, CAPACITY, strategy)[:]


def changed(what: str) -> str:
    return f"trl {trl.__version__}: {what}. Change {ROW}."


def test_bfd_cuts_documents_and_loses_their_ends():
    rows = packed("bfd")
    report = audit_packing(DOCUMENTS, rows["input_ids"], CAPACITY, strategy="bfd")
    assert "document_truncated" in report.codes, changed("bfd no longer truncates")
    lost = next(f for f in report.findings if f.code == "document_truncated")
    assert lost.where == (0,) and report.ok
    ours = pack_documents(DOCUMENTS, CAPACITY, overlong="truncate")
    assert len(rows["input_ids"]) == len(ours), changed("bfd is no best-fit decreasing")
    assert ours.lost.truncated_tokens == 1


def test_bfd_split_keeps_every_token():
    rows = packed("bfd_split")
    report = audit_packing(DOCUMENTS, rows["input_ids"], CAPACITY, strategy="bfd_split")
    assert "document_split" in report.codes and not report.of("warn"), changed("bfd_split")
    ours = pack_documents(DOCUMENTS, CAPACITY, overlong="split")
    assert len(rows["input_ids"]) == len(ours), changed("bfd_split places pieces otherwise")


def test_wrapped_joins_and_cuts_and_keeps_the_tail():
    rows = packed("wrapped")["input_ids"]
    flat = [t for d in DOCUMENTS for t in d]
    cut = [flat[a : a + CAPACITY] for a in range(0, len(flat), CAPACITY)]
    assert rows == cut, changed("wrapped")
    assert not audit_packing(DOCUMENTS, rows, CAPACITY, strategy="wrapped").of("warn")


def test_it_packs_inside_each_map_batch_of_a_thousand():
    many = Dataset.from_dict({"input_ids": [[5, 1]] * 1001})
    rows = pack_dataset(many, 4, "bfd")[:]["seq_lengths"]
    assert sum(len(r) == 1 for r in rows) == 1, changed("the window of 1000 documents")
    assert len(pack_documents([[5, 1]] * 1001, 4)) == 501


@pytest.mark.parametrize("padding_free", [False, True])
def test_its_collator_agrees_with_ours(padding_free):
    collator = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=padding_free)
    theirs = collator([{"input_ids": d} for d in DOCUMENTS])
    ours = pad_documents(DOCUMENTS).to_dict("flattened" if padding_free else "padded")
    names = {"input_ids", "labels"} | ({"position_ids", "cu_seq_lens_q"} if padding_free else
                                       {"attention_mask"})  # fmt: skip
    for name in names:
        assert torch.equal(theirs[name], ours[name]), changed(f"{name} of its collator")


USES = [("bfd", True), ("bfd_split", True), ("wrapped", False)]  # as SFTTrainer sets it


@pytest.mark.parametrize(("strategy", "padding_free"), USES)
@pytest.mark.parametrize("multiple", [None, 8])
def test_correct_use_is_no_error(strategy, padding_free, multiple):
    rows = packed(strategy)
    examples = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    collator = DataCollatorForLanguageModeling(
        pad_token_id=0, padding_free=padding_free, pad_to_multiple_of=multiple
    )
    report = course_lib.audit(collator(examples), pad_token_id=0, eos_token_id=1)
    assert report.ok, str(report)


def test_packed_rows_without_padding_free_lose_their_boundaries():
    """seq_lengths are ignored then: attention crosses documents, and boundaries are targets."""
    rows = packed("bfd")
    examples = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    batch = DataCollatorForLanguageModeling(pad_token_id=0)(examples)
    names = set(batch) & {"position_ids", "cu_seq_lens_q", "seq_idx", "seq_lengths"}
    assert not names, changed(f"the padded collator returns {names}")
    report = course_lib.audit(batch, documents=[d[:CAPACITY] for d in DOCUMENTS], pad_token_id=0)
    assert report.codes[0] == "no_document_mask", str(report)


def test_completion_masks_reach_the_labels():
    collator = DataCollatorForLanguageModeling(pad_token_id=0)
    row = {"input_ids": [5, 6, 7, 1], "labels": [-100, -100, 7, 1]}
    batch = collator([row, {"input_ids": [8, 9, 1], "labels": [-100, 9, 1]}])
    report = course_lib.audit(batch, prompt_lengths=[2, 1], pad_token_id=0, eos_token_id=1)
    assert report.codes == [], str(report)
