"""Faults of each kind in other shapes: other layouts, more rows, other denominators, more ranks.

Written as the recorded cases are: an input, the code, its level and places.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.audit.case_adapter import report_of
from tests.audit.test_fault_cases import normal, same_places

INSIDE, NONE, DONE = "loss shifts inside", "loss does NOT shift", "labels already shifted"
I = -100  # noqa: E741


def batch(ids: Any = None, labels: Any = None, consumer: str = INSIDE, **more: Any) -> dict:
    rows = {"input_ids": ids, "labels": labels}
    return {"form": "batch", **{k: v for k, v in rows.items() if v}, "consumer": consumer, **more}


def loss(parts: list, over: str = "microbatches", **more: Any) -> dict:
    named = [{"loss_sum": s, "n_targets": n} for s, n in parts]
    return {"form": "loss_trace", over: named, **more}


def packer(documents: list, packs: list, capacity: int, **more: Any) -> dict:
    return {"form": "packer_trace", "documents": documents, "packs": packs, "capacity": capacity,
            **more}  # fmt: skip


SIBLINGS: dict[str, tuple[dict, str, str, Any]] = {
    # targets
    "shift labels that were not shifted": (
        batch([[5, 6, 7, 8]], shift_labels=[[5, 6, 7, 8]]),
        "missing_shift", "error", [[0, 0], [0, 1], [0, 2], [0, 3]],
    ),
    "shift labels that were shifted twice": (
        batch([[5, 6, 7, 8]], shift_labels=[[7, 8, I, I]]),
        "double_shift", "error", [[0, 0], [0, 1]],
    ),
    "double shift, prompt masked, padding left": (
        batch([[0, 0, 21, 22, 31, 32, 2]], [[I, I, I, 31, 32, 2, I]],
              attention_mask=[[0, 0, 1, 1, 1, 1, 1]]),
        "double_shift", "error", [[0, 2], [0, 3], [0, 4]],
    ),
    "double shift in one row of two": (
        batch([[5, 6, 7, 8], [9, 10, 11, 12]], [[5, 6, 7, 8], [10, 11, 12, I]]),
        "double_shift", "error", [[1, 0], [1, 1]],
    ),
    "double shift in a packed row": (
        batch([[5, 6, 2, 7, 8, 9, 2]], [[6, 2, I, 8, 9, 2, I]],
              position_ids=[[0, 1, 2, 0, 1, 2, 3]]),
        "double_shift", "error", [[0, 0], [0, 2], [0, 3], [0, 4]],
    ),
    "missing shift without a prompt": (
        batch([[5, 6, 7]], [[5, 6, 7]], NONE), "missing_shift", "error", [[0, 0], [0, 1], [0, 2]],
    ),
    # padding
    "left padding trained": (
        batch([[0, 0, 5, 6]], [[0, 0, 5, 6]], attention_mask=[[0, 0, 1, 1]]),
        "pad_target", "error", [[0, 1]],
    ),
    "pad is EOS and one pad too many stays": (
        batch([[5, 6, 2, 2, 2]], [[5, 6, 2, 2, I]], pad_id=2, eos_id=2,
              attention_mask=[[1, 1, 1, 0, 0]]),
        "pad_target", "error", [[0, 3]],
    ),
    "shifted labels and a mask that selects a pad": (
        batch([[5, 6, 0, 7, 8, 0, 0]], [[6, 0, 7, 8, 0, 0, 0]], f"{DONE}, loss_mask selects",
              pad_id=0, eos_id=0, n_real=[6], loss_mask=[[1, 1, 1, 1, 1, 1, 0]]),
        "pad_target", "error", [[0, 5]],
    ),
    "no mask, padding behind EOS": (
        batch([[5, 6, 2, 0, 0], [7, 8, 9, 1, 2]], [[5, 6, 2, 0, 0], [7, 8, 9, 1, 2]],
              pad_id=0, eos_id=2),
        "pad_target", "error", [[0, 3], [0, 4]],
    ),
    "left padding, two rows, first tokens scored": (
        batch([[0, 0, 8, 9], [0, 5, 6, 7]], [[I, I, 8, 9], [I, 5, 6, 7]],
              attention_mask=[[0, 0, 1, 1], [0, 1, 1, 1]]),
        "target_predicted_from_pad", "error", [[0, 2], [1, 1]],
    ),
    # EOS
    "EOS masked by id under left padding": (
        batch([[2, 2, 5, 6, 2]], [[I, I, I, 6, I]], pad_id=2, eos_id=2,
              attention_mask=[[0, 0, 1, 1, 1]]),
        "eos_never_target", "error", [[0, 4]],
    ),
    "EOS masked in a packed row": (
        batch([[5, 6, 2, 7, 8, 2]], [[5, 6, I, 7, 8, I]], eos_id=2,
              position_ids=[[0, 1, 2, 0, 1, 2]]),
        "eos_never_target", "error", [[0, 2], [0, 5]],
    ),
    "EOS only on left padding": (
        batch([[2, 2, 5, 6, 7]], [[I, I, I, 6, 7]], pad_id=2, eos_id=2,
              attention_mask=[[0, 0, 1, 1, 1]]),
        "eos_missing", "error", [[0, 4]],
    ),
    # boundaries
    "cu_seqlens ends early": (
        batch([[5, 6, 7, 8]], [[5, 6, 7, 8]], cu_seqlens=[0, 2, 3]),
        "cu_seqlens_malformed", "error", "cu_seqlens",
    ),
    "cu_seqlens of lengths, not sums": (
        batch([[5, 6, 7, 8]], cu_seqlens=[3, 1]), "cu_seqlens_malformed", "error", "cu_seqlens",
    ),
    "cu_seqlens beyond the tokens": (
        {"form": "batch", "total": 6, "cu_seqlens": [0, 3, 8]},
        "cu_seqlens_malformed", "error", "cu_seqlens",
    ),
    "padding in the first segment of a left-padded row": (
        batch(attention_mask=[[0, 0, 1, 1]], cu_seqlens=[0, 4]),
        "padding_inside_segment", "error", "segment 0",
    ),
    "positions run on under cu_seqlens": (
        batch([[5, 6, 7, 8]], cu_seqlens=[0, 2, 4], position_ids=[[0, 1, 2, 3]]),
        "positions_not_reset", "warn", [[0, 2]],
    ),
    "labels shorter than ids": (
        batch([[5, 6, 7, 8]], [[5, 6, 7]]), "length_mismatch", "error", "labels",
    ),
    "mask of another batch": (
        batch([[5, 6], [7, 8]], [[5, 6], [7, 8]], attention_mask=[[1, 1]]),
        "length_mismatch", "error", "attention_mask",
    ),
    "rolled labels of two packed rows": (
        batch([[5, 6, 2, 7, 8, 2], [9, 2, 3, 4, 1, 2]], [[6, 2, 7, 8, 2, 9], [2, 3, 4, 1, 2, 5]],
              DONE, eos_id=2, position_ids=[[0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 2, 3]]),
        "boundary_target", "error", [[0, 2], [0, 5], [1, 1], [1, 5]],
    ),
    "boundary targets under document ids": (
        batch([[5, 6, 7, 8, 9, 1]], [[6, 7, 8, 9, 1, I]], DONE, doc_ids=[[0, 0, 1, 1, 2, 2]]),
        "boundary_target", "error", [[0, 1], [0, 3]],
    ),
    "separator at every boundary of three": (
        batch([[5, 2, 7, 2, 8, 2]], [[9, 2, 9, 2, 9, 2]], cu_seqlens=[0, 2, 4, 6], separator_id=9),
        "separator_used_as_target", "error", [[0, 2], [0, 4]],
    ),
    "documents of a block by position only": (
        batch([[5, 6, 2, 7, 2]], [[5, 6, 2, 7, 2]], attention_mask=[[1] * 5],
              position_ids=[[0, 1, 2, 0, 1]]),
        "no_document_mask", "warn", [[0, 3]],
    ),
    # completions
    "prompt masked one token short, two rows": (
        batch([[11, 12, 13, 31], [11, 12, 31, 32]], [[I, I, 13, 31], [I, I, 31, 32]],
              prompt_len=[3, 2]),
        "mask_offset", "error", [[0, 2]],
    ),
    "answers masked one token too far": (
        batch([[11, 12, 31, 32]], [[I, I, I, 32]], prompt_len=[2]),
        "mask_offset", "error", [[0, 2]],
    ),
    "tool output trained": (
        batch([[51, 11, 52, 31, 2, 53, 8, 9, 52, 32, 2]], [[I, I, I, 31, 2, 53, 8, 9, I, 32, 2]],
              eos_id=2, user_id=51, assistant_id=52, tool_id=53),
        "span_too_long", "error", [[0, 5], [0, 6], [0, 7]],
    ),
    "loss mask one late in a left-padded row": (
        batch([[0, 11, 12, 31, 32]], [[11, 12, 31, 32, 2]], f"{DONE}, loss_mask selects",
              attention_mask=[[0, 1, 1, 1, 1]], prompt_len=[2], loss_mask=[[0, 0, 0, 1, 1]]),
        "loss_mask_off_by_one", "error", [[0, 2]],
    ),
    "two of three rows without targets": (
        batch([[5, 6], [7, 8], [9, 1]], [[I, I], [7, 8], [I, I]]),
        "row_without_targets", "error", [0, 2],
    ),
    # attention
    "left-padded pair, causal and key is real": (
        {"form": "attention", "rule": "k<=q and key k is real",
         "attention_mask": [[0, 0, 1, 1], [1, 1, 1, 1]]},
        "fully_masked_row", "error", [[0, 0], [0, 1]],
    ),
    "cross attention from cu_seqlens": (
        {"form": "attention", "cu_seqlens": [0, 2, 5],
         "visible_keys": {"2": [0, 1, 2], "3": [2, 3], "4": [2, 3, 4]}},
        "cross_document_attention", "error", [[0, 2]],
    ),
    "window of two": (
        {"form": "attention", "window": 2, "seq_len": 4, "visible_keys": {"3": [0, 1, 2, 3]}},
        "window_ignored", "error", [2, 3],
    ),
    "state over two boundaries": (
        {"form": "state_trace", "doc_ids": [0, 0, 1, 2, 2], "x": [1, 1, 1, 1, 1],
         "running_sum": [1, 2, 3, 1, 2], "conv_reads_for_token_4": [2, 3, 4]},
        "state_crosses_boundary", "error", [2, 4],
    ),
    # packers
    "concatenated tail of two documents": (
        packer([[5, 6, 7, 2], [8, 2], [9, 2]], [[5, 6, 7, 2]], 4, strategy="concatenate"),
        "tokens_dropped", "warn", [1, 2],
    ),
    "two over-long documents": (
        packer([[5, 6, 7], [8, 9, 1], [4]], [[5, 6], [8, 9], [4]], 2, strategy="bfd"),
        "document_truncated", "warn", [0, 1],
    ),
    "no packs of one document": (
        packer([[5]], [[]], 4, strategy="wrapped"), "no_packs", "error", "packs",
    ),
    "efficiency over padded slots": (
        {"form": "packer_trace", "capacity": 10, "bin_used": [10, 5], "reported": {
            "total_slots": 20, "used": 15, "efficiency": 0.8}},
        "utilization_wrong", "error", "efficiency",
    ),
    # numbers
    "three micro-batches divided twice": (
        loss([(2.0, 1), (3.0, 3), (1.0, 4)], reported=0.25), "divided_twice", "error", "reduction",
    ),
    "four micro-batches added up": (
        loss([(2.0, 2)] * 4, reported=4.0), "not_divided", "error", "reduction",
    ),
    "three ranks": (
        loss([(2.0, 1), (3.0, 3), (2.0, 4)], "ranks", reported=3.5 / 3),
        "mean_of_rank_means", "error", "reduction",
    ),
    "ranks added up": (
        loss([(4.0, 4), (6.0, 4)], "ranks", reported=2.5), "not_divided", "error", "reduction",
    ),
    "weights of padded tokens": (
        {"form": "loss_trace", "reported": (3.0 * 8 + 1.0 * 16) / 24, "microbatches": [
            {"loss_sum": 6.0, "n_targets": 2, "total_tokens": 8},
            {"loss_sum": 6.0, "n_targets": 6, "total_tokens": 16}]},
        "weights_count_non_targets", "error", "reduction",
    ),
    "unshifted count over three rows": (
        batch([[5, 6, 7]] * 3, [[5, 6, 7], [8, I, I], [I, 6, 7]], denominator=6, loss_sum=8.0,
              reported=8 / 6, input_ids=[[5, 6, 7], [8, 6, 7], [5, 6, 7]]),
        "denominator_counts_unshifted", "error", "denominator",
    ),
    "three shards, first cut lost": (
        {"form": "shards", "input_ids": [5, 6, 7, 8, 9, 1], "shards": [[5, 6], [7, 8], [9, 1]],
         "shard_targets": [[6, I], [8, 9], [1, I]]},
        "shard_boundary_target_lost", "error", [1],
    ),
    "evaluation in perplexity": (
        {"form": "eval_trace", "batches": [{"loss_sum": 3.0, "n_targets": 1},
                                           {"loss_sum": 8.0, "n_targets": 8}],
         "reported": {"perplexity": 7.3891}},
        "eval_mean_of_batch_means", "error", "reduction",
    ),
    "five batches in a running total": (
        {"form": "eval_trace", "batch_losses": [2.0] * 5, "reported": 0.49984},
        "running_total_divided", "error", "loop",
    ),
    # schedules and storage
    "more steps than packs": (
        {"form": "schedule_trace", "packs": 100, "batch_size": 4, "planned_steps": 30},
        "steps_estimated", "warn", "steps",
    ),
    "three ranks, two alike": (
        {"form": "schedule_trace", "world_size": 3, "packs": [0, 1, 2, 3],
         "seen_by_rank": [[0, 1], [0, 1], [2, 3]]},
        "ranks_duplicate_data", "error", "ranks",
    ),
    "signed 16 bits": (
        {"form": "storage", "dtype": "int16", "ids": [5, 40000, 32767],
         "read_back": [5, -25536, 32767]},
        "id_overflow", "error", [1],
    ),
    "labels ignored with -1": (
        batch([[5, 6, 7]], [[-1, 6, 7]], loss_ignore_index=-100),
        "ignore_index_mismatch", "error", [[0, 0]],
    ),
    "-100 among the inputs": (
        batch([[5, I, 7]], [[5, I, 7]]), "ignore_index_as_input", "error", [[0, 1]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SIBLINGS)
def test_a_sibling_is_found(name):
    given, code, level, at = SIBLINGS[name]
    report = report_of(given)
    hits = [f for f in report.findings if f.code == code]
    assert hits, f"{code} not found\n{report}"
    assert hits[0].severity == level
    assert same_places(hits[0].where, at), f"{normal(hits[0].where)} != {at}"


RIGHT = {
    "equal counts make all means one": loss([(2.0, 2), (4.0, 2)], reported=1.5),
    "one rank": loss([(2.0, 2)], "ranks", reported=1.0),
    "pad is EOS, masked by length": batch(
        [[5, 6, 2, 2], [7, 8, 9, 2]], [[5, 6, 2, I], [7, 8, 9, 2]], pad_id=2, eos_id=2,
        attention_mask=[[1, 1, 1, 0], [1, 1, 1, 1]],
    ),
    "left padding, first token masked": batch(
        [[0, 5, 6, 7]], [[I, I, 6, 7]], attention_mask=[[0, 1, 1, 1]], pad_id=0,
        position_ids=[[1, 0, 1, 2]],
    ),
    "shifted labels of a row with one token more": batch([[5, 6, 7]], [[6, 7, 8]], DONE),
    "flattened, B": batch(
        [[5, 6, 2, 7, 2]], [[I, 6, 2, I, 2]], position_ids=[[0, 1, 2, 0, 1]], eos_id=2,
        cu_seqlens=[0, 3, 5], max_seqlen=3,
    ),
    "cu_seqlens filled up": batch(
        [[5, 6, 2, 7, 2]], [[I, 6, 2, I, 2]], cu_seqlens=[0, 3, 5, 5, 5], eos_id=2
    ),
    "padded rows, cu_seqlens over real tokens": batch(
        [[5, 6, 2, 0], [7, 8, 9, 2]], [[5, 6, 2, I], [7, 8, 9, 2]], cu_seqlens=[0, 3, 7],
        attention_mask=[[1, 1, 1, 0], [1, 1, 1, 1]], eos_id=2,
    ),
    "two turns, answers only": batch(
        [[51, 11, 52, 31, 2, 51, 12, 52, 32, 2]], [[I, I, I, 31, 2, I, I, I, 32, 2]],
        eos_id=2, user_id=51, assistant_id=52,
    ),
    "a constant row": batch([[5, 5, 5, 5]], [[5, 5, 5, 5]]),
    "document ids in the mask": batch(
        [[5, 6, 7, 8, 0]], [[5, 6, I, 8, I]], attention_mask=[[1, 1, 2, 2, 0]]
    ),
    "all packs read once by three ranks": {
        "form": "schedule_trace", "world_size": 3, "packs": [0, 1, 2],
        "seen_by_rank": [[0], [1], [2]],
    },
    "zigzag shards": {
        "form": "shards", "input_ids": [1, 2, 3, 4], "shards": [[1, 4], [2, 3]],
        "shard_targets": [[2, I], [3, 4]],
    },
    "every document once": packer([[5, 2], [6, 7, 2]], [[6, 7, 2, 5, 2]], 5, strategy="bfd"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_clean(name):
    assert report_of(RIGHT[name]).codes == [], str(report_of(RIGHT[name]))
