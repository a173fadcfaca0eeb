"""From a case of `tests/cases/systems_open.json` to the same thing done by ours.

A counterpart takes a case and returns pairs (theirs, ours) that must be equal, or raises `Differs`
with the convention in which the two part. It raises `NoCounterpart` where ours has nothing alike.
What a system did comes from the case alone; nothing of a system is imported here.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from course_lib import (
    Batch,
    cu_seqlens_from_lengths,
    document_ids_from_lengths,
    document_ids_from_position_ids,
    document_mask,
    lengths_from_cu_seqlens,
    lengths_from_document_ids,
    pack_documents,
    pack_lengths,
    pad_documents,
    per_document_shift,
    position_ids_from_lengths,
    token_losses,
)
from course_lib.audit.losses import Losses
from course_lib.audit.means import Part, join

Case = dict[str, Any]
Pairs = list[tuple[Any, Any]]

CONVENTIONS = {
    "worst_fit": "their packer takes the emptiest row (worst fit); ours has no such strategy",
    "row_cap": "they cap the number of documents in a row; ours caps tokens only",
    "refused": "ours refuses an empty list, empty or over-long documents; theirs goes on",
    "window": "they pack each map batch by itself; ours sees all documents",
    "by_id": "they find padding by id, ours by length",
    "overwrites": "their collator overwrites labels that were given",
    "separator": "they write a separator into the labels at a boundary",
    "trailing_zeros": "they read trailing zero positions as one run of padding",
    "row_minimum": "their kernel path begins documents where the position is the row's minimum",
    "tail_dropped": "they drop the last block that is not full; ours pads it",
    "carried_on": "positions of a cut document carry on; ours begin at 0 in each piece",
    "pads_are_a_document": "padding is a causal document of its own; ours sees nothing",
    "start": "positions begin at another number than 0",
    "histogram": "documents of one length are placed together",
    "mean_of_means": "a plain mean over micro-batches and ranks; ours adds sums and counts",
    "no_mean": "ours refuses the mean of no targets; theirs is nan or 0",
    "last_label": "the row's last label is a token beyond it, or a filler under a loss mask",
}


class Differs(Exception):
    """The two part in a named convention (a key of `CONVENTIONS`)."""


class NoCounterpart(Exception):
    """Ours has nothing alike; the text says what it is."""


def compare(case: Case) -> Pairs:
    """Return what must be equal. See the module's first lines."""
    for applies, counterpart in COUNTERPARTS:
        if applies(case):
            return counterpart(case)
    raise NoCounterpart(case["source_path"])


def refuses(call: Callable[[], Any]) -> None:
    """Ours raises a clear error here: that is the convention."""
    with pytest.raises((ValueError, TypeError)):
        call()
    raise Differs("refused")


# --- lengths into rows

STRATEGY = {
    r"allocate_sequentially|next fit": "next_fit",
    r"pack_group|first fit, input order|::first_fit$": "first_fit",
    r"first_fit_decreasing|LLaMA-Factory greedy_knapsack|processor_utils.py::greedy_knapsack"
    r"|FitDecreasing": "first_fit_decreasing",  # one row at a time, the largest that fits: as FFD
    r"TRL bfd": "best_fit_decreasing",
}


def strategy_of(case: Case) -> str | None:
    path = case["source_path"]
    if case["system"] == "NeMo Automodel" and "knapsack" in path:
        return None
    return next((s for pattern, s in STRATEGY.items() if re.search(pattern, path)), None)


def lengths_of(case: Case) -> list[int] | None:
    given = case["input"]
    given = given.get("lengths") if isinstance(given, dict) else given
    if isinstance(given, str) and "random.seed(0)" in given:
        random.seed(0)
        count = int(given.rsplit("x", 1)[1])
        return [max(1, min(2048, int(random.lognormvariate(5, 1)))) for _ in range(count)]
    flat = isinstance(given, list) and all(isinstance(n, int) for n in given)
    return given if flat else None


def packs_lengths(case: Case) -> bool:
    rows = case["expected"]
    named = "bins" in rows or "n" in rows if isinstance(rows, dict) else isinstance(rows, list)
    return case["kind"] == "packing" and named and lengths_of(case) is not None


