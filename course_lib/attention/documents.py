"""Who sits in which document, handed to the attention call instead of a mask that is written out.

A dense mask says in T² cells what a few boundaries say as well. `DocumentAttention` keeps the
document ids and makes from them, once for all layers, whatever form a backend wants.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

from course_lib.attention.tables import document_block_mask
from course_lib.boundaries import document_spans
from course_lib.inputs import as_rows, choice

BACKENDS = ("dense", "per_document", "flex", "varlen")
"""The four ways to compute attention inside documents."""


@dataclass(frozen=True, eq=False)
class DocumentAttention:
    """Causal attention inside each document; goes wherever a `mask` goes.

    - document_ids  [B, T], from 0 in each row, -1 on padding
    - backend       one of `BACKENDS`, or "auto"

    >>> DocumentAttention(torch.tensor([[0, 0, 1, -1]])).spans
    [(0, 0, 2), (0, 2, 3)]
    """

    document_ids: Tensor
    backend: str = "auto"

    def __post_init__(self) -> None:
        choice(self.backend, "backend", (*BACKENDS, "auto"))
        as_rows(self.document_ids, "document_ids")

    @property
    def shape(self) -> torch.Size:
        """[B, T, T], as that of the mask it stands for."""
        rows, length = self.document_ids.shape
        return torch.Size((rows, length, length))

    @cached_property
    def spans(self) -> list[tuple[int, int, int]]:
        """(row, start, stop) of each document."""
        return document_spans(self.document_ids)

    @cached_property
    def mask(self) -> Tensor:
        """The dense mask [B, T, T]: one triangle, sliced for each document."""
        longest = max((stop - start for _, start, stop in self.spans), default=0)
        device = self.document_ids.device
        mask = torch.zeros(self.shape, dtype=torch.bool, device=device)
        if device.type == "cpu":  # numpy has a triangle that takes no memory
            target, triangle = mask.numpy(), _triangle(longest)
        else:
            target = mask
            triangle = torch.ones(longest, longest, dtype=torch.bool, device=device).tril_()
        for row, start, stop in self.spans:
            size = stop - start
            target[row, start:stop, start:stop] = triangle[:size, :size]
        return mask

    @cached_property
    def real(self) -> Tensor:
        """Bool [B, T]: slots that hold a token."""
        return self.document_ids >= 0

    @cached_property
    def cu_seqlens(self) -> Tensor:
        """Cumulative lengths [N+1], int32, over the batch with padding removed."""
        sizes = torch.tensor([0, *(stop - start for _, start, stop in self.spans)])
        return sizes.cumsum(0).to(self.document_ids.device, torch.int32)

    @cached_property
    def longest(self) -> int:
        """Tokens of the longest document."""
        return max(stop - start for _, start, stop in self.spans)

    @cached_property
    def block_mask(self) -> BlockMask:
        """The tables of FlexAttention, made from the boundaries."""
        return document_block_mask(self.document_ids)


def _triangle(size: int) -> np.ndarray:
    """Return the causal mask [size, size] as a view of 2 · size cells: row i is the same cells as
    the row above, begun one cell earlier."""
    cells = np.arange(2 * size) < size  # True, …, False, …
    first = cells[max(0, size - 1) :]
    return np.lib.stride_tricks.as_strided(first, (size, size), (-1, 1), writeable=False)
