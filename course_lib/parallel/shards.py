"""A sequence cut over ranks, and the target that is lost at the cut.

With context or sequence parallelism each rank holds a stretch of every row. If labels are cut first
and shifted on each rank, the last prediction of a shard has no label: it stands at the beginning of
the next shard. Shift the whole row first, then cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from course_lib.inputs import as_int
from course_lib.vocabulary import IGNORE_INDEX


@dataclass(frozen=True, eq=False)
class Shard:
    """The columns of one rank: `input_ids` [B, T/R] and `targets` [B, T/R], already shifted."""

    input_ids: Tensor
    targets: Tensor

    @property
    def num_targets(self) -> int:
        """Predictions that are scored on this rank."""
        return int((self.targets != IGNORE_INDEX).sum())


def shard_sequence(
    input_ids: Tensor, labels: Tensor, ranks: int, *, shift_first: bool = True
) -> list[Shard]:
    """Cut rows [B, T] into `ranks` stretches of columns; T must be a multiple of `ranks`.

    `shift_first` True shifts the labels of the whole row, then cuts, and loses nothing. False cuts
    first and shifts on each rank: the prediction before each cut loses its target.

    >>> ids = torch.tensor([[5, 6, 7, 8]])
    >>> [s.targets.tolist() for s in shard_sequence(ids, ids, 2)]
    [[[6, 7]], [[8, -100]]]
    >>> [s.targets.tolist() for s in shard_sequence(ids, ids, 2, shift_first=False)]
    [[[6, -100]], [[8, -100]]]
    """
    count = as_int(ranks, "ranks", at_least=1)
    width = input_ids.shape[1]
    if width % count:
        raise ValueError(
            f"rows of {width} slots cannot be cut into {count} equal parts. "
            f"Pad them to a multiple of {count} (pad_documents(..., multiple_of={count}))."
        )
    if shift_first:
        targets = _shift(labels).chunk(count, dim=1)
    else:
        targets = [_shift(part) for part in labels.chunk(count, dim=1)]
    pieces = input_ids.chunk(count, dim=1)
    return [Shard(ids, wanted) for ids, wanted in zip(pieces, targets, strict=True)]


def _shift(labels: Tensor) -> Tensor:
    return torch.nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORE_INDEX)
