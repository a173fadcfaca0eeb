"""The rows of torchtune, megatron-core and PyTorch's FlexAttention."""

from __future__ import annotations

import inspect
from importlib.metadata import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.nn.attention.flex_attention import create_block_mask
from torch.nn.attention.flex_attention import flex_attention as flex

from course_lib import document_ids_from_lengths, document_mask
from course_lib.systems import Cell, System, boundary_convention
from course_lib.vocabulary import EOS
from tools import systems_look as look
from tools.systems_look import DOCUMENTS, FIRST, ROW, show

RECIPE = "recipes/full_finetune_single_device.py"


def recipe_lines(*wanted: str) -> str:
    """Lines of torchtune's recipe, as installed; raises if one is no longer there."""
    path = next(f for f in files("torchtune") or [] if str(f) == RECIPE)
    lines = [line.strip() for line in Path(path.locate()).read_text("utf8").splitlines()]
    found = [next((line for line in lines if part in line), None) for part in wanted]
    if None in found:
        raise LookupError(f"{RECIPE} has no line with {wanted[found.index(None)]!r} any more")
    return "\n".join(map(str, found))


def torchtune() -> System:
    """PackedDataset and padded_collate_packed."""
    with look.quiet():
        from torchtune.data import padded_collate_packed
        from torchtune.datasets import PackedDataset

        def packed(documents: list[list[int]], size: int) -> list[dict[str, Any]]:
            data = [{"tokens": d, "labels": d} for d in documents]
            return list(PackedDataset(data, max_seq_len=size))

        rows = packed(DOCUMENTS, 9)
        batch = padded_collate_packed(rows)
        strategies = ", ".join(look.packs_like(
            lambda sizes, capacity: [
                [n for n in row["seq_lens"].tolist() if n][: int((row["input_pos"] == 0).sum())]
                for row in packed([[1] * n for n in sizes], capacity)
            ]
        ))  # fmt: skip
    ids = document_ids_from_lengths([4, 3], 9)
    real = ids >= 0
    apart = torch.equal(batch["mask"][0][real], document_mask(ids)[real])
    letter = boundary_convention(
        DOCUMENTS, rows[0]["tokens"].tolist(), [*rows[0]["labels"].tolist()[1:], -100]
    )
    labels = show(labels=rows[0]["labels"])
    return look.system(
        "torchtune", "PackedDataset", "torchtune",
        "https://github.com/pytorch/torchtune/blob/v0.6.1/torchtune/datasets/_packed.py",
        [letter],
        shift=Cell("recipe", "In the recipe, over the whole packed row.",
                   recipe_lines("(labels[..., 1:], self.ignore_labels_cache")),
        marks=Cell("seq_lens", "By seq_lens for each row; padding is one more length. The collator "
                   "makes a dense mask of them.", show(seq_lens=rows[0]["seq_lens"])),
        boundary=Cell(letter, f"{letter} for data without masked prompts: the label of the first "
                      "token of document 2 stays.", labels),
        positions=Cell("start again", "input_pos starts at 0 in each document and carries on over "
                       "padding.", show(input_pos=rows[0]["input_pos"])),
        padding=Cell("-100, by length", "Labels are -100, known by length.", labels),
        attention=Cell("dense block mask", "Documents are kept apart. Padding is a causal document "
                       "of its own.", f"on real slots equal to our document mask: {apart}"),
        denominator=Cell(
            "token mean, unshifted",
            "Each micro-batch's mean times its labels, divided by all labels: "
            "a token mean, but labels are counted before the shift.",
            recipe_lines('batch["labels"] != self._loss_fn.ignore_index',
                         "self._loss_step(batch) * current_num_tokens",
                         "scale_grads(self._model, 1 / num_tokens)")),
        packing=Cell("next fit", f"The rows of our {strategies}; split_across_pack=True joins and "
                     "cuts instead.", f"same rows as: {strategies}"),
        switch=Cell("packed: True", "dataset.packed=True and tokenizer.max_seq_len. This is also "
                    "the switch of Meta's Llama 4 recipes, which run on later versions: see the "
                    "row of torchtune main."),
        trap=Cell("two conventions", "The released version is A, the development version shifts "
                  "each document first and is B. The same configuration trains other targets.",
                  labels),
    )  # fmt: skip


def gpt_sample(**switches: bool) -> dict[str, torch.Tensor]:
    """What GPTDataset returns for the row and one token more, without an index on a disk."""
    from megatron.core.datasets.gpt_dataset import GPTDataset

    off = {"reset_position_ids": False, "reset_attention_mask": False, "eod_mask_loss": False}
    stub = SimpleNamespace(
        config=SimpleNamespace(
            add_extra_token_to_sequence=True, create_attention_mask=True,
            tokenizer=SimpleNamespace(eod=EOS), **{**off, **switches},
        ),
        masks_and_position_ids_are_cacheable=False,
        masks_and_position_ids_are_cached=False,
        _pad_token_id=-1,
        _query_document_sample_shuffle_indices=lambda index: (np.array([*ROW, 2]), None),
    )  # fmt: skip
    return GPTDataset.__getitem__(stub, 0)


def scored(sample: dict[str, torch.Tensor]) -> list[int]:
    """Labels with -100 where the loss mask is 0."""
    return sample["labels"].where(sample["loss_mask"] > 0, torch.tensor(-100)).tolist()


