"""One field of anybody's mapping → rows or lengths, or an error that names the field.

Nothing is believed about a field but its name: it may be a tensor, an array or nested lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.inputs import as_lengths, as_rows


def field_of(mapping: Mapping[str, Any], name: str, form: str) -> Any:
    """Return mapping[name], or say that this form needs it.

    >>> field_of({"tokens": [1]}, "tokens", "torchtune")
    [1]
    """
    if mapping.get(name) is None:
        have = ", ".join(map(str, mapping)) or "nothing"
        raise ValueError(f"form {form!r} needs {name!r}; the mapping has: {have}.")
    return mapping[name]


def rows_of(value: Any, name: str, like: Tensor | None = None) -> Tensor:
    """Return `value` as int64 rows [B, T]; one row [T] becomes [1, T], a mask's truth 0 and 1.

    Raises ValueError for another shape than that of `like`.

    >>> rows_of([True, False], "loss_mask").tolist()
    [[1, 0]]
    """
    rows = maybe_rows({name: value}, name, like)
    assert rows is not None
    return rows


def numbers_of(value: Any, name: str) -> Tensor:
    """Return a mask, in whatever it came, as a tensor of its own type.

    >>> numbers_of([[0.5, 1.0]], "loss_mask").shape
    torch.Size([1, 2])
    """
    try:
        return torch.as_tensor(value).cpu()
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(
            f"{name} cannot be read as rows of numbers: {error}. Its rows must be equally long."
        ) from error


def maybe_rows(
    mapping: Mapping[str, Any], name: str, like: Tensor | None = None
) -> Tensor | None:
    """Return mapping[name] as int64 rows [B, T], or None where it is not given.

    >>> maybe_rows({"labels": [1, 2]}, "labels").tolist()
    [[1, 2]]
    """
    value = mapping.get(name)
    if value is None:
        return None
    if name in ("attention_mask", "loss_mask") and _is_boolean(value):
        value = torch.as_tensor(value).long()
    rows = as_rows(value, name, ndim=(1, 2))
    rows = rows[None] if rows.ndim == 1 else rows
    if like is not None and rows.shape != like.shape:
        raise ValueError(
            f"{name} has shape {tuple(rows.shape)}, input_ids {tuple(like.shape)}; they must agree."
        )
    return rows


def _is_boolean(value: Any) -> bool:
    if isinstance(value, Tensor | np.ndarray):
        return value.dtype in (torch.bool, np.dtype(bool))
    first = value
    while isinstance(first, list | tuple) and first:
        first = first[0]
    return isinstance(first, bool)


def lengths_of_rows(value: Any, name: str) -> list[list[int]]:
    """Return one list of lengths for each row; a single flat list is that of the only row.

    >>> lengths_of_rows([2, 1], "seq_lengths")
    [[2, 1]]
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of lengths for each row, got {value!r:.60}.")
    if isinstance(value, Tensor | np.ndarray):
        value = [value] if value.ndim == 1 else list(value)
    rows = list(value)
    if not rows:
        raise ValueError(f"{name} is empty; give the lengths of the documents of each row.")
    if all(isinstance(n, int | np.integer) or (isinstance(n, Tensor) and not n.ndim)
           for n in rows):  # fmt: skip
        flat = [n.item() if isinstance(n, Tensor) else n for n in rows]
        return [as_lengths(flat, name).tolist()]
    return [as_lengths(row, f"{name}[{i}]").tolist() for i, row in enumerate(rows)]
