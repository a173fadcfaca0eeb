"""What the caller says beside a batch: ids of the tokenizer, spans, numbers, the loss's habits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.vocabulary import IGNORE_INDEX


@dataclass(frozen=True)
class Options:
    """What the caller said beside the batch; see `audit`."""

    loss_shifts: bool | int = True
    documents: Sequence[Sequence[int]] | None = None
    pad_token_id: int | None = None
    eos_token_id: int | Sequence[int] | None = None
    ignore_index: int = IGNORE_INDEX
    vocab_size: int | None = None
    boundary: str | None = None
    prompt_lengths: Sequence | None = None
    completion_spans: Sequence | None = None
    role_ids: Mapping[str, Any] | None = None
    response_template: Sequence[int] | None = None
    lengths: Sequence[int] | None = None
    losses: Any = None
    loss_sum: float | None = None
    denominator: float | None = None
    reported: float | None = None
    window: int | None = None
    attn_implementation: str | None = None