def rows_of_lengths(case: Case) -> Pairs:
    lengths, settings, rows = lengths_of(case), case["settings"], case["expected"]
    capacity = next((settings[k] for k in CAPACITY if k in settings), None)
    strategy = strategy_of(case)
    path = case["source_path"]
    if re.search("worst fit|Automodel|neat_packing|SPFHP", path + case["system"]):
        raise Differs("worst_fit")
    if "LPFHP" in path:
        raise Differs("histogram")
    if strategy is None or capacity is None:
        raise NoCounterpart(path)
    if not lengths or min(lengths) < 1 or max(lengths) > capacity:
        refuses(lambda: pack_lengths(lengths, capacity, strategy))
    if settings.get("bin_size", len(lengths)) < len(lengths) or "max_bins" in settings:
        raise Differs("row_cap")
    packing = pack_lengths(lengths, capacity, strategy)
    if isinstance(rows, dict) and "bins" not in rows:
        if "TRL" in path and len(lengths) > 1000:
            raise Differs("window")
        return [(rows["n"], len(packing)), (rows["lower_bound"], packing.lower_bound)]
    rows = rows["bins"] if isinstance(rows, dict) else rows
    by_number = case["system"] in ("Axolotl", "Megatron-Bridge")
    if by_number:
        items = case["input"]["items"] if isinstance(case["input"], dict) else range(len(lengths))
        where = {item: i for i, item in enumerate(items)}
        rows = [[lengths[where[item]] for item in row] for row in rows]
    ours = [[lengths[i] for i in row] for row in packing.to_lists()]
    return [(same_rows(rows), same_rows(ours))]


CAPACITY = ("capacity", "bin_capacity", "pack_size", "max_length", "packed_sequence_size")


def same_rows(rows: list[list[int]]) -> list[list[int]]:
    """Rows without their order, documents in them without theirs."""
    return sorted(sorted(row) for row in rows)


# --- documents into packed rows


def trl_packing(case: Case) -> Pairs:
    settings, documents = case["settings"], case["input"]["input_ids"]
    strategy, capacity = settings["strategy"], settings["seq_length"]
    if "raises" in case["expected"]:
        refuses(lambda: pack_documents(documents, capacity, strategy=strategy))
    if settings.get("map_kwargs", {}).get("batch_size", 1000) < len(documents):
        raise Differs("window")
    how = {"bfd": {"overlong": "truncate"}, "bfd_split": {"overlong": "split"},
           "wrapped": {"strategy": "concatenate"}}[strategy]  # fmt: skip
    kept = [d for d in documents if d]
    if len(kept) < len(documents):
        refuses(lambda: pack_documents(documents, capacity, **how))
    batch = pack_documents(kept, capacity, **how)
    rows = [row[real].tolist() for row, real in zip(batch.input_ids, batch.attention_mask.bool(),
                                                    strict=True)]  # fmt: skip
    if strategy == "wrapped":
        return [(case["expected"]["input_ids"], rows)]
    theirs = [cut(r, n) for r, n in zip(case["expected"]["input_ids"],
                                        case["expected"]["seq_lengths"], strict=True)]  # fmt: skip
    ours = [cut(r, n) for r, n in zip(rows, batch.document_lengths, strict=True)]
    return [(sorted(map(sorted, theirs)), sorted(map(sorted, ours)))]


def cut(row: list[int], lengths: list[int]) -> list[list[int]]:
    bounds = np.cumsum([0, *lengths])
    return [row[a:b] for a, b in zip(bounds, bounds[1:], strict=False)]


def torchtune_packing(case: Case) -> Pairs:
    settings = case["settings"]
    documents = case["input"]["documents"]
    capacity = settings["max_seq_len"]
    if settings.get("split_across_pack"):
        raise Differs("carried_on")
    if "max_packs" in settings:
        raise NoCounterpart("a cap on the number of rows")
    call = lambda: pack_documents(documents, capacity, strategy="next_fit", boundary="B")  # noqa: E731
    if "raises" in case["expected"] or not all(documents) or not documents:
        refuses(call)
    batch, pairs = call(), []
    for row, theirs in enumerate(case["expected"]):
        real = int(batch.attention_mask[row].sum())
        shifted = [*batch.labels[row, 1:].tolist(), -100]
        pairs += [
            (theirs["tokens"], batch.input_ids[row].tolist()),
            (theirs["labels"], shifted),
            (theirs["input_pos"][:real], batch.position_ids[row, :real].tolist()),
            (theirs["seq_lens"][: len(batch.document_lengths[row])], batch.document_lengths[row]),
        ]
    return [*pairs, (len(case["expected"]), len(batch))]


