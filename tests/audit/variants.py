"""Siblings of a case: the same fault in other rows, under other ids, between other tokens.

Each variant returns the changed input and a function that says where a place has gone.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Variant = tuple[dict[str, Any], Callable[[Any], list[Any]]]

IDS = ("input_ids", "labels", "shifted_labels", "effective_targets", "documents",
       "decoder_input_ids", "untruncated_ids", "full_row", "packs", "shards", "shard_targets",
       "prompt", "chosen", "rejected", "chosen_kept", "rejected_kept")  # fmt: skip
SPECIAL = ("pad_id", "eos_id", "bos_id", "separator_id", "system_id", "user_id", "assistant_id",
           "decoder_start_id", "response_template")  # fmt: skip
SLOTWISE = ("input_ids", "labels", "shifted_labels", "attention_mask", "position_ids", "loss_mask",
            "assistant_masks", "decoder_input_ids", "effective_targets", "doc_ids")  # fmt: skip
PER_ROW = ("prompt_len", "prefix_len", "n_real")
ONE_ROW = ("cu_seqlens", "derived_cu_seqlens", "seq_lens", "doc_lengths", "half_width", "nll",
           "header_len", "answer_start", "documents", "denominator", "assistant_span",
           "segment_is_real")  # fmt: skip


def stay(place: Any) -> list[Any]:
    return [place]


def deep(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, list):
        return [deep(v, change) for v in value]
    return value if value is None else change(value)


def other_ids(given: dict[str, Any]) -> Variant | None:
    """Every token id becomes another one; what is negative stays."""
    given = copy.deepcopy(given)
    named = [k for k in given if k in IDS or k in SPECIAL]
    if given["form"] not in ("batch", "attention", "packer_trace", "shards", "truncation_trace"):
        return None
    if not named or isinstance(given.get("documents"), int):
        return None
    if "vocab_size" in given:
        given["vocab_size"] += 1000
    for name in named:
        given[name] = deep(given[name], lambda i: i + 1000 if i >= 0 else i)
    return given, stay


def row_again(given: dict[str, Any]) -> Variant | None:
    """The same rows once more below: each place is there twice."""
    if given["form"] != "batch" or any(given.get(k) is not None for k in ONE_ROW):
        return None
    if "effective_targets" in given and "slice" in given["consumer"]:
        return None  # its last column speaks of the row below
    given = copy.deepcopy(given)
    B = len(next(given[k] for k in SLOTWISE if given.get(k) is not None))
    for name in (*SLOTWISE, *PER_ROW):
        if given.get(name) is not None:
            given[name] = given[name] + copy.deepcopy(given[name])
    return given, lambda p: again(p, B)


def again(place: Any, B: int) -> list[Any]:
    if isinstance(place, list):
        return [place, [place[0] + B, *place[1:]]]
    return [place, place + B] if isinstance(place, int) else [place]


def wider(given: dict[str, Any]) -> Variant | None:
    """Three columns of padding on the right, known by the mask."""
    return padded(given, left=0, right=3)


def further_right(given: dict[str, Any]) -> Variant | None:
    """Two columns of padding on the left: places move."""
    return padded(given, left=2, right=0)


def padded(given: dict[str, Any], left: int, right: int) -> Variant | None:
    if given["form"] != "batch" or given.get("attention_mask") is None:
        return None
    blocked = (*ONE_ROW[:-2], "effective_targets")
    if any(given.get(k) is not None for k in blocked) or "labels" not in given:
        return None
    if left and (given["labels"][0][0] != -100 and "shifts inside" in given["consumer"]):
        return None  # its first label would be scored: another fault
    given = copy.deepcopy(given)
    fill = {"labels": -100, "attention_mask": 0, "loss_mask": 0, "assistant_masks": 0,
            "position_ids": 0, "input_ids": given.get("pad_id", 0)}  # fmt: skip
    for name, value in fill.items():
        if given.get(name) is not None:
            given[name] = [[value] * left + row + [value] * right for row in given[name]]
    return given, lambda p: [[p[0], p[1] + left] if isinstance(p, list) else p]


def other_scale(given: dict[str, Any]) -> Variant | None:
    """Every loss three times as large."""
    if given["form"] not in ("loss_trace", "eval_trace") or isinstance(given.get("reported"), dict):
        return None
    given = copy.deepcopy(given)
    for name in ("microbatches", "ranks", "batches", "sequences", "documents"):
        for part in given.get(name, ()):
            part["loss_sum"] *= 3
    for name in ("loss_seen_by_backward", "per_rank", "batch_losses"):
        if name in given:
            given[name] = [3 * x for x in given[name]]
    if given.get("reported"):
        given["reported"] *= 3
    return given, stay


def pattern_again(given: dict[str, Any]) -> Variant | None:
    """The same attention pattern for a second row."""
    if given["form"] != "attention" or "rule" in given:
        return None
    given = copy.deepcopy(given)
    fields = [k for k in ("input_ids", "position_ids", "doc_ids") if k in given]
    listed = given.pop("allowed_rows", None) or given.pop("visible_keys")
    if isinstance(listed, list):
        listed = {str(q): keys for q, keys in enumerate(listed)}
    if not any(k.startswith("row") for k in listed):
        listed = {"row0": listed}
    B = len(listed)
    listed |= {f"row{int(k[3:]) + B}": v for k, v in copy.deepcopy(listed).items()}
    given["visible_keys"] = listed
    if not fields:
        given["position_ids"] = [list(range(given["seq_len"]))]
        fields = ["position_ids"]
    for name in fields:
        given[name] = given[name] + given[name]
    return given, lambda p: [[0, p], [B, p]] if isinstance(p, int) else again(p, B)


VARIANTS = (other_ids, row_again, wider, further_right, other_scale, pattern_again)
