"""The companion package of *Shift, Pad, Pack*: preparing training sequences for causal LMs.

Names load when first used, so that `import course_lib` costs next to nothing:

>>> import course_lib
>>> course_lib.pad_documents([[1, 2], [3]]).num_targets
1
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_ROOMS = {
    "vocabulary": "IGNORE_INDEX PAD EOS USER ASSISTANT TOKENS VOCAB_SIZE encode decode token_name",
    "boundaries": "document_ids_from_lengths position_ids_from_lengths cu_seqlens_from_lengths "
    "lengths_from_cu_seqlens lengths_from_document_ids lengths_from_position_ids "
    "document_ids_from_position_ids position_ids_from_document_ids document_starts document_spans",
    "masks": "causal_mask key_padding_mask padding_mask document_mask is_fully_masked to_additive",
    "targets": "labels_by_length mask_prompts mask_boundaries prompt_slots Ledger Lost",
    "loss": "shift token_losses LossSum reduce_losses",
    "head": "head_loss",
    "turns": "common_prefix answer_slots mask_turns weighted_sum",
    "batch": "Batch",
    "padding": "pad_documents",
    "packing": "pack_documents per_document_shift ShiftedBatch pack_lengths Packing lower_bound "
    "optimal_rows pack_stream FlatDocuments compare_costs",
    "attention": "attend attention_weights DocumentAttention document_block_mask",
    "decoder": "TinyDecoder Decoder ParameterTable Trace",
    "languages": "LANGUAGES toy_documents",
    "setups": "Setup Feed prepare",
    "training": "train honest_loss History",
    "exercises": "check hint",
    "probes": "probe_isolation probe_causality probe_shift probe_padding probe_collator",
    "parallel": "run_ranks all_sum ddp_factor average_gradients shard_sequence",
    "prose": "glue",
    "audit": "audit_attention audit_dataloader audit_ids audit_loss audit_packing audit_schedule "
    "audit_shards audit_states audit_truncation identify_denominator explain Report Finding "
    "AuditError",
    "contents": "public_names",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
_PACKAGES = ("figures", "widgets", "exercises", "grading", "bench")

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"course_lib.{_HOME[name]}"), name)
    elif name in _ROOMS or name in _PACKAGES:
        value = importlib.import_module(f"course_lib.{name}")
    else:
        raise AttributeError(f"module 'course_lib' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_ROOMS, *_PACKAGES})
