"""FlexAttention's block tables straight from document boundaries.

FlexAttention cuts the mask into tiles of 128 × 128. A tile with no allowed pair is never computed;
a *full* tile is computed without asking; only *partial* tiles are looked at cell by cell.
`create_block_mask` finds out which is which by evaluating all T² cells. The boundaries say it
directly: the queries of block r see the keys from the start of their first document up to block r,
and a key block left of the diagonal is full if it and the query block lie in one document.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

TILE = 128


def document_block_mask(document_ids: Tensor, tile: int = TILE) -> BlockMask:
    """Return the `BlockMask` of causal attention inside documents; ids are [B, T], -1 on padding.

    The same tables as `create_block_mask` makes with the same rule, without touching T² cells.

    >>> document_block_mask(torch.zeros(1, 256, dtype=torch.long)).sparsity()
    25.0
    """
    rows, length = document_ids.shape
    partial, full = document_tiles(document_ids, tile)

    def allowed(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        mine = document_ids[b, q]
        return (q >= k) & (mine == document_ids[b, k]) & (mine >= 0)

    return BlockMask.from_kv_blocks(
        *_table(partial), *_table(full), BLOCK_SIZE=tile, mask_mod=allowed,
        seq_lengths=(length, length),
    )  # fmt: skip


def document_tiles(document_ids: Tensor, tile: int = TILE) -> tuple[Tensor, Tensor]:
    """Return two bool tensors [B, R, R]: which tiles are partial, and which are full.

    `document_ids` is [B, T], -1 on padding; R = T / tile, rounded up. Tiles on the diagonal count
    as partial; what is in neither tensor holds no allowed pair and is skipped.

    >>> partial, full = document_tiles(torch.zeros(1, 6, dtype=torch.long), tile=2)
    >>> int(partial.sum()), int(full.sum())
    (3, 3)
    """
    rows, length = document_ids.shape
    blocks = -(-length // tile)
    ids = torch.nn.functional.pad(document_ids, (0, blocks * tile - length), value=-1)
    slots = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
    begins = torch.ones_like(ids, dtype=torch.bool)
    begins[:, 1:] = ids.diff(dim=1) != 0
    # start of the document of each slot; a slot of padding starts nowhere
    start = torch.cummax(slots.where(begins, torch.zeros_like(slots)), 1).values
    start = start.where(ids >= 0, torch.full_like(start, ids.shape[1]))
    by_block = ids.view(rows, blocks, tile)
    first = start.view(rows, blocks, tile).amin(-1)
    one_document = (by_block == by_block[..., :1]).all(-1) & (by_block[..., 0] >= 0)
    r = torch.arange(blocks, device=ids.device)
    query, key = r[:, None], r[None, :]
    full = (key < query) & one_document[..., None] & (first[..., None] <= key * tile)
    seen = (key <= query) & (first[..., None] < (key + 1) * tile)
    return seen & ~full, full


def _table(tiles: Tensor) -> tuple[Tensor, Tensor]:
    """Return number of tiles [B, 1, R] and their columns [B, 1, R, R], chosen ones first, int32."""
    count = tiles.sum(-1, dtype=torch.int32)[:, None]
    order = torch.argsort(tiles.to(torch.int8), dim=-1, descending=True, stable=True)
    return count, order.to(torch.int32)[:, None].contiguous()