def automodel_packing(case: Case) -> Pairs:
    size = case["settings"]["packed_sequence_size"]
    documents = case["input"].get("input_ids") or [[1] * n for n in case["input"]["lengths"]]
    call = lambda: pack_documents(documents, size, strategy="next_fit")  # noqa: E731
    if "raises" in case["expected"]:
        refuses(call)
    batch, theirs = call(), case["expected"]
    if "input_ids" not in theirs:
        return [(theirs["seq_lens"], batch.document_lengths)]
    real = int(batch.attention_mask[0].sum())
    return [
        (theirs["input_ids"], batch.input_ids.tolist()),
        (theirs["seq_lens0"], batch.document_lengths[0]),
        (theirs["position_ids0"][:real], batch.position_ids[0, :real].tolist()),
        (theirs["labels1"], batch.labels[1].tolist()),
    ]


def concatenated(case: Case) -> Pairs:
    size = case["settings"]["chunk_size"]
    batch = pack_documents(case["input"], size, strategy="concatenate")
    theirs = [row["input_ids"] for row in case["expected"]]
    assert theirs == batch.input_ids.tolist()[: len(theirs)], "their rows are our first rows"
    raise Differs("tail_dropped")


def mistral_rows(case: Case) -> Pairs:
    documents, size = case["input"], case["settings"]["seq_len"]
    plain = all(isinstance(t, int) for d in documents for t in d)
    total = sum(len(d) - 1 for d in documents) if plain else 0
    if not plain or not documents:
        raise NoCounterpart("a mask for each token, or an empty stream")
    if not case["settings"]["is_finite (eval)"]:
        raise Differs("tail_dropped")
    if total > size:
        raise Differs("carried_on")
    batch = pack_documents(documents, sum(map(len, documents)), strategy="next_fit")
    rows, theirs = per_document_shift(batch), case["expected"][0]
    real = [k for k, kept in enumerate(theirs["mask"]) if kept]
    return [
        ([theirs["x"][k] for k in real], rows.input_ids[0].tolist()),
        ([theirs["y"][k] for k in real], rows.targets[0].tolist()),
        (theirs["sizes"][: len(documents)], lengths_from_document_ids(rows.document_ids[0])),
    ]


def nemo_collation(case: Case) -> Pairs:
    (row,), theirs = case["input"], case["expected"]
    starts = [*row["seq_start_id"], len(row["input_ids"])]
    documents = [row["input_ids"][a:b] for a, b in zip(starts, starts[1:], strict=False)]
    batch = pack_documents(documents, len(row["input_ids"]), strategy="next_fit")
    rows = per_document_shift(batch)
    n = rows.input_ids.shape[1]
    if len(theirs["tokens"][0]) < n or case["id"] == "nemo-030":
        raise NoCounterpart("cut to a row length after packing")
    return [
        (theirs["tokens"][0][:n], rows.input_ids[0].tolist()),
        (theirs["labels"][0][:n], rows.targets[0].tolist()),
        (theirs["position_ids"][0][:n], rows.position_ids[0].tolist()),
    ]


# --- collation of padded and flattened batches


