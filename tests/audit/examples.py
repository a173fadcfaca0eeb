"""One small example for each code that no recorded case shows. A new code needs one here.

code → (faulty report, repaired report).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_lib.audit import (
    Report,
    audit,
    audit_attention,
    audit_ids,
    audit_loss,
    audit_packing,
    audit_schedule,
    audit_shards,
    audit_truncation,
)

Pair = tuple[Callable[[], Report], Callable[[], Report]]
ROW = [[5, 6, 7, 8, 2]]
TWO = {"input_ids": [[5, 6, 2, 7, 8, 2]], "labels": [[-100, 6, 2, -100, 8, 2]]}


def batch(faulty: dict[str, Any], right: dict[str, Any], **options: Any) -> Pair:
    base = {"input_ids": ROW, "labels": ROW}
    return (
        lambda: audit({**base, **faulty}, **options),
        lambda: audit({**base, **right}, **options),
    )


def option(fields: dict[str, Any], name: str, faulty: Any, right: Any, **more: Any) -> Pair:
    return (
        lambda: audit(fields, **{name: faulty}, **more),
        lambda: audit(fields, **{name: right}, **more),
    )


def pattern(faulty: Any, right: Any, ids: Any = None, **options: Any) -> Pair:
    return (
        lambda: audit_attention(np.array(faulty), ids, **options),
        lambda: audit_attention(np.array(right), ids, **options),
    )


def loss(faulty: Any, right: Any, parts: Any, **options: Any) -> Pair:
    return (
        lambda: audit_loss(faulty, parts, **options),
        lambda: audit_loss(right, parts, **options),
    )


def packs(faulty: Any, right: Any, **options: Any) -> Pair:
    docs = [[5, 6, 7], [8, 9]]
    return (
        lambda: audit_packing(docs, faulty, 5, **options),
        lambda: audit_packing(docs, right, 5, **options),
    )


CAUSAL = np.tril(np.ones((3, 3), bool))
LEFT = {"attention_mask": [[0, 1, 1]]}
LEFT_ROW = {"input_ids": [[0, 5, 6]], "labels": [[-100, -100, 6]], **LEFT}
LEFT_MASK = [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
PARTS = [(2.0, 1), (3.0, 3)]
SHIFTED_PROMPT = {"input_ids": [[5, 6, 7, 8]], "labels": [[6, 7, 8, 2]]}
ANSWERS = {"input_ids": [[51, 11, 52, 31, 32, 2, 51, 12, 52, 33, 2]]}
ROLES = {"role_ids": {"user": 51, "assistant": 52}, "eos_token_id": 2}
RIGHT_ANSWERS = [[-100, -100, -100, 31, 32, 2, -100, -100, -100, 33, 2]]

EXAMPLES: dict[str, Pair] = {
    "wrong_shift": batch({"labels": [[5, 5, 5, 6, 7]]}, {}),
    "label_mismatch": batch({"labels": [[5, 6, 9, 8, 2]]}, {}),
    "left_padding_unmasked": option(
        {"input_ids": [[0, 0, 5, 6]], "labels": [[-100, -100, -100, 6]]}, "pad_token_id", 0, 9
    ),
    "mask_hole": batch(
        {"attention_mask": [[1, 1, 0, 1, 1]], "labels": [[5, 6, -100, -100, 2]]},
        {"attention_mask": [[1, 1, 1, 1, 1]]},
    ),
    "real_token_masked_as_pad": batch(
        {"attention_mask": [[1] * 5], "labels": [[5, 6, -100, 8, 2]]},
        {"attention_mask": [[1] * 5]},
        pad_token_id=7,
    ),
    "prompt_target": batch({}, {"labels": [[-100, -100, 7, 8, 2]]}, prompt_lengths=[2]),
    "span_too_short": (
        lambda: audit({**ANSWERS, "labels": [[-100] * 3 + [31, -100, 2] + [-100] * 3 + [33, 2]],
                       "assistant_masks": [[0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1]]}),
        lambda: audit({**ANSWERS, "labels": RIGHT_ANSWERS}, **ROLES),
    ),
    "span_missing": (
        lambda: audit({**ANSWERS, "labels": [[-100] * 9 + [33, 2]]}, **ROLES),
        lambda: audit({**ANSWERS, "labels": RIGHT_ANSWERS}, **ROLES),
    ),
    "row_too_short": batch({"input_ids": [[5]], "labels": [[5]]}, {}),
    "id_out_of_range": batch({}, {"input_ids": [[1] * 5], "labels": [[1] * 5]}, vocab_size=8),
    "float_ids": batch({"input_ids": torch.tensor(ROW).float()}, {"input_ids": torch.tensor(ROW)}),
    "over_length": (
        lambda: audit_truncation([1, 2], {"answer": [3, 4]}, {"answer": [3, 4]}, 3),
        lambda: audit_truncation([1, 2], {"answer": [3, 4]}, {"answer": [3, 4]}, 4),
    ),
    "not_a_prefix": (
        lambda: audit_truncation([1], {"answer": [3, 4]}, {"answer": [4]}, 2),
        lambda: audit_truncation([1], {"answer": [3, 4]}, {"answer": [3, 4]}, 3),
    ),
    "completion_cut": (
        lambda: audit_truncation([1], {"answer": [3, 4]}, {"answer": [3]}, 2),
        lambda: audit_truncation([1], {"answer": [3, 4]}, {"answer": [3, 4]}, 3),
    ),
    "positions_count_padding": batch(
        {**LEFT_ROW, "position_ids": [[0, 1, 2]]}, {**LEFT_ROW, "position_ids": [[0, 0, 1]]}
    ),
    "positions_offset": batch(
        {"position_ids": [[1, 2, 3, 4, 5]]}, {"position_ids": [[0, 1, 2, 3, 4]]}
    ),
    "boundaries_disagree": (
        lambda: audit({**TWO, "position_ids": [[0, 1, 0, 1, 2, 3]], "cu_seqlens": [0, 3, 6]}),
        lambda: audit({**TWO, "position_ids": [[0, 1, 2, 0, 1, 2]], "cu_seqlens": [0, 3, 6]}),
    ),
    "cu_seqlens_dtype": (
        lambda: audit({**TWO, "cu_seqlens": torch.tensor([0, 3, 6])}),
        lambda: audit({**TWO, "cu_seqlens": torch.tensor([0, 3, 6], dtype=torch.int32)}),
    ),
    "max_seqlen_wrong": (
        lambda: audit({**TWO, "cu_seqlens": [0, 3, 6], "max_length_q": 2}),
        lambda: audit({**TWO, "cu_seqlens": [0, 3, 6], "max_length_q": 3}),
    ),
    "bool_mask_in_eager": option(
        {"input_ids": [[5, 6, 7]], "labels": [[5, 6, 7]], "attention_mask": CAUSAL[None, None]},
        "attn_implementation", "eager", "sdpa",
    ),
    "future_key_visible": pattern([[1, 1, 0], [1, 1, 0], [1, 1, 1]], CAUSAL),
    "pad_key_visible": pattern([[1, 0, 0], [1, 1, 0], [0, 1, 1]], LEFT_MASK, LEFT),
    "own_key_hidden": pattern([[1, 0, 0], [0, 1, 0], [1, 1, 1]], CAUSAL),
    "mask_inverted": pattern(~CAUSAL, CAUSAL),
    "document_dropped": packs([[5, 6, 7]], [[5, 6, 7, 8, 9]]),
    "document_split": packs([[5, 6], [7, 8, 9]], [[5, 6, 7, 8, 9]]),
    "tokens_repeated": packs([[5, 6, 7, 8, 9], [8, 9]], [[5, 6, 7, 8, 9]]),
    "tokens_orphaned": packs(
        [[5], [6, 7, 8, 9]], [[5, 6, 7, 8, 9]], prompt_lengths=[1, 1]
    ),
    "tokens_foreign": packs([[5, 6, 7, 8, 9], [44]], [[5, 6, 7, 8, 9]]),
    "row_over_capacity": packs([[5, 6, 7, 8, 9, 2]], [[5, 6, 7], [8, 9, 2]], eos_token_id=2),
    "more_rows_than_needed": packs([[5, 6, 7], [8, 9]], [[5, 6, 7, 8, 9]]),
    "ranks_miss_data": (
        lambda: audit_schedule(packs=[0, 1, 2], seen_by_rank=[[0], [1]]),
        lambda: audit_schedule(packs=[0, 1], seen_by_rank=[[0], [1]]),
    ),
    "ranks_uneven": (
        lambda: audit_schedule(packs=[0, 1, 2], seen_by_rank=[[0, 2], [1]]),
        lambda: audit_schedule(packs=[0, 1], seen_by_rank=[[0], [1]]),
    ),
    "denominator_counts_slots": option(
        {"input_ids": ROW, "labels": [[-100, -100, 7, 8, 2]]}, "denominator", 5, 3
    ),
    "denominator_wrong": option({"input_ids": ROW, "labels": ROW}, "denominator", 77, 4),
    "weights_count_rows": loss(
        (2.0 * 3 + 1.0 * 1) / 4, 1.25,
        [{"loss_sum": s, "n_targets": n, "rows": r} for s, n, r in ((2.0, 1, 3), (3.0, 3, 1))],
    ),
    "mean_of_microbatch_means": loss(1.5, 1.25, PARTS),
    "sequence_mean": loss(1.5, 1.25, PARTS, over="sequences"),
    "one_part_reported": loss(2.0, 1.25, PARTS, over="ranks"),
    "perplexity_averaged": loss(
        {"perplexity": float(np.exp([2.0, 1.0]).mean())}, {"perplexity": float(np.exp(1.25))},
        PARTS, over="batches",
    ),
    "perplexity_base": loss(
        {"perplexity": 2**1.25}, {"perplexity": float(np.exp(1.25))}, PARTS, over="batches"
    ),
    "loss_unexplained": loss(7.7, 1.25, PARTS),
    "shard_target_wrong": (
        lambda: audit_shards([5, 6, 7], [[5, 6], [7]], [[6, 9], [-100]]),
        lambda: audit_shards([5, 6, 7], [[5, 6], [7]], [[6, 7], [-100]]),
    ),
    "shard_tokens_lost": (
        lambda: audit_shards([5, 6, 7], [[5], [7]], [[6], [-100]]),
        lambda: audit_shards([5, 6, 7], [[5, 6], [7]], [[6, 7], [-100]]),
    ),
}  # fmt: skip
EXAMPLES["part_without_targets"] = (
    lambda: audit_loss(2.0, [(2.0, 1), (0.0, 0)]),
    lambda: audit_loss(2.0, [(2.0, 1)]),
)
EXAMPLES["id_overflow"] = (lambda: audit_ids([300], "uint8"), lambda: audit_ids([300], "uint16"))
EXAMPLES["boundary_target_missing"] = (
    lambda: audit({**TWO, "document_ids": [[0, 0, 0, 1, 1, 1]]}, boundary="A"),
    lambda: audit({**TWO, "document_ids": [[0, 0, 0, 1, 1, 1]]}, boundary="B"),
)
