"""Bad input is refused here, once, with an error that names the thing, its value and the way out.

Every room that takes token ids, lengths or counts from a caller passes them through one of these
functions. They return plain numpy arrays or ints, so the rooms above need not check again. What is
*not* checked here: whether ids exist in some vocabulary (only the model knows its size).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

__all__ = ["as_documents", "as_int", "as_lengths", "as_prompt_lengths", "as_rows", "choice"]


def as_int(value: object, name: str, *, at_least: int = 0, hint: str = "") -> int:
    """Return `value` as an int, or say why it cannot be one.

    Raises TypeError for anything that is not a whole number (a bool counts as a mistake, too) and
    ValueError below `at_least`.

    >>> as_int(np.int32(8), "capacity", at_least=1)
    8
    """
    way_out = f" {hint}" if hint else ""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(
            f"{name} must be a whole number, got {value!r} ({type(value).__name__}).{way_out}"
        )
    if value < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {int(value)}.{way_out}")
    return int(value)


def choice(value: object, name: str, options: Sequence[str]) -> str:
    """Return `value` if it is one of `options`, else name them all.

    >>> choice("B", "boundary", ("A", "B"))
    'B'
    """
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}.")
    return str(value)


def as_document(document: object, name: str) -> np.ndarray:
    """Return one document as int64 ids [T]; refuse floats, nesting, negative ids and emptiness.

    >>> as_document([1, 2, 3], "document 0").tolist()
    [1, 2, 3]
    """
    if isinstance(document, str | bytes):
        raise TypeError(
            f"{name} is text ({document[:20]!r}), not token ids. "
            f"Tokenize it first; for the toy vocabulary use encode({document[:20]!r})."
        )
    values = _as_array(document, name)
    if values.ndim != 1:
        raise ValueError(
            f"{name} must be a flat sequence of token ids, got shape {tuple(values.shape)}. "
            "Pass a list of documents, each a list of ids."
        )
    if values.size == 0:
        raise ValueError(
            f"{name} is empty (length 0), so it has no token to train on. "
            "Remove empty documents before batching: [d for d in documents if len(d)]."
        )
    if values.min() < 0:
        where = int(np.argmax(values < 0))
        raise ValueError(
            f"{name} holds the negative id {int(values[where])} at position {where}. "
            "Token ids start at 0; -100 belongs in labels, never in documents."
        )
    return values


def as_documents(documents: Iterable[object], name: str = "documents") -> list[np.ndarray]:
    """Return a non-empty list of documents, each as int64 ids [T].

    >>> [d.tolist() for d in as_documents([[1, 2], (3,)])]
    [[1, 2], [3]]
    """
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise TypeError(
            f"{name} must be a list of documents (each a list of token ids), "
            f"got {type(documents).__name__}."
        )
    rows = list(documents)
    if not rows:
        raise ValueError(f"{name} is an empty list: there is nothing to batch. Pass one or more.")
    if all(isinstance(row, int | np.integer) for row in rows):
        raise TypeError(
            f"{name} is one flat list of ids, {rows[:6]!r}. "
            "Wrap it: a single document is passed as [document]."
        )
    singular = name[:-1] if name.endswith("s") else name
    return [as_document(row, f"{singular} {i}") for i, row in enumerate(rows)]


def as_lengths(lengths: object, name: str = "lengths", *, at_least: int = 1) -> np.ndarray:
    """Return lengths [N] as int64, each at least `at_least`.

    >>> as_lengths([4, 3]).tolist()
    [4, 3]
    """
    values = _as_array(lengths, name)
    if values.ndim != 1:
        raise ValueError(f"{name} must be one flat list, got shape {tuple(values.shape)}.")
    if values.size == 0:
        raise ValueError(f"{name} is empty: pass the length of at least one document.")
    if values.min() < at_least:
        where = int(np.argmax(values < at_least))
        raise ValueError(
            f"{name}[{where}] is {int(values[where])}, but a length must be at least {at_least}. "
            "Remove empty documents first."
        )
    return values


def as_prompt_lengths(prompt_lengths: object, lengths: np.ndarray) -> np.ndarray:
    """Return prompt lengths [N], each from 0 to the length of its document.

    >>> as_prompt_lengths([2, 0], np.array([3, 1])).tolist()
    [2, 0]
    """
    values = as_lengths(prompt_lengths, "prompt_lengths", at_least=0)
    if len(values) != len(lengths):
        raise ValueError(
            f"prompt_lengths has {len(values)} entries for {len(lengths)} documents. "
            "Give one for each document, 0 where there is no prompt."
        )
    if (values > lengths).any():
        i = int(np.argmax(values > lengths))
        raise ValueError(
            f"prompt_lengths[{i}] is {values[i]}, longer than document {i} ({lengths[i]} tokens). "
            "A prompt is counted inside its document."
        )
    return values


def as_rows(value: object, name: str, *, ndim: tuple[int, ...] = (2,)) -> Tensor:
    """Return anybody's rows (tensor, array, nested lists) as an int64 tensor of `ndim` axes.

    >>> as_rows([[1, 2], [3, 4]], "input_ids").tolist()
    [[1, 2], [3, 4]]
    """
    rows = torch.as_tensor(_as_array(value, name))
    if rows.ndim not in ndim:
        axes = " or ".join(map(str, ndim))
        raise ValueError(f"{name} must have {axes} axes, got shape {tuple(rows.shape)}.")
    if rows.numel() == 0:
        raise ValueError(f"{name} has no elements (shape {tuple(rows.shape)}).")
    return rows


def _as_array(value: object, name: str) -> np.ndarray:
    """Return `value` as an int64 array; an empty one may come in any dtype."""
    kind = ""
    if isinstance(value, Tensor):
        kind = str(value.dtype).removeprefix("torch.")
        if value.dtype == torch.bfloat16:  # numpy has none
            value = value.float()
        try:
            value = value.detach().cpu().numpy()
        except (TypeError, RuntimeError) as error:  # sparse, or without data
            raise TypeError(f"{name} is no dense tensor of numbers: {error}") from error
    try:
        values = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{name} is ragged: its rows differ in length. Pad them to one length first."
        ) from error
    if values.size == 0:
        return values.astype(np.int64)
    if values.dtype.kind in "US":
        raise TypeError(f"{name} holds text ({value!r:.60}), not whole numbers.")
    if values.dtype == object:
        raise TypeError(f"{name} must hold whole numbers of at most 64 bits, got {value!r:.60}.")
    if values.dtype == bool or not np.issubdtype(values.dtype, np.integer):
        raise TypeError(
            f"{name} must hold whole numbers, got {kind or values.dtype} "
            f"({values.flat[0].item()!r}, …). "
            "Convert them to an integer type, for instance with .astype('int64') or .long()."
        )
    if values.dtype == np.uint64 and values.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} holds {values.max()}, more than int64 can: {2**63 - 1}.")
    return values.astype(np.int64)
