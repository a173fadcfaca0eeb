"""One attention call: who may look at whom comes in as a mask, or as documents.

`attend` is the only place where a model of this course mixes positions. With a boolean mask it is
`scaled_dot_product_attention`; with a `DocumentAttention` one of four backends does the same work,
and the mask need never be written out. `attention_weights` computes what can be looked at.
"""

from __future__ import annotations

from torch import Tensor

from course_lib.attention.backends import attend_documents, choose, usable, why_not
from course_lib.attention.dense import attend_dense, check_mask, dense_weights
from course_lib.attention.documents import BACKENDS, DocumentAttention
from course_lib.attention.tables import document_block_mask, document_tiles

__all__ = [
    "BACKENDS",
    "DocumentAttention",
    "attend",
    "attention_weights",
    "check_mask",
    "choose",
    "document_block_mask",
    "document_tiles",
    "usable",
    "why_not",
]


def attend(
    q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | DocumentAttention | None = None
) -> Tensor:
    """Return softmax(q k^T / sqrt(d)) v, [B, H, T, d], over the keys that `mask` allows.

    `q`, `k` and `v` are [B, H, T, d] (batch, head, position, width of a head). `mask` is a boolean
    [T, T] or [B, T, T], a `DocumentAttention`, or None for causal. A query that may attend to
    nothing gets zeros.

    Raises TypeError or ValueError for a mask that does not fit, ValueError for a backend that
    cannot serve here.

    >>> import torch
    >>> q = k = torch.zeros(1, 1, 2, 1)
    >>> attend(q, k, torch.tensor([[[[2.0], [4.0]]]])).flatten().tolist()
    [2.0, 3.0]
    """
    if isinstance(mask, DocumentAttention):
        return attend_documents(q, k, v, mask)
    return attend_dense(q, k, v, mask=mask)


def attention_weights(
    q: Tensor, k: Tensor, *, mask: Tensor | DocumentAttention | None = None
) -> Tensor:
    """Return the weights [B, H, T, T] that `attend` gives to the keys; each row sums to 1 or to 0.

    The arguments are those of `attend`. The fast calls never form these weights.

    >>> import torch
    >>> q = k = torch.zeros(1, 1, 2, 1)
    >>> attention_weights(q, k)[0, 0].tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    return dense_weights(q, k, mask=mask.mask if isinstance(mask, DocumentAttention) else mask)
