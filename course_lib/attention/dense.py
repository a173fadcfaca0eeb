"""Attention under a mask that is written out: [T, T] or [B, T, T], True = may attend.

Left out: dropout, and keys that are shared between heads.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from course_lib.masks import causal_mask


def attend_dense(q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Return softmax(q k^T / sqrt(d)) v, [B, H, T, d], over the keys that `mask` allows.

    `q`, `k` and `v` are [B, H, T, d] (batch, head, position, width of a head); `mask` is a boolean
    [T, T] or [B, T, T], and None means causal. A query that may attend to nothing gets zeros.

    Raises what `check_mask` raises.

    >>> q = k = torch.zeros(1, 1, 2, 1)
    >>> attend_dense(q, k, torch.tensor([[[[2.0], [4.0]]]])).flatten().tolist()
    [2.0, 3.0]
    """
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=_for_heads(mask, q))


def dense_weights(q: Tensor, k: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Return the weights [B, H, T, T] that `attend_dense` gives; each row sums to 1 or to 0.

    The arguments are those of `attend_dense`. A fully masked row, where a softmax alone would
    divide 0 by 0 and give NaN, is zero.

    >>> q = k = torch.zeros(1, 1, 2, 1)
    >>> dense_weights(q, k)[0, 0].tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    if mask is None:
        mask = causal_mask(q.shape[2]).to(q.device)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~_for_heads(mask, q), float("-inf")).softmax(-1)
    return weights.nan_to_num(0.0)


def check_mask(mask: Tensor, batch: int, length: int) -> None:
    """Refuse a mask that is not boolean and not [T, T] or [B, T, T].

    Raises TypeError for numbers (an additive mask, or 1 and 0) and ValueError for another shape.

    >>> check_mask(torch.ones(2, 2, dtype=torch.bool), batch=1, length=2)
    """
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(
            f"mask must be a boolean tensor (True = may attend), got {kind}. "
            "Turn an additive mask into one with mask == 0, and 1 and 0 with mask.bool()."
        )
    if mask.shape not in ((length, length), (batch, length, length)):
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}, but needs [T, T] = {(length, length)} or "
            f"[B, T, T] = {(batch, length, length)}. A key padding mask [B, 1, T] becomes one with "
            "causal_mask(T) & key_padding_mask(attention_mask)."
        )


def _for_heads(mask: Tensor, q: Tensor) -> Tensor:
    """Check the mask and give it the axis of the heads: [T, T] or [B, 1, T, T]."""
    check_mask(mask, q.shape[0], q.shape[2])
    return mask[:, None] if mask.ndim == 3 else mask
