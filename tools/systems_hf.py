"""The rows of transformers: both collators, and the loss, the masks and the denominator."""

from __future__ import annotations

import tempfile
from typing import Any

import torch
from datasets import Dataset
from transformers import (
    DataCollatorForLanguageModeling,
    DataCollatorWithFlattening,
    Trainer,
    TrainingArguments,
)
from transformers.loss.loss_utils import ForCausalLMLoss
from transformers.masking_utils import find_packed_sequence_indices
from transformers.modeling_flash_attention_utils import prepare_fa_kwargs_from_position_ids

from course_lib import document_mask, pack_documents, probe_shift
from course_lib.systems import Cell, System, boundary_convention
from course_lib.vocabulary import EOS, IGNORE_INDEX
from tools import systems_look as look
from tools.systems_look import DOCUMENTS, FIRST, ROW, isolated, show

URL = "https://github.com/huggingface/transformers/blob/v5.24.0/src/transformers/"
SHIFTS = "In the model's loss. Labels are a copy of the ids."


def features() -> list[dict[str, list[int]]]:
    return [{"input_ids": d} for d in DOCUMENTS]


def convention(ids: torch.Tensor, labels: torch.Tensor) -> str:
    """The convention of a row whose labels the loss shifts."""
    return boundary_convention(DOCUMENTS, ids.tolist(), [*labels.tolist()[1:], IGNORE_INDEX])


def padding_collator() -> System:
    """DataCollatorForLanguageModeling(mlm=False)."""
    collate = DataCollatorForLanguageModeling(look.tokenizer(), mlm=False)
    batch = collate(features())
    joined = collate([{"input_ids": ROW}])
    letter = convention(joined["input_ids"][0], joined["labels"][0])
    erased = DataCollatorForLanguageModeling(look.tokenizer("<eos>"), mlm=False)(features())
    prompt = [{"input_ids": FIRST, "labels": [-100, -100, 3, EOS]}]
    ignored = collate(prompt)["labels"]
    return look.system(
        "transformers", "DataCollatorForLanguageModeling(mlm=False)", "transformers",
        URL + "data/data_collator.py", [letter],
        shift=Cell("loss", SHIFTS, show(labels=batch["labels"])),
        marks=Cell("not at all", "It has no notion of documents: one example, one row.",
                   "keys " + ", ".join(batch)),
        boundary=Cell(
            letter, f"{letter}, if you join documents before it: the first token of the second "
            "document keeps its label.", show(labels=joined["labels"])),
        positions=Cell("none", "None; the model counts from 0 along the row."),
        padding=Cell(
            "-100, by id", "Labels of padding are -100, but found by id: with pad = <eos> every "
            "real <eos> loses its label.", show(labels=erased["labels"])),
        attention=Cell(
            "whole row", "A 2-D mask hides padding. Documents that you joined see each other.",
            f"joined row: {isolated(joined, use_cache=False)}"),
        denominator=Cell("the Trainer's", "Decided by the Trainer: see its row."),
        packing=Cell("none", "None."),
        switch=Cell(
            "another collator", "For packed rows take DataCollatorWithFlattening. For labels of "
            "your own take DataCollatorForSeq2Seq, which pads them with -100."),
        trap=Cell("overwrites labels", "Labels that you give, with a prompt masked, are made anew.",
                  show(given=prompt[0]["labels"], returned=ignored)),
    )  # fmt: skip


def flattening_collator() -> System:
    """DataCollatorWithFlattening()."""
    batch = DataCollatorWithFlattening()(features())
    kernel = DataCollatorWithFlattening(return_flash_attn_kwargs=True, return_seq_idx=True)(
        features()
    )
    letter = convention(batch["input_ids"][0], batch["labels"][0])
    ones = {**batch, "attention_mask": torch.ones_like(batch["input_ids"])}
    seen = "\n".join(
        f"{said}: {isolated(fields, use_cache=cache)}"
        for said, fields, cache in (
            ("positions, use_cache=False", batch, False),
            ("positions, use_cache=True", batch, True),
            ("positions and a mask of ones", ones, False),
        )
    )
    return look.system(
        "transformers", "DataCollatorWithFlattening()", "transformers",
        URL + "data/data_collator.py", [letter],
        shift=Cell("loss", SHIFTS, show(labels=batch["labels"])),
        marks=Cell(
            "position_ids", "By positions that start again; cu_seq_lens_q/k (int32) with "
            "return_flash_attn_kwargs=True, seq_idx with return_seq_idx=True.",
            show(cu_seq_lens_q=kernel["cu_seq_lens_q"], seq_idx=kernel["seq_idx"])),
        boundary=Cell(
            letter, f"{letter}: the label of the first token of each document is separator_id, "
            "-100 by default.", show(labels=batch["labels"])),
        positions=Cell("start again", "From position_ids_start (0) in each document.",
                       show(position_ids=batch["position_ids"])),
        padding=Cell("none", "There is no padding: one row for the whole batch.",
                     show(input_ids=batch["input_ids"])),
        attention=Cell(
            "by positions, if", "Documents are kept apart if there is no attention_mask and no "
            "cache. Without FlashAttention nothing else reads the boundaries.", seen),
        denominator=Cell("the Trainer's", "Decided by the Trainer: see its row."),
        packing=Cell("none", "None: it joins the examples of one batch, however many they are."),
        switch=Cell(
            "no mask, no cache", "Give it to the Trainer as data_collator, with labels or without. "
            "In a loop of your own call model(**batch, use_cache=False)."),
        trap=Cell(
            "a mask of ones", "An all-ones attention_mask, or the default cache, silently gives "
            "one causal triangle over all documents.", seen),
    )  # fmt: skip


