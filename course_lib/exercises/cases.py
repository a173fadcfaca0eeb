"""Random inputs for checks, all from a seeded generator, never from global state.

Small ones can be followed by hand. Those with `many` in their name have more of everything than a
constant that somebody may have written down: over 16 rows or documents, ids far above the toy
vocabulary.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.boundaries import document_ids_from_lengths
from course_lib.vocabulary import ASSISTANT

MOST_ID = 50_000


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


def many(rng: random.Random, least: int = 17, most: int = 22) -> int:
    """Return a number above 16.

    >>> many(random.Random(0)) > 16
    True
    """
    return rng.randint(least, most)


def many_lengths(rng: random.Random, most: int = 40, longest: int = 3) -> list[int]:
    """Return over 16 lengths: most of them up to 4, `longest` of them from 17 to `most`, one 1.

    >>> max(many_lengths(random.Random(0))) > 16
    True
    """
    long = [rng.randint(17, most) for _ in range(longest)]
    found = [*long, 1, *(rng.randint(1, 4) for _ in range(many(rng)))]
    rng.shuffle(found)
    return found


def many_documents(rng: random.Random, least: int = 0, most: int = MOST_ID) -> list[list[int]]:
    """Return over 16 documents of ids from `least` to `most`, 0 and 4 among them.

    >>> len(many_documents(random.Random(0))) > 16
    True
    """
    found = [tokens(rng, n, least, most) for n in many_lengths(rng)]
    for document in found:
        if coin(rng):
            document[rng.randrange(len(document))] = rng.choice([n for n in (0, 4) if n >= least])
    return found


def many_ids(rng: random.Random, rows: int) -> Tensor:
    """Return document ids [B, T] of `rows` rows of over 16 documents each, the ends padded.

    >>> int(many_ids(random.Random(0), 1).max()) > 15
    True
    """
    layout = [many_lengths(rng, 24, 1) for _ in range(rows)]
    width = max(map(sum, layout)) + rng.randint(1, 20)
    return torch.stack([document_ids_from_lengths(row, width) for row in layout])


def many_rows(rng: random.Random) -> Tensor:
    """Return document ids [B, T] of over 16 short rows.

    >>> len(many_rows(random.Random(0))) > 16
    True
    """
    return packed_ids(rng, many(rng))
