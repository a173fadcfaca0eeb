"""The rows of TRL: batches of a whole SFTTrainer, for two packing strategies."""

from __future__ import annotations

import tempfile
from typing import Any

from datasets import Dataset
from trl import SFTConfig, SFTTrainer, pack_dataset
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from course_lib.systems import Cell, System
from tools import systems_look as look
from tools.systems_hf import SHIFTS, convention
from tools.systems_look import DOCUMENTS, isolated, show

URL = "https://github.com/huggingface/trl/blob/v1.16.0/trl/"


def trainer(folder: str, **how: Any) -> SFTTrainer:
    return SFTTrainer(
        model=look.llama(),
        args=SFTConfig(
            output_dir=folder, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
            learning_rate=0.0, max_steps=1, gradient_checkpointing=False, bf16=False, **how,
        ),
        processing_class=look.tokenizer(),
        train_dataset=Dataset.from_dict({"input_ids": DOCUMENTS}),
    )  # fmt: skip


def first_batch(strategy: str) -> dict[str, Any]:
    """What the model gets: the two documents in one row of seven slots."""
    with tempfile.TemporaryDirectory() as folder, look.quiet():
        made = trainer(folder, packing=True, packing_strategy=strategy, max_length=7,
                       per_device_train_batch_size=1)  # fmt: skip
        return dict(next(iter(made.get_train_dataloader())))


def mean_of_two_micro_batches() -> str:
    """Which mean is reported for the documents as two micro-batches of one step?"""
    with tempfile.TemporaryDirectory() as folder, look.quiet():
        made = trainer(folder, per_device_train_batch_size=1, gradient_accumulation_steps=2)
        loss = made.train().training_loss
        return look.which_mean(loss, made.model)


def rows_of(lengths: list[int], capacity: int) -> list[list[int]]:
    data = Dataset.from_dict({"input_ids": [[1] * n for n in lengths]})
    with look.quiet():
        return pack_dataset(data, capacity, "bfd")[:]["seq_lengths"]


def sizes(strategy: str) -> str:
    """What becomes of a document of eight tokens in rows of five."""
    with look.quiet():
        data = Dataset.from_dict({"input_ids": [[1] * 8, [2, 2]]})
        rows = pack_dataset(data, 5, strategy)[:]["input_ids"]
    return f"lengths 8 and 2, rows of 5: {rows}"


def window() -> str:
    with look.quiet():
        many = Dataset.from_dict({"input_ids": [[1, 4]] * 1001})
        rows = pack_dataset(many, 4, "bfd")[:]["seq_lengths"]
    single = sum(len(row) == 1 for row in rows)
    return f"1001 documents of 2 tokens, rows of 4: {len(rows)} rows, {single} of them half empty"


def in_order(batch: dict[str, Any]) -> dict[str, Any]:
    """The batch with our two documents in their order, for comparing (bfd sorts by length)."""
    assert batch["input_ids"][0].tolist() == look.ROW, batch["input_ids"]
    return batch


