"""Sizes and ids that a decoder cannot take, each refused with one error."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.inputs import as_int


def head_width_of(width: int, heads: int, positions: str) -> int:
    """Return the width of a head; refuse sizes that do not divide.

    >>> head_width_of(4, 2, "rope")
    2
    """
    if as_int(width, "width", at_least=1) % as_int(heads, "heads", at_least=1):
        raise ValueError(f"width={width} does not divide into heads={heads}: choose a multiple.")
    if positions == "rope" and (width // heads) % 2:
        raise ValueError(
            f"RoPE turns pairs of coordinates, but a head is {width // heads} wide "
            f"(width={width}, heads={heads}). Choose an even width for each head."
        )
    return width // heads


def check_ids(ids: Tensor, name: str, ndim: int | None = None) -> None:
    """Refuse anything but a tensor of whole numbers, with `ndim` axes where that is given.

    >>> check_ids(torch.tensor([[1, 2]]), "input_ids", ndim=2)
    """
    if not isinstance(ids, Tensor) or ids.dtype.is_floating_point or ids.dtype == torch.bool:
        kind = ids.dtype if isinstance(ids, Tensor) else type(ids).__name__
        raise TypeError(
            f"{name} must be a tensor of whole numbers, got {kind}. Use torch.tensor([[1, 2, 3]])."
        )
    if ndim and (ids.ndim != ndim or ids.numel() == 0):
        raise ValueError(
            f"{name} must be [B, T] with at least one token, got shape {tuple(ids.shape)}. "
            "A single row is passed as input_ids[None]."
        )
