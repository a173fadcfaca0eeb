"""What the caller says beside a batch: ids of the tokenizer, spans, numbers, the loss's habits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.inputs import choice
from course_lib.vocabulary import IGNORE_INDEX

ATTENTION = ("eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3")
"""Names that transformers gives to its ways of computing attention."""


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

    def __post_init__(self) -> None:
        if self.boundary is not None:
            said = self.boundary.upper() if isinstance(self.boundary, str) else self.boundary
            object.__setattr__(self, "boundary", choice(said, "boundary", ("A", "B")))
        if self.attn_implementation is not None:
            choice(self.attn_implementation, "attn_implementation", ATTENTION)
        for name in ("pad_token_id", "eos_token_id"):
            given = getattr(self, name)
            if given is None:
                continue
            ids = list(given) if isinstance(given, Sequence) else [given]
            if not all(isinstance(i, int | np.integer) and i >= 0 for i in ids):
                raise ValueError(f"{name} must be a token id, 0 or more; got {given!r}.")
            plain = [int(i) for i in ids]
            object.__setattr__(self, name, plain if isinstance(given, Sequence) else plain[0])
        if self.window is not None and not isinstance(self.window, int | np.integer):
            raise ValueError(f"window must be a whole number of keys; got {self.window!r}.")
