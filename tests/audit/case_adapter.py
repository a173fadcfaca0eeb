"""From a case of `tests/cases/faults_open.json` to a call, and to its repaired twin.

The adapter renames fields and fills in what a case leaves to the reader (a pattern given for some
queries only). It holds no verdicts: it does not look at a case's code, level, place or kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import course_lib.audit as auditors
from course_lib.audit import Report

RENAMED = {
    "pad_id": "pad_token_id",
    "eos_id": "eos_token_id",
    "loss_ignore_index": "ignore_index",
    "n_real": "lengths",
    "real_lengths": "lengths",
    "prompt_len": "prompt_lengths",
    "prompt_lens": "prompt_lengths",
    "prompt_length": "prompt_lengths",
    "source_len": "prompt_lengths",
    "instruction_len": "prompt_lengths",
    "prefix_len": "prompt_lengths",
    "answer_start": "prompt_lengths",
    "nll": "losses",
    "attention_implementation": "attn_implementation",
}
FIELDS = {
    "derived_cu_seqlens": "cu_seqlens",
    "max_seqlen": "max_seqlen",
    "doc_lengths": "seq_lengths",
    "document_lengths": "seq_lengths",
    "shifted_labels": "labels",
    "n_docs": None,
}
SLOTWISE = ("input_ids", "labels", "shifted_labels", "attention_mask", "position_ids", "doc_ids")
OPTIONS = {
    "documents", "pad_token_id", "eos_token_id", "ignore_index", "vocab_size", "boundary",
    "prompt_lengths", "completion_spans", "role_ids", "response_template", "lengths", "losses",
    "loss_sum", "denominator", "reported", "window", "attn_implementation",
}  # fmt: skip
LISTED = ("lengths", "prompt_lengths")


def report_of(given: dict[str, Any]) -> Report:
    """Audit the `input` of a case."""
    return ADAPTERS[given["form"]](dict(given))


def twin_of(given: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Return the input with the right values in the places of the wrong ones."""
    stale = [k for k, new in STALE.items() if new in right]
    if any(k in right for k in PATTERNS):
        stale += [k for k in PATTERNS if k not in right]
    twin = {k: v for k, v in given.items() if k not in stale}
    for name, value in right.items():
        twin[REPAIRS.get(name, name)] = value
    if given["form"] == "packer_trace" and "packs" in given:
        named = (v for k, v in right.items() if "packs" in k and rows(v))
        twin["packs"] = next(named, given["packs"])
    reported = given.get("reported")
    if isinstance(reported, dict) and "reported" not in right:
        twin["reported"] = {k: right.get(k, v) for k, v in reported.items()}
    elif reported is not None and "reported" not in right:
        means = [v for k, v in right.items() if number(v) and re.search(r"(mean|^loss)$", k)]
        twin["reported"] = means[0] if means else reported
    return twin


def rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, list) for row in value)


def number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


PATTERNS = ("visible_keys", "allowed_rows", "allowed", "mask", "allowed_mask", "pattern")
STALE = {"derived_cu_seqlens": "cu_seqlens", "displayed": "steps"}
REPAIRS = {"steps": "planned_steps", "min_dtype": "dtype", "right_labels": "labels"}


# --- batches


def _batch(given: dict[str, Any]) -> Report:
    said = str(given.pop("consumer", "loss shifts inside"))
    options: dict[str, Any] = {"loss_shifts": _shifts(said)}
    if "shifted_labels" in given:
        options["loss_shifts"] = False
    fields: dict[str, Any] = {}
    roles = {k[:-3]: given.pop(k) for k in list(given) if k in ROLE_FIELDS}
    if "assistant_span" in given:
        given["completion_spans"] = [[given.pop("assistant_span")]]
    if roles:
        options["role_ids"] = roles
    if "header_len" in given:
        given["prompt_lengths"] = [given.pop("header_len") + given.pop("human_len")]
    total = next((given.pop(k) for k in TOTALS if k in given and "half_width" not in given), None)
    if total is not None and not any(k in given for k in SLOTWISE):
        fields["attention_mask"] = [[1] * total]
    if isinstance(given.get("eot_id"), int):
        given["eos_id"] = [i for i in (given.get("eos_id"), given.pop("eot_id")) if i is not None]
    if "half_width" in given:
        fields["attention_mask"] = _halves(given)
    if "mask" in given:
        fields["attention_mask"] = _dense(given)
    for name, value in given.items():
        name = RENAMED.get(name, name)
        if name in OPTIONS and value is not None:
            flat = name in LISTED and not hasattr(value, "__len__")
            options[name] = [value] if flat else value
        elif value is not None:
            fields[FIELDS.get(name, name)] = value
    fields = {k: v for k, v in fields.items() if k is not None and k not in NOT_FIELDS}
    return auditors.audit(fields, **options)


