"""Collators of transformers and a whole SFTTrainer, audited: correct use, and two traps."""

from __future__ import annotations

from pathlib import Path

import pytest
from datasets import Dataset
from hypothesis import given, settings
from transformers import (
    DataCollatorForLanguageModeling,
    DataCollatorWithFlattening,
    LlamaConfig,
    LlamaForCausalLM,
)
from trl import SFTConfig, SFTTrainer

import course_lib
from course_lib import EOS, PAD
from course_lib.audit import audit_dataloader
from tests.interop.test_transformers import tokenizer
from tests.strategies import documents


def rows(docs: list[list[int]]) -> list[dict[str, list[int]]]:
    return [{"input_ids": [*d, EOS]} for d in docs]


@settings(max_examples=50)
@given(documents())
def test_padded_batches_are_no_error(docs):
    collator = DataCollatorForLanguageModeling(tokenizer(), mlm=False, pad_to_multiple_of=4)
    batch = collator(rows(docs))
    report = course_lib.audit(batch, pad_token_id=PAD, eos_token_id=EOS)
    assert report.ok, str(report)


@settings(max_examples=50)
@given(documents())
def test_flattened_batches_are_no_error(docs):
    for options in ({}, {"return_flash_attn_kwargs": True, "return_seq_idx": True},
                    {"position_ids_start": 2}):  # fmt: skip
        batch = DataCollatorWithFlattening(**options)(rows(docs))
        report = course_lib.audit(batch, pad_token_id=PAD, eos_token_id=EOS)
        assert report.ok and not report.of("warn"), str(report)


def test_trap_pad_equal_to_eos_erases_the_end():
    collator = DataCollatorForLanguageModeling(tokenizer("<eos>"), mlm=False)
    batch = collator(rows([[1, 2, 3], [1, 2]]))
    report = course_lib.audit(batch, pad_token_id=EOS, eos_token_id=EOS)
    assert report.codes == ["eos_never_target"], (
        "transformers masks by id no longer. Change the row 'HF "
        "DataCollatorForLanguageModeling' of the table of systems."
    )
    assert report.findings[0].where == ((0, 3), (1, 2))


def test_trap_left_padding_scores_the_first_token():
    collator = DataCollatorForLanguageModeling(tokenizer(side="left"), mlm=False)
    report = course_lib.audit(collator(rows([[1, 2, 3], [1]])), eos_token_id=EOS, pad_token_id=PAD)
    assert report.codes == ["target_predicted_from_pad"], (
        "transformers masks the first token behind left padding now. Change the chapter on padding."
    )


@pytest.mark.parametrize(
    ("packing", "strategy"),
    [(False, "bfd"), (True, "bfd"), (True, "bfd_split"), (True, "wrapped")],
)
def test_the_batches_of_a_trainer_are_no_error(tmp_path: Path, packing: bool, strategy: str):
    config = LlamaConfig(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                         num_attention_heads=2, num_key_value_heads=2)  # fmt: skip
    docs = [[1, 2, 3, EOS], [2, EOS], [3, 1, EOS], [1, 1, 2, 2, EOS]] * 4
    trainer = SFTTrainer(
        LlamaForCausalLM(config),
        SFTConfig(
            output_dir=str(tmp_path), packing=packing, packing_strategy=strategy, max_length=8,
            per_device_train_batch_size=2, report_to="none", use_cpu=True,
        ),
        train_dataset=Dataset.from_dict({"input_ids": docs}),
        processing_class=tokenizer(),
    )  # fmt: skip
    report = audit_dataloader(
        trainer.get_train_dataloader(), progress=False, pad_token_id=PAD, eos_token_id=EOS
    )
    assert report.ok, str(report)