def best_fit() -> System:
    """packing=True, packing_strategy="bfd", the default."""
    batch = in_order(first_batch("bfd"))
    letter = convention(batch["input_ids"][0], batch["labels"][0])
    given = {k: v for k, v in batch.items() if k in ("input_ids", "position_ids")}
    padded = DataCollatorForLanguageModeling(
        pad_token_id=0, padding_free=True, pad_to_multiple_of=8
    )([{"input_ids": look.ROW, "seq_lengths": [4, 3]}])
    denominator = mean_of_two_micro_batches()
    strategies = ", ".join(look.packs_like(rows_of))
    keys = {k: v for k, v in batch.items() if k in ("cu_seq_lens_q", "seq_idx")}
    return look.system(
        "TRL", 'SFTTrainer, packing_strategy="bfd"', "trl", URL + "data_utils.py", [letter],
        shift=Cell("loss", SHIFTS, show(labels=batch["labels"])),
        marks=Cell(
            "positions, cu_seq_lens", "By position_ids, cu_seq_lens_q/k (int32) and seq_idx; "
            "there is no attention_mask.", "keys " + ", ".join(batch) + "\n" + show(**keys)),
        boundary=Cell(
            letter, f"{letter}: labels are -100 wherever a position is 0, so the label of the "
            "first token of document 2 is -100.", show(labels=batch["labels"])),
        positions=Cell("start again", "From 0 in each document.",
                       show(position_ids=batch["position_ids"])),
        padding=Cell(
            "each a document", "Rows have none unless pad_to_multiple_of asks for it; then each "
            "padding token is a document of its own, at position 0.",
            show(position_ids=padded["position_ids"], cu_seq_lens_q=padded["cu_seq_lens_q"])),
        attention=Cell(
            "by positions", "Documents are kept apart; its Trainer calls the model with "
            "use_cache=False.", f"positions, use_cache=False: {isolated(given, use_cache=False)}"),
        denominator=Cell(denominator, f"As the Trainer of transformers: {denominator}.",
                         f"micro-batches of 3 and 2 targets: {denominator}"),
        packing=Cell(
            "best fit decreasing", f"The rows of our {strategies}. A document that is too long is "
            'truncated; packing_strategy="bfd_split" cuts it instead.',
            f"same rows as: {strategies}\nbfd: {sizes('bfd')}\nbfd_split: {sizes('bfd_split')}"),
        switch=Cell(
            "packing=True", "SFTConfig(packing=True, max_length=…); completion_only_loss or "
            "assistant_only_loss decide about prompts."),
        trap=Cell("a window of 1000", "It packs inside each map batch of 1000 documents. For more, "
                  "pack_dataset takes map_kwargs.", window()),
    )  # fmt: skip


def wrapped() -> System:
    """packing=True, packing_strategy="wrapped"."""
    batch = in_order(first_batch("wrapped"))
    letter = convention(batch["input_ids"][0], batch["labels"][0])
    denominator = mean_of_two_micro_batches()
    given = {k: v for k, v in batch.items() if k != "labels"}
    positions = show(position_ids=batch["position_ids"]) if "position_ids" in batch else ""
    short = "start again" if positions else "none"
    with look.quiet():
        data = Dataset.from_dict({"input_ids": DOCUMENTS})
        cut = pack_dataset(data, 5, "wrapped")[:]["input_ids"]
    return look.system(
        "TRL", 'SFTTrainer, packing_strategy="wrapped"', "trl", URL + "data_utils.py", [letter],
        shift=Cell("loss", SHIFTS, show(labels=batch["labels"])),
        marks=Cell("not at all", "Not at all.", "keys " + ", ".join(batch)),
        boundary=Cell(
            letter, f"{letter}: the first token of document 2 keeps its label.",
            show(labels=batch["labels"])),
        positions=Cell(short, "None; the model counts along the row." if not positions else
                       "From 0 in each document.", positions),
        padding=Cell("-100, by length", "Only the last row has padding; its labels are -100."),
        attention=Cell("whole row", "Documents of a row see each other.",
                       f"as the trainer feeds it: {isolated(given, use_cache=False)}"),
        denominator=Cell(denominator, f"As the Trainer of transformers: {denominator}.",
                         f"micro-batches of 3 and 2 targets: {denominator}"),
        packing=Cell("concatenate", "Joins everything and cuts wherever a row ends; the tail is "
                     "kept.", f"rows of 5: {cut}"),
        switch=Cell('"wrapped"', 'SFTConfig(packing=True, packing_strategy="wrapped"), for '
                    "pretraining."),
        trap=Cell("no isolation", "The name says nothing of it: attention crosses documents, and a "
                  "document goes on in the next row without its beginning.", f"rows of 5: {cut}"),
    )  # fmt: skip