ROLE_FIELDS = ("system_id", "user_id", "human_id", "assistant_id", "tool_id", "function_id")
NOT_FIELDS = ("form", "mask", "n_targets", "note", "full_row")
NO_SHIFT = ("not shift", "n't shift", "no shift", "without shift", "already shifted", "pre-shifted")
TOTALS = ("total", "total_tokens", "n_tokens", "num_tokens", "seq_len")


def _shifts(consumer: str) -> bool | int:
    said = consumer.lower()
    if said.startswith("slice") and "shifts inside" in said:
        return 2
    return not any(words in said for words in NO_SHIFT)


def _halves(given: dict[str, Any]) -> list[list[int]]:
    row: list[int] = []
    for name in ("chosen_lengths", "rejected_lengths"):
        n = sum(given.pop(name))
        row += [1] * n + [0] * (given["half_width"] - n)
    return [row[: given.pop("total", len(row))]]


def _dense(given: dict[str, Any]) -> np.ndarray:
    """A pattern that is written out, or named: block diagonal, or causal over the row."""
    if not isinstance(given["mask"], str):
        return np.array(given["mask"])
    name = next(k for k in SLOTWISE if given.get(k) is not None)
    ids = np.array(given["doc_ids"] if "block" in given["mask"] else given[name])
    return _block_diagonal(ids if "block" in given["mask"] else ids * 0)[:, None]


def _block_diagonal(ids: np.ndarray) -> np.ndarray:
    T = ids.shape[1]
    return (ids[:, :, None] == ids[:, None, :]) & np.tril(np.ones((T, T), bool))


# --- attention


def _attention(given: dict[str, Any]) -> Report:
    batch = {
        k: given[k]
        for k in (*SLOTWISE, "cu_seqlens", "seq_lens")
        if given.get(k) is not None
    }
    if "doc_lengths" in given:
        batch["seq_lengths"] = given["doc_lengths"]
    if given.get("attention_mask") is not None and np.ndim(given["attention_mask"]) > 2:
        batch.pop("attention_mask")
        given["mask"] = given["attention_mask"]
    allowed = _pattern(given, batch)
    return auditors.audit_attention(allowed, batch or None, window=given.get("window"))


def _pattern(given: dict[str, Any], batch: dict[str, Any]) -> np.ndarray:
    for name in ("mask", "allowed_mask", "pattern", "additive_mask"):
        if np.ndim(given.get(name)) >= 2:
            return np.array(given[name])
    listless = ("cu_seqlens", "seq_lens", "seq_lengths")
    shapes = [np.shape(v) for k, v in batch.items() if k not in listless]
    listed = given.get("visible_keys", given.get("allowed_rows", given.get("allowed")))
    length = given.get("seq_len", (given.get("cu_seqlens") or [len(listed or ())])[-1])
    B, T = shapes[0] if shapes else (1, length)
    if "k<=q" in given.get("rule", "").replace(" ", ""):
        allowed = _from_rule(given, B, T)
        if "diagonal" in str(given.get("fix", "")):
            allowed |= np.eye(T, dtype=bool)
        return allowed
    rows = _rows_listed(listed)
    return np.stack([_complete(rows.get(row, {}), T) for row in range(B)])


def _from_rule(given: dict[str, Any], B: int, T: int) -> np.ndarray:
    """Evaluate a rule such as "k<=q and q-k<window and key k is real"."""
    rule = given["rule"].replace("key k is real", "real[k]").replace("query q is real", "real[q]")
    rule = rule.replace("same document", "doc[q] == doc[k]")
    out = np.zeros((B, T, T), bool)
    documents = given.get("doc_ids", np.zeros((B, T), int))
    for row in range(B):
        real = given.get("attention_mask", np.ones((B, T), int))[row]
        for q in range(T):
            for k in range(T):
                scope = {"q": q, "k": k, "real": real, "doc": documents[row],
                         "window": given.get("window")}  # fmt: skip
                out[row, q, k] = bool(eval(rule, {"__builtins__": {}}, scope))
    return out


def _rows_listed(listed: Any) -> dict[int, dict[int, list[int]]]:
    """{row: {query: keys}} from lists, {"4": keys} or {"row0": {"4": keys}}."""
    if isinstance(listed, list):
        nested = bool(listed) and any(k and isinstance(k[0], list) for k in listed)
        rows = listed if nested else [listed]
        return {r: dict(enumerate(queries)) for r, queries in enumerate(rows)}
    if any(k.startswith("row") for k in listed):
        return {int(k[3:]): {int(q): v for q, v in qs.items()} for k, qs in listed.items()}
    return {0: {int(q): v for q, v in listed.items()}}


def _complete(listed: dict[int, list[int]], T: int) -> np.ndarray:
    """A query that is not listed sees what the one before it sees, and itself."""
    out = np.zeros((T, T), bool)
    for q in range(T):
        if q in listed:
            out[q, listed[q]] = True
        else:
            out[q] = out[q - 1] if q else False
            out[q, q] = True
    return out


