"""Right and wrong answers to the exercise of lab 7."""

import numpy as np
import torch
import torch.nn.functional as F

from tests.exercises.wrong import Wrong, up_to


def shift(labels):
    return F.pad(labels[:, 1:], (0, 1), value=-100)


def by_chunk(labels, ranks):
    return torch.stack(shift(labels).chunk(ranks, dim=1))


def by_view(labels, ranks):
    return shift(labels).view(len(labels), ranks, -1).transpose(0, 1)


def by_numpy(labels, ranks):
    y = labels.numpy()
    moved = np.concatenate([y[:, 1:], np.full((len(y), 1), -100)], axis=1)
    return np.stack(np.split(moved, ranks, axis=1))


def by_loop(labels, ranks):
    rows = [[*row[1:], -100] for row in labels.tolist()]
    n = len(rows[0]) // ranks
    return [[row[r * n : (r + 1) * n] for row in rows] for r in range(ranks)]


def two_ranks_only(labels, ranks):
    """Right for two ranks."""
    return by_chunk(labels, ranks) if ranks == 2 else by_chunk(labels, ranks).flip(0)


def loses_one(labels, ranks):
    """Right for up to three ranks."""
    moved = by_chunk(labels, ranks)
    return moved if ranks < 4 else moved.index_fill(2, torch.tensor([0]), -100)


def drops_masked(labels, ranks):
    """Right where no label is switched off."""
    return by_chunk(labels.masked_fill(labels == -100, 0), ranks)


RIGHT = {"L7.1": [by_chunk, by_view, by_numpy, by_loop, lambda y, r: list(by_chunk(y, r)),
                  lambda y, r: (part for part in by_chunk(y, r).int())]}  # fmt: skip

WRONG = {
    "L7.1": [
        Wrong(lambda y, r: torch.stack([shift(p) for p in y.chunk(r, 1)]), "cut_then_shift"),
        Wrong(lambda y, r: torch.stack(y.chunk(r, 1)), "cut_unshifted"),
        Wrong(
            lambda y, r: torch.stack([shift(p) for p in shift(y).chunk(r, 1)]),
            "one_too_many_shifts",
        ),
        Wrong(lambda y, r: torch.stack([shift(y)[:, i::r] for i in range(r)]), "stripes"),
        Wrong(lambda y, r: torch.stack(y.roll(-1, 1).chunk(r, 1)), "wrapped_around"),
        Wrong(lambda y, r: by_chunk(y, r).flip(0), says="targets: rank 0, row 0, place 0"),
        Wrong(two_ranks_only, says="targets: rank 0"),
        Wrong(drops_masked, says="Failed:"),
        Wrong(lambda y, r: by_chunk(y, r) if r > 1 else y[None], says="ranks = 1"),
        Wrong(lambda y, r: by_chunk(y, r) if y.shape[1] > r else by_chunk(y, r) * 0,
              says="expected -100, got 0"),
        Wrong(up_to(16, lambda y, r: r, by_chunk, lambda y, r: by_chunk(y, r)[:16]),
              says="got [16, "),
        Wrong(loses_one, says="and your ranks have"),
        Wrong(lambda y, r: shift(y), says="shape of targets"),
        Wrong(lambda y, r: by_chunk(y, r).float() / 2, says="dtype: targets"),
    ]
}
