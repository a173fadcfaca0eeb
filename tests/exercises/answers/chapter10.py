"""Right and wrong answers to the exercise of chapter 10."""

import numpy as np
import torch

from course_lib import document_ids_from_lengths, document_mask
from tests.exercises.wrong import Wrong, up_to


def visits_search(cu_seqlens, tile):
    tops = np.arange(0, cu_seqlens[-1], tile)
    starts = np.asarray(cu_seqlens)[np.searchsorted(cu_seqlens, tops, side="right") - 1]
    return tops // tile - starts // tile + 1


def visits_loop(cu_seqlens, tile):
    found = []
    for r in range(-(-cu_seqlens[-1] // tile)):
        start = max(s for s in cu_seqlens[:-1] if s <= r * tile)
        found.append(r - start // tile + 1)
    return found


def visits_mask(cu_seqlens, tile):
    """Look at the mask that the kernel never makes."""
    mask = document_mask(document_ids_from_lengths(np.diff(cu_seqlens).tolist()))
    blocks = -(-len(mask) // tile)
    whole = torch.zeros(blocks * tile, blocks * tile, dtype=torch.bool)
    whole[: len(mask), : len(mask)] = mask
    return whole.unflatten(0, (-1, tile)).unflatten(2, (-1, tile)).any(3).any(1).sum(1)


def blocks_of(cu_seqlens, tile):
    return -(-cu_seqlens[-1] // tile)


def visits_last_document(cu_seqlens, tile):
    found = []
    for r in range(blocks_of(cu_seqlens, tile)):
        last = min((r + 1) * tile, cu_seqlens[-1]) - 1
        start = max(s for s in cu_seqlens[:-1] if s <= last)
        found.append(r - start // tile + 1)
    return found


def visits_rounded_up(cu_seqlens, tile):
    found = []
    for r in range(blocks_of(cu_seqlens, tile)):
        start = max(s for s in cu_seqlens[:-1] if s <= r * tile)
        found.append(max(1, r - (start + tile - 1) // tile + 1))
    return found


def visits_too_many(cu_seqlens, tile):
    """Right for up to two documents; then one tile above the diagonal is visited."""
    found = visits_loop(cu_seqlens, tile)
    return found if len(cu_seqlens) < 4 else [found[0] + 1, *found[1:]]


def visits_whole(cu_seqlens, tile):
    """Right as long as the row is longer than a tile."""
    return visits_loop(cu_seqlens, tile) if cu_seqlens[-1] > tile else []


def visits_window(cu_seqlens, tile):
    """Looks back four tiles at most."""
    return [min(n, 5) for n in visits_loop(cu_seqlens, tile)]


RIGHT = {
    "10.1": [visits_search, visits_loop, visits_mask, lambda cu, t: iter(visits_loop(cu, t)),
                  lambda cu, t: tuple(map(torch.tensor, visits_loop(cu, t)))]
}

WRONG = {
    "10.1": [
        Wrong(lambda cu, t: [r + 1 for r in range(blocks_of(cu, t))], "no_document_mask"),
        Wrong(lambda cu, t: [blocks_of(cu, t)] * blocks_of(cu, t), "future_tiles"),
        Wrong(visits_last_document, "last_document_only"),
        Wrong(visits_rounded_up, "first_tile_lost"),
        Wrong(lambda cu, t: [n - 1 for n in visits_loop(cu, t)], "diagonal_tile_lost"),
        Wrong(visits_too_many, says="sees at least its own key tile and at most 1 tiles"),
        Wrong(visits_whole, says="expected [1], got [0]"),
        Wrong(visits_window, says="Failed: one token, tiles of one token"),
        Wrong(up_to(16, lambda cu, t: len(cu), visits_loop,
                    lambda cu, t: visits_loop([*cu[:16], cu[-1]], t)),
              says="the counts: query tile"),
        Wrong(lambda cu, t: sum(visits_loop(cu, t)), says="the counts"),
        Wrong(lambda cu, t: visits_loop(cu, t)[: cu[-1] // t] or [1], says="shape"),
        Wrong(lambda cu, t: [float(n) for n in visits_loop(cu, t)], says="dtype"),
    ]
}
