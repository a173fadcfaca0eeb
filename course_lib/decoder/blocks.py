"""What a decoder is made of: rotary positions, attention, SwiGLU, and a block of the last two."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.attention import attend, attention_weights

Rotation = tuple[Tensor, Tensor]
"""Cosines and sines, each [B, 1, T, d/2]."""


def rotation(
    position_ids: Tensor, head_width: int, *, dtype: torch.dtype = torch.float32,
    base: float = 10_000.0,
) -> Rotation:  # fmt: skip
    """Return the cosine and sine of each angle, position * base^(-2i/d), from positions [B, T].

    Source: Su et al. 2021, RoFormer, section 3.2.2.

    >>> cos, sin = rotation(torch.tensor([[0, 1]]), 2)
    >>> cos.shape
    torch.Size([1, 1, 2, 1])
    """
    exact = torch.promote_types(dtype, torch.float32)
    even = torch.arange(0, head_width, 2, device=position_ids.device, dtype=exact)
    angles = position_ids[:, None, :, None] * base ** (-even / head_width)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x: Tensor, by: Rotation) -> Tensor:
    """Turn each pair (coordinate i, coordinate i + d/2) of `x` [B, H, T, d] by its angle.

    A dot product of two turned vectors depends on the difference of their angles alone.

    >>> a_quarter = torch.zeros(1, 1, 1, 1), torch.ones(1, 1, 1, 1)
    >>> rotate(torch.tensor([[[[1.0, 2.0]]]]), a_quarter).flatten().tolist()
    [-2.0, 1.0]
    """
    first, second = x.chunk(2, dim=-1)
    cos, sin = by
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Attention(nn.Module):
    """Self-attention with several heads; with RoPE, `turn` rotates queries and keys."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def project(self, x: Tensor, turn: Rotation | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, each [B, H, T, d]."""
        heads = self.qkv(x).unflatten(-1, (3, self.heads, -1))
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        return (q, k, v) if turn is None else (rotate(q, turn), rotate(k, turn), v)

    def weights(self, x: Tensor, mask: Tensor | None, turn: Rotation | None) -> Tensor:
        q, k, _ = self.project(x, turn)
        return attention_weights(q, k, mask=mask)

    def forward(self, x: Tensor, mask: Tensor | None, turn: Rotation | None) -> Tensor:
        mixed = attend(*self.project(x, turn), mask=mask)
        return self.output(mixed.transpose(1, 2).flatten(2))


class SwiGLU(nn.Module):
    """The position-wise part: down(silu(gate(x)) * up(x)). Source: Shazeer 2020, GLU variants."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Attention and SwiGLU, each on a normalized copy of the stream and added back to it."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.swiglu_norm = nn.LayerNorm(width)
        self.swiglu = SwiGLU(width, hidden)

    def weights(self, x: Tensor, mask: Tensor | None, turn: Rotation | None) -> Tensor:
        return self.attention.weights(self.attention_norm(x), mask, turn)

    def forward(self, x: Tensor, mask: Tensor | None, turn: Rotation | None) -> Tensor:
        x = x + self.attention(self.attention_norm(x), mask, turn)
        return x + self.swiglu(self.swiglu_norm(x))