def collated(case: Case) -> Pairs:
    settings, theirs = case["settings"], case["expected"]
    documents = [row["input_ids"] for row in case["input"]]
    if "raises" in theirs or not all(documents):
        if settings.get("pad_token", 0) is None:
            raise NoCounterpart("a tokenizer without a pad token; ours has a pad id always")
        refuses(lambda: pad_documents(documents))
    flat = "Flattening" in case["source_path"] or settings.get("padding_free")
    if any("seq_lengths" in row for row in case["input"]):
        raise NoCounterpart("rows that were packed before; padded again")
    given = [row.get("labels", row["input_ids"]) for row in case["input"]]
    if settings.get("separator_id", -100) != -100:
        raise Differs("separator")
    if settings.get("position_ids_start"):
        raise Differs("start")
    batch = pad_documents(documents, pad_id=settings.get("pad_token_id", 0))
    if not flat:
        return padded_pairs(case, batch, given)
    ours = batch.to_dict("flattened")
    names = ["input_ids", "position_ids"] + ["cu_seq_lens_q", "max_length_q"] * (
        "cu_seq_lens_q" in theirs
    )
    if given == documents:
        names.append("labels")
    width = ours["input_ids"].shape[1]
    pairs = []
    for name in names:
        value = ours[name].tolist() if isinstance(ours[name], torch.Tensor) else ours[name]
        got = theirs[name]
        two = isinstance(got, list) and isinstance(got[0], list)
        pairs.append(([got[0][:width]] if two else got, value))
    if "seq_idx" in theirs:
        pairs.append((theirs["seq_idx"], document_ids_from_lengths([len(d) for d in documents])[
            None].tolist()))  # fmt: skip
    return pairs


def padded_pairs(case: Case, batch: Batch, given: list[list[int]]) -> Pairs:
    theirs, ids = case["expected"], [row["input_ids"] for row in case["input"]]
    labels = batch.labels.tolist()
    pairs = [(theirs[k], getattr(batch, k).tolist()) for k in ("input_ids", "attention_mask")
             if k in theirs]  # fmt: skip
    assert all(a == b for a, b in pairs)
    if given != ids:
        raise Differs("overwrites")
    if theirs["labels"] != labels:
        pad = case["settings"]["pad_token_id"]
        by_id = batch.labels.masked_fill(batch.input_ids == pad, -100).tolist()
        assert theirs["labels"] == by_id
        raise Differs("by_id")
    return [*pairs, (theirs["labels"], labels)]


# --- boundaries


def boundaries(case: Case) -> Pairs:
    given, theirs = case["input"], case["expected"]
    path = case["source_path"]
    if "get_cu_seqlens_from_pos_ids" in path or "from position ids" in case["note"]:
        rows = [torch.tensor(row) for row in given]
        marks = [cu(document_ids_from_position_ids(row)) for row in rows]
        if marks == theirs:
            return [(theirs, marks)]
        raise Differs("trailing_zeros")
    if isinstance(theirs, dict) and "find_packed_sequence_indices" in theirs:
        return packed_indices(given, theirs)
    if "cu_seq_q" in theirs and isinstance(given, list):
        marks = cu(document_ids_from_position_ids(torch.tensor(given)))
        if theirs["cu_seq_q"] != marks:
            raise Differs("row_minimum")
        return [(theirs["cu_seq_q"], marks), (theirs["max_q"], max(np.diff(marks)))]
    if path.endswith("::unpad_input"):
        real = torch.tensor(given)
        batch = Batch.from_dict({"input_ids": real, "attention_mask": real})
        return [(theirs["cu_seqlens"], batch.cu_seqlens().tolist())]
    if path.endswith("for_concatenated_sequences"):
        lengths = [n for row in given for n in row if n]
        return [(theirs["cu_seqlens"], cu_seqlens_from_lengths(lengths).tolist())]
    if case["system"] == "LLaMA-Factory" or path.endswith("get_seqlens_in_batch"):
        ids = [torch.tensor(row) - 1 for row in given]
        lengths = [n for row in ids for n in lengths_from_document_ids(row)]
        theirs = theirs if isinstance(theirs, list) else np.diff(theirs["cu_seqlens"]).tolist()
        return [(theirs, lengths)]
    if isinstance(given, dict) and any("lengths" in k for k in given) and isinstance(theirs, list):
        (lengths,) = given.values()
        total = case["settings"].get("capacity", sum(lengths))
        marks = cu_seqlens_from_lengths(lengths).tolist()
        return [(theirs, marks if marks[-1] == total else [*marks, total])]
    if case["system"] == "Axolotl" and isinstance(theirs, list):
        return [(theirs, [n for row in given for n in lengths_from_document_ids(
            torch.tensor(row).where(torch.tensor(row) > 0, torch.tensor(-1)))])]  # fmt: skip
    if isinstance(given, dict) and "text" in given:
        return megatron_documents(given, theirs)
    raise NoCounterpart(path)


