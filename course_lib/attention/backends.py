"""Four ways to compute the same attention inside documents, and why one of them may not serve.

- dense         the mask is written out and added to the scores
- per_document  one call of `scaled_dot_product_attention` for each document
- flex          FlexAttention with block tables: tiles without an allowed pair are skipped
- varlen        PyTorch's variable-length kernel on `cu_seqlens`, padding removed

All give zeros for padding queries.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from course_lib.attention.dense import attend_dense
from course_lib.attention.documents import BACKENDS, DocumentAttention

SHORT = 128
"""Up to this many columns the dense mask is fastest: the other ways have more to set up."""


def why_not(backend: str, q: Tensor) -> str | None:
    """Return why `backend` cannot serve queries like `q` [B, H, T, d], or None if it can.

    >>> why_not("varlen", torch.zeros(1, 1, 2, 8))
    'varlen needs a GPU, and these tensors are on cpu; on a CPU per_document does the same.'
    """
    return _REASONS[backend](q)


def usable(q: Tensor) -> dict[str, str | None]:
    """Return for each backend None, or the reason why it cannot serve `q` [B, H, T, d].

    >>> [name for name, reason in usable(torch.zeros(1, 1, 2, 8)).items() if reason is None]
    ['dense', 'per_document', 'flex']
    """
    return {name: why_not(name, q) for name in BACKENDS}


def choose(q: Tensor) -> str:
    """Return the backend that "auto" means for `q` [B, H, T, d].

    >>> choose(torch.zeros(1, 1, 16, 8)), choose(torch.zeros(1, 1, 512, 8))
    ('dense', 'per_document')
    """
    if q.shape[2] <= SHORT:
        return "dense"
    if q.is_cuda:
        return next(name for name in ("varlen", "flex", "dense") if why_not(name, q) is None)
    return "per_document"


def attend_documents(q: Tensor, k: Tensor, v: Tensor, documents: DocumentAttention) -> Tensor:
    """Return attention [B, H, T, d] of q, k, v [B, H, T, d] inside each document.

    Raises ValueError if the chosen backend cannot serve, with the reason and what would.

    >>> q = k = torch.zeros(1, 1, 2, 1)
    >>> apart = DocumentAttention(torch.tensor([[0, 1]]))
    >>> attend_documents(q, k, torch.tensor([[[[2.0], [4.0]]]]), apart).flatten().tolist()
    [2.0, 4.0]
    """
    if documents.document_ids.shape != (q.shape[0], q.shape[2]):
        raise ValueError(
            f"document_ids has shape {tuple(documents.document_ids.shape)}, but the rows are "
            f"[B, T] = {(q.shape[0], q.shape[2])}."
        )
    name = choose(q) if documents.backend == "auto" else documents.backend
    reason = why_not(name, q)
    if reason:
        raise ValueError(reason)
    return _RUN[name](q, k, v, documents)


def _dense(q: Tensor, k: Tensor, v: Tensor, documents: DocumentAttention) -> Tensor:
    return attend_dense(q, k, v, mask=documents.mask)


def _per_document(q: Tensor, k: Tensor, v: Tensor, documents: DocumentAttention) -> Tensor:
    length = q.shape[2]
    rows: list[list[Tensor]] = [[] for _ in q]
    reached = [0] * len(rows)
    for row, start, stop in documents.spans:
        rows[row].append(_zeros(v, start - reached[row]))
        here = (slice(row, row + 1), slice(None), slice(start, stop))
        rows[row].append(F.scaled_dot_product_attention(q[here], k[here], v[here], is_causal=True))
        reached[row] = stop
    ends = [_zeros(v, length - at) for at in reached]
    return torch.cat([torch.cat([*parts, end], 2) for parts, end in zip(rows, ends, strict=True)])


def _zeros(like: Tensor, length: int) -> Tensor:
    return like.new_zeros(1, like.shape[1], length, like.shape[3])


def _flex(q: Tensor, k: Tensor, v: Tensor, documents: DocumentAttention) -> Tensor:
    from torch.nn.attention.flex_attention import flex_attention

    run = torch.compile(flex_attention) if q.is_cuda else flex_attention
    return run(q, k, v, block_mask=documents.block_mask)


def _varlen(q: Tensor, k: Tensor, v: Tensor, documents: DocumentAttention) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn

    real, marks, longest = documents.real, documents.cu_seqlens, documents.longest
    flat = [x.transpose(1, 2)[real] for x in (q, k, v)]  # [N, H, d], padding removed
    old = "is_causal" in inspect.signature(varlen_attn).parameters  # torch 2.10
    causal = {"is_causal": True} if old else {"window_size": (-1, 0)}
    mixed = varlen_attn(*flat, marks, marks, longest, longest, **causal)
    out = v.new_zeros(v.shape[0], v.shape[2], v.shape[1], v.shape[3])
    return out.masked_scatter(real[..., None, None], mixed).transpose(1, 2)


def _flex_reason(q: Tensor) -> str | None:
    if q.is_cuda and q.shape[-1] < 16:
        return (
            f"flex needs heads of at least 16 numbers on a GPU, got {q.shape[-1]}; "
            "dense does the same."
        )
    if not q.is_cuda and q.requires_grad:
        return "flex has no backward pass on a CPU; per_document or dense trains."
    return None


def _varlen_reason(q: Tensor) -> str | None:
    if not q.is_cuda:
        return (
            f"varlen needs a GPU, and these tensors are on {q.device.type}; "
            "on a CPU per_document does the same."
        )
    major, minor = torch.cuda.get_device_capability(q.device)
    if major < 8:
        return f"varlen needs compute capability 8.0, this GPU has {major}.{minor}; flex serves."
    if q.dtype not in (torch.float16, torch.bfloat16):
        return f"varlen takes float16 or bfloat16, got {q.dtype}; flex or dense serves."
    if q.shape[-1] % 8:
        return f"varlen needs heads of a multiple of 8 numbers, got {q.shape[-1]}; dense serves."
    try:
        from torch.nn.attention.varlen import varlen_attn  # noqa: F401
    except ImportError:
        return f"torch {torch.__version__} has no varlen_attn; flex or dense serves."
    return None


def _always(q: Tensor) -> None:
    return None


_RUN: dict[str, Callable[..., Tensor]] = {
    "dense": _dense,
    "per_document": _per_document,
    "flex": _flex,
    "varlen": _varlen,
}
_REASONS: dict[str, Callable[[Tensor], str | None]] = {
    "dense": _always,
    "per_document": _always,
    "flex": _flex_reason,
    "varlen": _varlen_reason,
}