def trained(kwargs_reach_the_loss: bool) -> tuple[str, Any]:
    """The mean that a Trainer reports for two micro-batches, and num_items_in_batch."""
    model, seen = look.llama(), []
    with tempfile.TemporaryDirectory() as folder, look.quiet():
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder, per_device_train_batch_size=1, gradient_accumulation_steps=2,
                max_steps=1, learning_rate=0.0, report_to=[], use_cpu=True, disable_tqdm=True,
                save_strategy="no",
            ),
            train_dataset=Dataset.from_list(features()),
            data_collator=DataCollatorForLanguageModeling(look.tokenizer(), mlm=False),
        )  # fmt: skip
        trainer.model_accepts_loss_kwargs = kwargs_reach_the_loss
        inner = trainer.compute_loss

        def compute_loss(*args: Any, num_items_in_batch: Any = None, **kwargs: Any) -> Any:
            count = num_items_in_batch
            seen.append(count if count is None else int(count))
            return inner(*args, num_items_in_batch=num_items_in_batch, **kwargs)

        trainer.compute_loss = compute_loss
        loss = trainer.train().training_loss
    return look.which_mean(loss, model), seen[0]


def loss_and_trainer() -> System:
    """ForCausalLMLoss, the masks of a model, num_items_in_batch of the Trainer."""
    shifts = probe_shift(lambda x, y: ForCausalLMLoss(x, y, x.shape[-1])).shift
    not_again = probe_shift(lambda x, y: ForCausalLMLoss(x, None, x.shape[-1], shift_labels=y))
    cut = torch.tensor([[3, 4, 5, 0, 1, 2]])
    dense = find_packed_sequence_indices(cut)
    flash = prepare_fa_kwargs_from_position_ids(cut)[0][0]
    row = pack_documents(DOCUMENTS, len(ROW))
    booleans = {**row.to_dict("packed"), "attention_mask": document_mask(row)[:, None]}
    additive = row.to_dict("dense")
    masks = "\n".join(
        f"{said} 4-D mask, {kind}: {isolated(fields, kind, use_cache=False)}"
        for kind in ("eager", "sdpa")
        for said, fields in (("boolean", booleans), ("additive", additive))
    )
    with_count, count = trained(True)
    without, none = trained(False)
    return look.system(
        "transformers", "loss, masks and Trainer", "transformers",
        URL + "loss/loss_utils.py", [],
        shift=Cell(
            "loss", "ForCausalLMLoss shifts labels once, and does not shift shift_labels.",
            f"probe_shift: labels {shifts}, shift_labels {not_again.shift}"),
        marks=Cell(
            "position_ids", "A dense mask begins a document where the step of position_ids is not "
            "+1; the FlashAttention path where a position is the smallest of the row.",
            show(position_ids=cut, dense=dense, cu_seq_lens=flash)),
        boundary=Cell("as labelled", "What the labels say; the loss knows no documents."),
        positions=Cell("yours", "Yours, else counted along the row."),
        padding=Cell("-100", "A label of -100 is ignored, wherever it stands.",
                     f"probe_shift ignores -100: {not_again.ignores}"),
        attention=Cell("by its mask", "A 4-D mask is taken as it is. In eager attention it is "
                       "added, so it must hold 0 and a very low number.", masks),
        denominator=Cell(
            with_count, f"The Trainer counts targets over all micro-batches and ranks: {with_count}"
            f". A model whose forward takes no **kwargs is given no count: {without}.",
            f"micro-batches of 3 and 2 targets\nnum_items_in_batch {count}: {with_count}\n"
            f"num_items_in_batch {none}: {without}"),
        packing=Cell("none", "None."),
        switch=Cell(
            "shift_labels", "Labels that are shifted already go in as shift_labels. "
            "average_tokens_across_devices (on by default) makes the count global."),
        trap=Cell("two boundary rules", "A row that begins inside a document: the FlashAttention "
                  "rule loses the first piece, because 0 is not where it starts.",
                  show(position_ids=cut, cu_seq_lens=flash)),
    )  # fmt: skip