def packed_indices(given: list, theirs: dict) -> Pairs:
    indices = document_ids_from_position_ids(torch.tensor(given))
    found = theirs["find_packed_sequence_indices"]
    pairs = [(found, indices.tolist())] if found is not None else []
    if theirs["fa_cu_seqlens"] != cu(indices[0]):
        assert all(a == b for a, b in pairs)
        raise Differs("row_minimum")
    return [*pairs, (theirs["fa_cu_seqlens"], cu(indices[0]))]


def cu(ids: torch.Tensor) -> list[int]:
    return cu_seqlens_from_lengths(lengths_from_document_ids(ids)).tolist()


def megatron_documents(given: dict, theirs: dict) -> Pairs:
    """A row with one token more than it has inputs; cu_seqlens filled up with the row's length."""
    n = len(theirs["tokens"])
    ids = document_ids_from_lengths(given["document_lengths"])[:n]
    lengths = lengths_from_document_ids(ids)
    marks = theirs["cu_seqlens"][: len(lengths) + 1]
    labels = pack_documents([given["text"]], n + 1).labels[0, 1:].tolist()
    return [
        (theirs["position_ids"], position_ids_from_lengths(lengths).tolist()),
        (lengths_from_cu_seqlens(marks), lengths),
        (theirs["labels"], labels),
    ]


# --- masks


def masks(case: Case) -> Pairs:
    given, theirs, path = case["input"], case["expected"], case["source_path"]
    if "_get_ltor_masks" in path:
        return megatron_masks(case)
    if path.endswith("find_packed_sequence_indices"):
        return [(theirs, document_ids_from_position_ids(torch.tensor(given)).tolist())]
    if isinstance(theirs, dict) and "pad row is zero" in theirs:
        return [(theirs["pad row is zero"], pad_row_is_zero())]
    if case["settings"].get("attention_mask") and theirs == "None (plain causal)":
        raise NoCounterpart("an all-ones mask that hides positions: see test_attention")
    if not isinstance(theirs, list):
        raise NoCounterpart(path)
    if case["system"] == "NeMo Automodel":
        ids = torch.tensor(given) - 1
    elif case["system"] in ("HF transformers", "torchtitan"):
        ids = document_ids_from_position_ids(torch.tensor(given))
    elif case["system"] == "torchtune":
        raise Differs("pads_are_a_document") if has_pads(given) else NoCounterpart(path)
    elif 0 in given:
        refuses(lambda: document_ids_from_lengths(given))
    else:
        ids = document_ids_from_lengths(given)
    ours = document_mask(ids).int().tolist()
    return [(np.array(theirs).reshape(np.shape(ours)).tolist(), ours)]


def has_pads(lengths: list[list[int]]) -> bool:
    return len({sum(row) for row in lengths}) == 1


def pad_row_is_zero() -> bool:
    from course_lib import attend

    q = torch.ones(1, 1, 2, 4)
    mask = document_mask(torch.tensor([[0, -1]]))
    return bool((attend(q, q, q, mask=mask)[0, 0, 1] == 0).all())


def megatron_masks(case: Case) -> Pairs:
    """A document ends with its EOD; True means masked; each switch is one of our choices."""
    ids, eod = torch.tensor(case["input"]), case["settings"]["eod"]
    on = case["settings"].get("all three", None)
    switch = lambda name: case["settings"].get(name, on)  # noqa: E731
    ends = (ids == eod).long()
    documents = (ends.cumsum(0) - ends) * int(bool(switch("reset_attention_mask")))
    theirs, ours = case["expected"], ~document_mask(documents)
    pairs = [(theirs["attention_mask (True = masked)"], ours.int().tolist())]
    parts = lengths_from_document_ids(documents if switch("reset_position_ids") else 0 * documents)
    pairs.append((theirs["position_ids"], position_ids_from_lengths(parts).tolist()))
    if switch("eod_mask_loss"):  # convention B, and the row's own end besides
        scored = [0.0 if token == eod else 1.0 for token in ids.tolist()]
        pairs.append((theirs["loss_mask"], scored))
    return pairs


# --- losses and counts

