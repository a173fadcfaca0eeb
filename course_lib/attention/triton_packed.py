"""A kernel to read: packed causal attention from `cu_seqlens`, forward only, written in Triton.

One program computes one tile of queries of one document and one head. It walks over the key tiles
from the start of the document to the diagonal and keeps three things: the largest score so far,
the sum of exponentials, and the weighted sum of values (the *online softmax* of Milakov and
Gimelshein 2018, as FlashAttention uses it). No score of another document is ever computed, and no
matrix of scores is ever stored. Left out: the backward pass, dropout, speed.

Triton is no part of the course's environment: `make test-triton` runs this on a CPU, in Triton's
interpreter. `import course_lib.attention` does not import it.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _forward(
    q, k, v, out, cu_seqlens, scale, token_step, head_step,
    WIDTH: tl.constexpr, PADDED: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    document, tile, head = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    start = tl.load(cu_seqlens + document)
    stop = tl.load(cu_seqlens + document + 1)
    first = start + tile * TILE
    if first < stop:  # longer documents have more tiles than this one
        column = tl.arange(0, PADDED)
        query = first + tl.arange(0, TILE)
        places = query[:, None] * token_step + head * head_step + column[None, :]
        inside = (query[:, None] < stop) & (column[None, :] < WIDTH)
        q_tile = tl.load(q + places, mask=inside, other=0.0).to(tl.float32)

        largest = tl.full((TILE,), float("-inf"), tl.float32)
        total = tl.zeros((TILE,), tl.float32)
        mixed = tl.zeros((TILE, PADDED), tl.float32)
        for at in range(start, first + TILE, TILE):  # from the document's start to the diagonal
            key = at + tl.arange(0, TILE)
            there = key[:, None] * token_step + head * head_step + column[None, :]
            real = (key[:, None] < stop) & (column[None, :] < WIDTH)
            k_tile = tl.load(k + there, mask=real, other=0.0).to(tl.float32)
            v_tile = tl.load(v + there, mask=real, other=0.0).to(tl.float32)

            scores = tl.dot(q_tile, tl.trans(k_tile), input_precision="ieee") * scale
            allowed = (key[None, :] <= query[:, None]) & (key[None, :] < stop)
            scores = tl.where(allowed, scores, float("-inf"))

            now = tl.maximum(largest, tl.max(scores, 1))
            shrink = tl.exp(largest - now)  # what was summed under the old maximum
            weights = tl.exp(scores - now[:, None])
            total = total * shrink + tl.sum(weights, 1)
            mixed = mixed * shrink[:, None] + tl.dot(weights, v_tile, input_precision="ieee")
            largest = now
        result = mixed / total[:, None]
        tl.store(out + places, result.to(out.dtype.element_ty), mask=inside)


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Tensor, tile: int = 16) -> Tensor:
    """Return causal attention inside each document, [N, H, d], for packed q, k, v [N, H, d].

    `cu_seqlens` is [D + 1], int32, as `Batch.cu_seqlens()` gives it; `tile` is a power of two, at
    least 16. Raises ValueError for tensors that are not contiguous or not of one shape, and for
    boundaries that do not run from 0 to N.

    >>> ones = torch.ones(3, 1, 16)
    >>> marks = torch.tensor([0, 1, 3], dtype=torch.int32)
    >>> packed_attention(ones, ones, ones, marks).sum().item()
    48.0
    """
    if not (q.shape == k.shape == v.shape and q.ndim == 3):
        shapes = [tuple(x.shape) for x in (q, k, v)]
        raise ValueError(f"q, k and v must share one shape [N, H, d], got {shapes}.")
    if not all(x.is_contiguous() for x in (q, k, v)):
        raise ValueError("q, k and v must be contiguous: call .contiguous() on them first.")
    sizes = cu_seqlens.diff()
    if int(cu_seqlens[0]) or int(cu_seqlens[-1]) != len(q) or bool((sizes < 1).any()):
        raise ValueError(f"cu_seqlens must rise from 0 to N = {len(q)}, got {cu_seqlens.tolist()}.")
    tokens, heads, width = q.shape
    out = torch.empty_like(q)
    grid = (len(sizes), triton.cdiv(int(sizes.max()), tile), heads)
    padded = max(16, triton.next_power_of_2(width))
    _forward[grid](
        q, k, v, out, cu_seqlens, width**-0.5, q.stride(0), q.stride(1),
        WIDTH=width, PADDED=padded, TILE=tile,
    )  # fmt: skip
    return out