# --- everything else


STATES = ("running_sum", "states", "running_state", "state")


def _states(given: dict[str, Any]) -> Report:
    reads = {int(k.rsplit("_", 1)[1]): v for k, v in given.items() if "reads_for_token" in k}
    ids = given.get("doc_ids")
    return auditors.audit_states(
        cu_seqlens=given.get("cu_seqlens"),
        document_ids=ids,
        position_ids=given.get("position_ids"),
        inputs=given.get("x"),
        states=next((given[k] for k in STATES if k in given), None),
        reads=reads,
    )


def _truncation(given: dict[str, Any]) -> Report:
    kept = {k.removesuffix("_kept"): v for k, v in given.items() if k.endswith("_kept")}
    prompt_kept = kept.pop("prompt", None)
    if not kept:
        kept = {"completion": given["kept"]}
    whole = {name: given[name] for name in kept}
    return auditors.audit_truncation(
        given.get("prompt", []), whole, kept, given.get("max_length"), prompt_kept=prompt_kept
    )


def _packer(given: dict[str, Any]) -> Report:
    names = {"eos_id": "eos_token_id", "pad_id": "pad_token_id", "bin_used": "row_tokens"}
    allowed = ("strategy", "batch_size", "drop_last", "reported", *names)
    options = {names.get(k, k): given[k] for k in allowed if k in given}
    if "reported" in options and not isinstance(options["reported"], dict):
        options["reported"] = {"efficiency": options["reported"]}
    documents, packs = given.get("documents"), given.get("packs")
    if documents is None and "lengths" in given:  # packs of document numbers
        documents = [[i] * n for i, n in enumerate(given["lengths"])]
        packs = None if packs is None else [[i for k in p for i in documents[k]] for p in packs]
    if "prompt_lengths" in given:
        options["prompt_lengths"] = given["prompt_lengths"]
    return auditors.audit_packing(documents, packs, given["capacity"], **options)


PARTS = {
    "microbatches": "microbatches",
    "ranks": "ranks",
    "replicas": "ranks",
    "shards": "shards",
    "batches": "batches",
    "sequences": "sequences",
    "documents": "documents",
}


CONTRIBUTIONS = ("loss_seen_by_backward", "per_rank", "contributions", "per_replica")


def _loss(given: dict[str, Any]) -> Report:
    name = next((k for k in PARTS if k in given), None)
    reported = given.get("reported")
    if name is None:
        return auditors.audit_loss(reported, batch_losses=given["batch_losses"])
    parts = [_part(p) for p in given[name]]
    padding = [-p.get("extra_pad_logp", 0.0) for p in given[name] if isinstance(p, dict)]
    return auditors.audit_loss(
        reported,
        parts,
        over=PARTS[name],
        contributions=next((given[k] for k in CONTRIBUTIONS if k in given), None),
        batch_size=given.get("batch_size"),
        padding_losses=padding if any(padding) else None,
    )


def _part(part: Any) -> Any:
    if isinstance(part, dict) and "microbatches" in part:
        return [_part(p) for p in part["microbatches"]]
    if isinstance(part, dict) and "logp_sum" in part:
        return {"loss_sum": -part["logp_sum"], "n_targets": part["n_targets"]}
    return tuple(part) if isinstance(part, list) and len(part) == 2 else part


def _shards(given: dict[str, Any]) -> Report:
    return auditors.audit_shards(
        given["input_ids"], given["shards"], given["shard_targets"], labels=given.get("labels")
    )


def _schedule(given: dict[str, Any]) -> Report:
    planned = given.get("planned_steps", given.get("displayed"))
    documents = given.get("documents")
    return auditors.audit_schedule(
        packs=given.get("packs"),
        documents=len(documents) if isinstance(documents, list) else documents,
        batch_size=given.get("batch_size", 1),
        accumulation_steps=given.get("gradient_accumulation_steps", 1),
        epochs=given.get("epochs", 1),
        world_size=given.get("world_size", 1),
        planned_steps=planned,
        expected_steps=given.get("expected_by_user"),
        seen_by_rank=given.get("seen_by_rank"),
    )


def _storage(given: dict[str, Any]) -> Report:
    return auditors.audit_ids(
        given["ids"],
        given["dtype"],
        read_back=given.get("read_back"),
        max_token_id=given.get("max_token_id"),
    )


ADAPTERS: dict[str, Callable[[dict[str, Any]], Report]] = {
    "batch": _batch,
    "attention": _attention,
    "state_trace": _states,
    "truncation_trace": _truncation,
    "packer_trace": _packer,
    "loss_trace": _loss,
    "eval_trace": _loss,
    "shards": _shards,
    "schedule_trace": _schedule,
    "storage": _storage,
}