PARTS = "ranks x micro-batches of [loss sum, valid targets]"


def reported_means(case: Case) -> Pairs:
    nested = [[Part(*p) for p in rank] for rank in case["input"][PARTS]]
    flat = [p for rank in nested for p in rank]
    right = join(flat).mean
    if abs(case["expected"] - right) < 1e-5:
        return [(round(case["expected"], 5), round(right, 5))]
    run = Losses([join(r) for r in nested], nested, "ranks", {}, None, None, None, False)
    codes = {c.code for c in run.candidates if abs(c.value - case["expected"]) < 1e-5}
    assert "mean_of_microbatch_means" in codes, codes
    raise Differs("mean_of_means")


def cross_entropy(case: Case) -> Pairs:
    given, theirs = case["input"], case["expected"]
    if "logits" not in given or "mask" in given:
        if theirs in ("nan",) or isinstance(theirs, dict):
            raise Differs("no_mean")
        raise NoCounterpart(case["source_path"])
    logits, labels = torch.tensor(given["logits"]), torch.tensor(given["labels"])
    count = int((labels[:, 1:] != -100).sum())
    if theirs == "nan":
        assert count == 0
        raise Differs("no_mean")
    items = case["settings"].get("num_items_in_batch", count)
    return [(theirs, round(float(token_losses(logits, labels).sum() / items), 6))]


def counted_targets(case: Case) -> Pairs:
    total = 0
    for batch in case["input"]:
        labels = torch.tensor(batch["labels"])
        total += Batch.from_dict({"input_ids": labels.clamp(min=0), "labels": labels}).num_targets
    return [(case["expected"], float(total))]


def packed_positions(case: Case) -> Pairs:
    return [(case["expected"], [position_ids_from_lengths(n).tolist() for n in case["input"]])]


def megatron_rows(case: Case) -> Pairs:
    theirs, text = case["expected"], case["input"]["text"]
    if not isinstance(theirs["tokens"], list):
        raise NoCounterpart("types of arrays")
    if theirs["loss_mask"][-1] == 0.0:
        raise Differs("last_label")
    labels = pack_documents([text], len(text)).labels[0, 1:].tolist()
    return [(theirs["labels"], labels), (theirs["tokens"], text[:-1])]


def path_has(*words: str) -> Callable[[Case], bool]:
    return lambda case: any(word in case["source_path"] for word in words)


def both(kind: str, *words: str) -> Callable[[Case], bool]:
    return lambda case: case["kind"] == kind and path_has(*words)(case)


COUNTERPARTS: list[tuple[Callable[[Case], bool], Callable[[Case], Pairs]]] = [
    (lambda c: PARTS in c["input"], reported_means),
    (packs_lengths, rows_of_lengths),
    (lambda c: c["system"] == "TRL" and c["kind"] == "packing" and "strategy" in c["settings"],
     trl_packing),
    (lambda c: c["system"] == "torchtune" and c["kind"] == "packing"
     and isinstance(c["input"], dict) and isinstance(c["input"].get("documents"), list),
     torchtune_packing),
    (lambda c: c["system"] == "NeMo Automodel" and c["kind"] == "packing", automodel_packing),
    (lambda c: c["kind"] == "packing" and "chunk_size" in c["settings"], concatenated),
    (both("packing", "sequence_iterator"), mistral_rows),
    (lambda c: c["kind"] == "collation" and "GPTSFTPackedDataset" in c["source_path"],
     nemo_collation),
    (lambda c: c["kind"] == "collation" and c["system"] in ("HF transformers", "TRL"), collated),
    (lambda c: c["kind"] == "cu_seqlens", boundaries),
    (lambda c: c["kind"] == "mask", masks),
    (both("position_ids", "get_position_ids_from_packed_seq_lengths"), packed_positions),
    (lambda c: c["kind"] == "position_ids" and c["system"] == "TRL", packed_positions),
    (both("loss", "_get_num_items_in_batch"), counted_targets),
    (both("loss", "ForCausalLMLoss", "cross_entropy", "compute_loss_with_mask"), cross_entropy),
    (lambda c: c["kind"] == "labels" and "GPTDataset" in c["source_path"], megatron_rows),
]  # fmt: skip
