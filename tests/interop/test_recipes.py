"""The recipes of the chapter on auditing, run as they are printed, against released libraries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from datasets import Dataset
from transformers import (
    DataCollatorForLanguageModeling,
    LlamaConfig,
    LlamaForCausalLM,
    Trainer,
    TrainingArguments,
)
from trl import SFTConfig, SFTTrainer

from course_lib import probe_isolation, probe_shift
from course_lib.audit import AuditError, audit
from course_lib.vocabulary import EOS
from tests.interop.test_transformers import tokenizer

CHAPTER = Path(__file__).parents[2] / "book" / "08_audit.md"
DOCUMENTS = [[5, 1, 6, 1, EOS], [5, 2, 6, EOS], [5, 3, 6, 3, 3, EOS], [5, 1, 6, EOS]]


def recipe(name: str) -> str:
    """The code block of that name in the chapter."""
    fence = rf"```{{code-block}} python\n:name: recipe-{name}\n\n(.*?)```"
    found = re.search(fence, CHAPTER.read_text("utf8"), re.S)
    assert found, f"{CHAPTER.name} has no recipe {name!r}"
    return found[1]


def llama() -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=7, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
            pad_token_id=0, eos_token_id=EOS, bos_token_id=None,
        )
    )  # fmt: skip


def arguments(folder: Path, kind: type = TrainingArguments, **more: object) -> object:
    return kind(
        output_dir=str(folder), per_device_train_batch_size=2, report_to=[], use_cpu=True,
        max_steps=1, **more,
    )  # fmt: skip


def trainer(folder: Path, pad: str = "<pad>") -> Trainer:
    tok = tokenizer(pad)
    return Trainer(
        model=llama(),
        args=arguments(folder),
        train_dataset=Dataset.from_dict({"input_ids": DOCUMENTS}),
        data_collator=DataCollatorForLanguageModeling(tok, mlm=False),
    )


def test_transformers_recipe_passes_a_right_set_up(tmp_path: Path) -> None:
    space = {"trainer": trainer(tmp_path), "tokenizer": tokenizer()}
    exec(recipe("transformers"), space)
    assert space["report"].ok


def test_transformers_recipe_stops_when_eos_is_the_pad(tmp_path: Path) -> None:
    space = {"trainer": trainer(tmp_path, "<eos>"), "tokenizer": tokenizer("<eos>")}
    with pytest.raises(AuditError, match="eos_never_target"):
        exec(recipe("transformers"), space)


def sft(folder: Path, **packing: object) -> dict[str, object]:
    tok = tokenizer()
    args = arguments(folder, SFTConfig, packing=True, max_length=16, **packing)
    built = SFTTrainer(
        model=llama(),
        args=args,
        processing_class=tok,
        train_dataset=Dataset.from_dict({"input_ids": DOCUMENTS}),
    )
    return {"trainer": built, "tokenizer": tok}


@pytest.mark.parametrize("strategy", ["bfd", "wrapped"])
def test_trl_recipe(strategy: str, tmp_path: Path) -> None:
    space = sft(tmp_path, packing_strategy=strategy)
    exec(recipe("transformers").split("report =")[0] + recipe("trl"), space)
    assert space["report"].ok, str(space["report"])


@pytest.mark.parametrize(("strategy", "other"), [("bfd", "A"), ("wrapped", "B")])
def test_trl_recipe_finds_the_other_convention(strategy: str, other: str, tmp_path: Path) -> None:
    space = sft(tmp_path, packing_strategy=strategy)
    code = recipe("transformers").split("report =")[0] + recipe("trl")
    wrong = code.replace('"B" if packing == "bfd" else "A"', repr(other))
    assert wrong != code
    exec(wrong, space)
    report = space["report"]
    if strategy == "bfd":  # its batches name their boundaries
        assert [f.code for f in report.of("error")] == ["boundary_target_missing"], str(report)
    else:
        assert "boundary_target" in [f.code for f in report.of("warn")], str(report)


def test_trl_batch_with_a_mask_of_ones_leaks_and_the_auditor_says_so(tmp_path: Path) -> None:
    trainer = sft(tmp_path, packing_strategy="bfd")["trainer"]
    batch = next(iter(trainer.get_train_dataloader()))
    masked = {**batch, "attention_mask": torch.ones_like(batch["input_ids"])}
    for fields, leaks in ((batch, False), (masked, True)):
        probed = probe_isolation(trainer.model, fields, use_cache=False, vocab_size=7)
        report = audit(dict(fields), eos_token_id=EOS, attn_implementation="sdpa")
        assert probed.ok is not leaks
        assert ("no_document_mask" in report.codes) is leaks, str(report)


def test_isolation_recipe_takes_rows_that_name_no_boundaries(tmp_path: Path) -> None:
    space = sft(tmp_path, packing_strategy="wrapped")
    with pytest.raises(AssertionError, match="leak"):
        exec(recipe("transformers").split("report =")[0] + recipe("isolation"), space)


@pytest.mark.parametrize(("strategy", "boundary"), [("bfd", "B"), ("wrapped", "A")])
def test_collator_recipe_sees_the_packing(
    strategy: str, boundary: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    exec(recipe("collator"), sft(tmp_path, packing_strategy=strategy))
    said = capsys.readouterr().out
    assert "several documents in a row" in said and f"boundary        {boundary}:" in said, said


def test_shift_recipe_on_the_loss_of_a_model(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    exec(recipe("shift"), {"trainer": trainer(tmp_path)})
    assert "the loss shifts once" in capsys.readouterr().out


def test_shift_probe_fits_a_loss_with_a_vocabulary_of_its_own() -> None:
    def bound(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        flat = logits[:, :-1].reshape(-1, 64)
        return torch.nn.functional.cross_entropy(flat, labels[:, 1:].reshape(-1))

    assert "rows=8, length=8" in CHAPTER.read_text("utf8")
    assert probe_shift(bound, rows=8, length=8).shift == 1


def test_isolation_recipe_on_trl_packing(tmp_path: Path) -> None:
    space = sft(tmp_path, packing_strategy="bfd")
    code = recipe("transformers").split("report =")[0] + recipe("isolation")
    exec(code, space)
    assert space["result"].ok
    space = sft(tmp_path / "wrapped", packing_strategy="bfd")
    leaky = code.replace("use_cache=False", "use_cache=True")
    assert leaky != code
    with pytest.raises(AssertionError, match="leak"):
        exec(leaky, space)