def micro_batch_loss(per_token: bool) -> float:
    """What the schedule makes of micro-batches of 6.0 over 3 and 8.0 over 2 targets."""
    from megatron.core.pipeline_parallel.schedules import forward_step_calc_loss

    config = SimpleNamespace(calculate_per_token_loss=per_token, timers=None)
    total = 0.0
    for loss, count in ((6.0, 3), (8.0, 2)):
        out, _ = forward_step_calc_loss(
            None, torch.tensor(loss), lambda x, n=count: (x.clone(), torch.tensor(n), {}), config,
            None, False, 2, [], cp_group_size=1, is_last_stage=True,
        )  # fmt: skip
        total += float(out)
    return total


def megatron() -> System:
    """GPTDataset with its three switches off and on, PackedSeqParams, and the schedule's loss."""
    with look.quiet():
        from megatron.core.packed_seq_params import PackedSeqParams

        plain = gpt_sample()
        reset = gpt_sample(
            reset_position_ids=True, reset_attention_mask=True, eod_mask_loss=True
        )
        means, sums = micro_batch_loss(False), micro_batch_loss(True)
    kinds = [
        boundary_convention(DOCUMENTS, s["tokens"].tolist(), scored(s)) for s in (plain, reset)
    ]
    ids = document_ids_from_lengths([4, 3])
    polarity = torch.equal(~reset["attention_mask"][0], document_mask(ids))
    fields = ", ".join(inspect.signature(PackedSeqParams).parameters)
    both = f"off: {scored(plain)}\non:  {scored(reset)}"
    return look.system(
        "Megatron-LM", "GPTDataset (megatron-core)", "megatron-core",
        "https://github.com/NVIDIA/Megatron-LM/blob/core_v0.16.1/megatron/core/datasets/"
        "gpt_dataset.py", kinds,
        shift=Cell("data set", "In the data set, over the row: of T+1 tokens the first T are "
                   "inputs and the last T labels.",
                   show(text=[*ROW, 2], tokens=plain["tokens"], labels=plain["labels"])),
        marks=Cell("EOD id", "By the id that ends a document; PackedSeqParams carries cu_seqlens "
                   "for kernels.", f"PackedSeqParams({fields})"),
        boundary=Cell(
            " or ".join(kinds), f"{kinds[0]} by default; {kinds[1]} with eod_mask_loss, which "
            "masks the position that reads the EOD, not the one that predicts it.",
            "labels that count\n" + both),
        positions=Cell("run on", "They run on; reset_position_ids starts them again.",
                       f"off: {plain['position_ids'].tolist()}\n"
                       f"on:  {reset['position_ids'].tolist()}"),
        padding=Cell("loss mask 0, by id", "Found by id in the labels; label and token become 0 "
                     "under a loss mask of 0."),
        attention=Cell(
            "whole row, True = masked", "Documents see each other unless reset_attention_mask. "
            "The mask is boolean, and True means masked.",
            f"inverted, equal to our document mask: {polarity}"),
        denominator=Cell(
            "mean of means", "By default each micro-batch is divided by its own count and by their "
            "number. With calculate_per_token_loss=True sums and counts go on to the end of the "
            "step: a global token mean.",
            f"6.0 over 3 targets, 8.0 over 2\ndefault: {means}\nper token: {sums}, over 5 later"),
        packing=Cell("concatenate", "Joins documents and cuts rows of sequence_length + 1 tokens, "
                     "by an index."),
        switch=Cell(
            "four switches", "--reset-position-ids --reset-attention-mask --eod-mask-loss for B "
            "with documents apart; --calculate-per-token-loss for the token mean."),
        trap=Cell("what EOD masking masks", "eod_mask_loss sounds as if the EOD were no target. It "
                  "stays one; the token behind it is not.", both),
    )  # fmt: skip


def flex_attention() -> System:
    """create_block_mask and flex_attention of PyTorch, on a CPU."""
    ids = document_ids_from_lengths([4, 3], 9)

    def same(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (q >= k) & (ids[q] == ids[k])

    g = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, 1, 9, 16, generator=g).unbind(0)
    with look.quiet():
        mask = create_block_mask(same, 1, 1, 9, 9, device="cpu")
        packed = flex(q, k, v, block_mask=mask)[0, 0, 4:7]
    alone = torch.nn.functional.scaled_dot_product_attention(
        q[..., 4:7, :], k[..., 4:7, :], v[..., 4:7, :], is_causal=True
    )[0, 0]
    apart = "apart" if torch.allclose(packed, alone, atol=1e-5) else "NOT apart"
    pads = bool(same(0, 0, torch.tensor(8), torch.tensor(7)))
    none = Cell("no targets", "It is attention only; it has no labels.")
    return look.system(
        "PyTorch", "FlexAttention", "torch",
        "https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html", [],
        shift=none,
        marks=Cell("a rule", "By a rule of yours over (query, key), mostly equality of document "
                   "ids; create_block_mask makes tables of tiles of it.",
                   show(document_ids=ids)),
        boundary=none,
        positions=Cell("yours", "Yours."),
        padding=Cell("a document?", "Whatever the rule says. With -1 for padding, equality of ids "
                     "makes all padding one document.",
                     f"padding sees padding before it: {pads}"),
        attention=Cell("by the rule", "Documents are kept apart if the rule says so.",
                       f"documents of {len(FIRST)} and 3 tokens: {apart}"),
        denominator=none,
        packing=Cell("none", "None."),
        switch=Cell("block_mask", "attn_implementation=\"flex_attention\" in transformers; pass a "
                    "BlockMask as attention_mask, or let it be made."),
        trap=Cell("no backward on a CPU", "On a CPU it runs forward only, and a rule is evaluated "
                  "again for each batch: make the tables once a batch, not once a layer."),
    )  # fmt: skip
