"""Does more padding change the logits of real tokens, or the loss?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from course_lib.batch import Batch
from course_lib.inputs import as_documents, as_int
from course_lib.loss import reduce_losses, token_losses
from course_lib.masks import padding_mask
from course_lib.padding import pad_documents
from course_lib.probes.result import Probe
from course_lib.probes.subject import accepted, asker, moved, quiet
from course_lib.vocabulary import IGNORE_INDEX


@dataclass(frozen=True, repr=False)
class Padding(Probe):
    """`Probe` with the largest change of a real token's logits, and the loss before and after."""

    logits_moved: float = 0.0
    loss_before: float = 0.0
    loss_after: float = 0.0

    def lines(self) -> list[str]:
        return [
            f"logits of real tokens move by up to {self.logits_moved:.2g}",
            f"loss {self.loss_before:.6f} before, {self.loss_after:.6f} after",
        ]


def probe_padding(
    model: Callable[..., Any],
    documents: Sequence[Sequence[int]],
    *,
    loss_fn: Callable[[Tensor, Tensor], Any] | None = None,
    extra: int = 4,
    pad_id: int = 0,
    side: str = "right",
    tolerance: float = 1e-4,
    arguments: Callable[[Batch], dict[str, Any]] | None = None,
) -> Padding:
    """Pad `documents` to the longest, then `extra` slots further, and compare.

    The model gets `attention_mask` [B, T] if it takes one, or our `mask` [B, T, T], and position
    ids; `arguments(batch)` replaces this choice with your own. `loss_fn(logits, labels)` is the
    loss of your training loop; None means the token mean.

    A loss that shrinks here is divided by slots. Logits that move see padding keys, or positions
    that count padding.

    >>> from course_lib import TinyDecoder
    >>> probe_padding(TinyDecoder(), [[1, 2, 3], [1, 1]]).ok
    True
    """
    docs = as_documents(documents)
    more = as_int(extra, "extra", at_least=1)
    width = max(map(len, docs))
    choose = arguments or (lambda batch: _arguments(model, batch))
    seen = []
    restore = quiet(model)
    try:
        for length in (width, width + more):
            batch = pad_documents(docs, length=length, side=side, pad_id=pad_id)
            logits = asker(model, {}, choose(batch))(batch.input_ids)
            loss = _token_mean if loss_fn is None else loss_fn
            value = loss(logits.float(), batch.labels)
            seen.append((logits[batch.attention_mask.bool()], float(getattr(value, "loss", value))))
    finally:
        restore()
    (before, first), (after, second) = seen
    change = float(moved(after, before).max())
    still = abs(second - first) <= tolerance
    fixed = change <= tolerance
    summary = _sentence(fixed, still, first, second)
    return Padding(
        "padding", fixed and still, summary, 2, tolerance, 0, change, first, second
    )


def _arguments(model: Callable[..., Any], batch: Batch) -> dict[str, Any]:
    known = {
        "attention_mask": batch.attention_mask,
        "mask": padding_mask(batch),
        "position_ids": batch.model_position_ids,
    }
    names, _ = accepted(model)
    return {name: value for name, value in known.items() if name in names}


def _token_mean(logits: Tensor, labels: Tensor) -> Tensor:
    return reduce_losses(token_losses(logits, labels), labels[:, 1:] != IGNORE_INDEX)


def _sentence(logits_still: bool, loss_still: bool, before: float, after: float) -> str:
    if logits_still and loss_still:
        return "more padding changes neither logits nor loss."
    if logits_still:
        way = "shrinks: it is divided by slots" if after < before else "grows: pads are scored"
        return f"logits stay, but the loss {way}."
    return "logits of real tokens depend on padding: keys are not masked, or positions count it."
