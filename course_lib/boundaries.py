"""Where documents begin, in the four forms in which systems write it down.

One row of tokens `a b c <eos> a a <eos> <pad>` holds two documents. Their boundaries can be kept as

- lengths           `[4, 3]`                      one number for each document
- `cu_seqlens`      `[0, 4, 7]`                   cumulative lengths, int32, starts at 0
- `document_ids`    `[0, 0, 0, 0, 1, 1, 1, -1]`   one number for each slot, -1 on padding
- `position_ids`    `[0, 1, 2, 3, 0, 1, 2, -1]`   counts from 0 in each document, -1 on padding

What a conversion loses stands in the docstring of the function that does it. In short: lengths and
`cu_seqlens` do not know how long the row is; `position_ids` from systems that write 0 on padding
cannot tell a pad from a document of one token; `position_ids` that start above 0 (the rest of a
document that was cut) say where a document begins but not that its head is missing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from course_lib.inputs import as_int, as_lengths, as_rows

PADDING = -1
"""What stands in `document_ids` and `position_ids` where a slot holds no token."""


def document_ids_from_lengths(lengths: Sequence[int], total: int | None = None) -> Tensor:
    """Return document ids [T], int64: 0, 1, … in each document, -1 on the padding up to `total`.

    Raises ValueError if the documents need more than `total` slots.

    >>> document_ids_from_lengths([2, 1], total=4).tolist()
    [0, 0, 1, -1]
    """
    sizes = torch.as_tensor(as_lengths(lengths))
    ids = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
    return _pad_to(ids, total)


def position_ids_from_lengths(lengths: Sequence[int], total: int | None = None) -> Tensor:
    """Return position ids [T], int64: from 0 in each document, -1 on the padding up to `total`.

    >>> position_ids_from_lengths([2, 3], total=6).tolist()
    [0, 1, 0, 1, 2, -1]
    """
    sizes = torch.as_tensor(as_lengths(lengths))
    starts = torch.cumsum(sizes, 0) - sizes
    positions = torch.arange(int(sizes.sum())) - torch.repeat_interleave(starts, sizes)
    return _pad_to(positions, total)


def cu_seqlens_from_lengths(lengths: Sequence[int]) -> Tensor:
    """Return cumulative lengths [N+1], int32, as FlashAttention's varlen kernels take them.

    Source: `flash_attn_varlen_func`, argument `cu_seqlens_q`.

    >>> cu_seqlens_from_lengths([4, 3]).tolist()
    [0, 4, 7]
    """
    sizes = as_lengths(lengths)
    total = int(sizes.sum())
    if total > np.iinfo(np.int32).max:
        raise ValueError(
            f"{total} tokens do not fit in int32, which the kernels expect. Split the batch."
        )
    return torch.as_tensor(np.concatenate([[0], np.cumsum(sizes)]), dtype=torch.int32)


def lengths_from_cu_seqlens(cu_seqlens: Sequence[int]) -> list[int]:
    """Return the length of each document. Loses nothing; the row's padding was never in it.

    Raises ValueError if the list does not start at 0 or does not rise at every step.

    >>> lengths_from_cu_seqlens([0, 4, 7])
    [4, 3]
    """
    marks = as_lengths(cu_seqlens, "cu_seqlens", at_least=0)
    if marks[0] != 0:
        raise ValueError(f"cu_seqlens must start at 0, got {marks[0]}: the first document is lost.")
    steps = np.diff(marks)
    if len(steps) == 0 or steps.min() < 1:
        raise ValueError(
            f"cu_seqlens must rise at every step, got {marks.tolist()}. "
            "Cut off the filler at its end and leave out empty documents."
        )
    return steps.tolist()


def lengths_from_document_ids(document_ids: Tensor | Sequence[int]) -> list[int]:
    """Return the length of each document of one row [T], padding (-1) left out.

    A document is a run of equal ids. Loses the padding, and joins two neighbours that carry the
    same id.

    >>> lengths_from_document_ids([0, 0, 1, -1])
    [2, 1]
    """
    ids = as_rows(document_ids, "document_ids", ndim=(1,))
    values, counts = torch.unique_consecutive(ids, return_counts=True)
    return counts[values >= 0].tolist()


def document_ids_from_position_ids(position_ids: Tensor | Sequence[int]) -> Tensor:
    """Return document ids, [T] or [B, T] as given; a step other than +1 begins a document.

    Negative positions are padding (-1). Loses: a pad written as 0 becomes a document of one token,
    and the rest of a cut document that carries on at position k looks like a whole one.

    Source of the rule: transformers, `find_packed_sequence_indices`.

    >>> document_ids_from_position_ids([0, 1, 0, 1, 2, -1]).tolist()
    [0, 0, 1, 1, 1, -1]
    """
    positions = as_rows(position_ids, "position_ids", ndim=(1, 2))
    real = positions >= 0
    begins = torch.ones_like(real)
    # behind padding (-1) a step to 0 is +1 as well, and begins a document all the same
    begins[..., 1:] = (positions.diff(dim=-1) != 1) | ~real[..., :-1]
    begins &= real
    return (torch.cumsum(begins, -1) - 1).where(real, torch.tensor(PADDING))


def lengths_from_position_ids(position_ids: Tensor | Sequence[int]) -> list[int]:
    """Return the length of each document of one row [T]; loses what the conversion to ids loses.

    >>> lengths_from_position_ids([0, 1, 0, 1, 2, -1])
    [2, 3]
    """
    positions = as_rows(position_ids, "position_ids", ndim=(1,))
    return lengths_from_document_ids(document_ids_from_position_ids(positions))


def position_ids_from_document_ids(document_ids: Tensor | Sequence[int]) -> Tensor:
    """Return position ids of the same shape ([T] or [B, T]): from 0 where the id changes.

    Loses: a document that began in an earlier row starts again at 0.

    >>> position_ids_from_document_ids([0, 0, 1, -1]).tolist()
    [0, 1, 0, -1]
    """
    ids = as_rows(document_ids, "document_ids", ndim=(1, 2))
    slots = torch.arange(ids.shape[-1]).expand_as(ids)
    starts = torch.cummax(slots.where(document_starts(ids), torch.tensor(0)), dim=-1).values
    return (slots - starts).where(ids >= 0, torch.tensor(PADDING))


def document_starts(document_ids: Tensor) -> Tensor:
    """Return a boolean tensor of the same shape, True on the first slot of each document.

    >>> document_starts(torch.tensor([0, 0, 1, -1])).tolist()
    [True, False, True, False]
    """
    starts = torch.ones_like(document_ids, dtype=torch.bool)
    starts[..., 1:] = document_ids.diff(dim=-1) != 0
    return starts & (document_ids >= 0)


def document_spans(document_ids: Tensor) -> list[tuple[int, int, int]]:
    """Return (row, start, stop) of each document of [B, T], row by row; `stop` is behind its end.

    >>> document_spans(torch.tensor([[0, 0, 1, -1]]))
    [(0, 0, 2), (0, 2, 3)]
    """
    width = document_ids.shape[1]
    # one more column of padding on either side makes every document begin and end with a step
    fenced = torch.nn.functional.pad(document_ids, (1, 1), value=PADDING)
    changes = fenced.diff(dim=1) != 0
    starts = changes[:, :width] & (document_ids >= 0)
    stops = changes[:, 1:] & (document_ids >= 0)
    rows, first = starts.nonzero(as_tuple=True)
    last = stops.nonzero(as_tuple=True)[1] + 1
    return list(zip(rows.tolist(), first.tolist(), last.tolist(), strict=True))


def _pad_to(values: Tensor, total: int | None) -> Tensor:
    if total is None:
        return values
    width = as_int(total, "total", at_least=1)
    if len(values) > width:
        raise ValueError(
            f"the documents hold {len(values)} tokens, more than total={width}. "
            "Raise total or pack fewer documents in the row."
        )
    return torch.nn.functional.pad(values, (0, width - len(values)), value=PADDING)
