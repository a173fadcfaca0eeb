"""Small random inputs for checks, all from a seeded generator, never from global state."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.boundaries import document_ids_from_lengths
from course_lib.vocabulary import ASSISTANT


def tokens(rng: random.Random, count: int, least: int = 1, most: int = ASSISTANT) -> list[int]:
    """Return `count` ids from `least` to `most`.

    >>> len(tokens(random.Random(0), 3))
    3
    """
    return [rng.randint(least, most) for _ in range(count)]


def lengths(rng: random.Random, most: int = 5, count: int = 4) -> list[int]:
    """Return one to `count` lengths from 1 to `most`.

    >>> max(lengths(random.Random(0))) <= 5
    True
    """
    return [rng.randint(1, most) for _ in range(rng.randint(1, count))]


def documents(rng: random.Random, least: int = 1) -> list[list[int]]:
    """Return one to four documents of one to five ids, the smallest of them `least`.

    >>> len(documents(random.Random(0))) <= 4
    True
    """
    return [tokens(rng, n, least) for n in lengths(rng)]


def packed_ids(rng: random.Random, rows: int = 2) -> Tensor:
    """Return document ids [B, T] of packed rows, -1 on the padding at their ends.

    >>> packed_ids(random.Random(0)).ndim
    2
    """
    layout = [lengths(rng) for _ in range(rows)]
    width = max(map(sum, layout)) + rng.randint(0, 2)
    return torch.stack([document_ids_from_lengths(row, width) for row in layout])


def packed_targets(rng: random.Random) -> tuple[Tensor, Tensor]:
    """Return a target mask [B, T-1] and document ids [B, T]; some documents have no target.

    >>> mask, ids = packed_targets(random.Random(0))
    >>> bool(mask.any())
    True
    """
    ids = packed_ids(rng, rng.randint(1, 3))
    real = ids[:, 1:] >= 0
    if not real.any():
        return packed_targets(rng)
    mask = coins(rng, *real.shape, 0.6) & real
    row, column = rng.choice(real.nonzero().tolist())
    mask[row, column] = True
    return mask, ids


def losses(rng: random.Random, rows: int, columns: int) -> Tensor:
    """Return positive losses [B, T-1] in quarters, so that their sums are exact.

    >>> losses(random.Random(0), 1, 2).shape
    torch.Size([1, 2])
    """
    return torch.tensor([[rng.randint(1, 20) / 4 for _ in range(columns)] for _ in range(rows)])


def floats(rng: random.Random, *shape: int) -> Tensor:
    """Return normal numbers of a shape.

    >>> floats(random.Random(0), 2, 3).shape
    torch.Size([2, 3])
    """
    generator = torch.Generator().manual_seed(rng.getrandbits(31))
    return torch.randn(*shape, generator=generator)


def coin(rng: random.Random, chance: float = 0.5) -> bool:
    """Return True with this chance.

    >>> coin(random.Random(0), 1.0)
    True
    """
    return rng.random() < chance


def coins(rng: random.Random, rows: int, columns: int, chance: float = 0.5) -> Tensor:
    """Return a bool tensor of coins.

    >>> coins(random.Random(0), 1, 2, 1.0).tolist()
    [[True, True]]
    """
    return torch.tensor([[coin(rng, chance) for _ in range(columns)] for _ in range(rows)])


def some_true(rng: random.Random, rows: int, columns: int) -> Tensor:
    """Return a bool mask [B, T-1] with at least one True and, in general, some False.

    >>> bool(some_true(random.Random(0), 1, 3).any())
    True
    """
    mask = coins(rng, rows, columns, 0.6)
    mask[rng.randrange(rows), rng.randrange(columns)] = True
    return mask


def rectangle(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return nested lists as an int64 tensor [B, T].

    >>> rectangle([[1, 2]]).shape
    torch.Size([1, 2])
    """
    return torch.tensor([list(row) for row in rows], dtype=torch.int64)
