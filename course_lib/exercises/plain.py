"""Answers become plain data: what a check compares is never the learner's own object.

Tensors and arrays become `Array`, whole and broken numbers become int and float, iterators and
whatever else holds things in order become lists. What no check can use becomes `Opaque`, of which
only the name of its type is kept. So a comparison runs no code of the learner, and the same data
can cross a process border.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set, ValuesView
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

MOST_ITEMS = 1_000_000
"""An iterator is followed so far and no further."""


@dataclass(frozen=True, eq=False)
class Array:
    """Numbers in a rectangle: `values`, and what they were, such as "torch.int64".

    >>> plain(torch.tensor([1, 2])).source
    'torch.int64'
    """

    values: np.ndarray
    source: str

    @property
    def kind(self) -> str:
        """One of "bool", "int", "float", or the numpy kind of anything else."""
        return {"b": "bool", "i": "int", "u": "int", "f": "float"}.get(
            self.values.dtype.kind, self.values.dtype.name
        )


@dataclass(frozen=True)
class Opaque:
    """A value that no check can use; `type` is the name of its class."""

    type: str


def plain(value: Any) -> Any:
    """Return `value` as plain data; never raises for an odd type.

    >>> plain((np.int64(3), range(2), {1: True}))
    (3, [0, 1], {1: True})
    """
    if value is None or value is Ellipsis or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Fraction | Decimal):
        return _float(value)
    return _container(value)


def _array(value: np.ndarray) -> Any:
    """Return an array as an `Array`; one of objects or texts as the list of what it holds."""
    if value.dtype.kind in "OU" and value.ndim:
        return plain(value.tolist())
    return Array(np.array(value), f"numpy {value.dtype}")


def _float(value: Fraction | Decimal) -> float | Opaque:
    try:
        return float(value)
    except (ValueError, OverflowError):  # a signalling NaN, or no float is as large
        return Opaque(type(value).__name__)


def _tensor(value: Tensor) -> Array | Opaque:
    """Return a tensor as an `Array`; sparse and nested ones are not followed."""
    if value.layout != torch.strided:
        return Opaque(f"{value.layout} tensor")
    dense = value.detach().cpu()
    wide = dense.double() if dense.dtype.is_floating_point else dense
    return Array(np.array(wide.numpy()), str(value.dtype))


def _container(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    bytes_alike = isinstance(value, bytes | bytearray | memoryview)
    if isinstance(value, Sequence | Iterator | Set | ValuesView) and not bytes_alike:
        return [plain(item) for item in itertools.islice(value, MOST_ITEMS)]
    return Opaque(type(value).__name__)


def _key(key: Any) -> Any:
    key = plain(key)
    return key if isinstance(key, str | int | float | bool) else str(type(key).__name__)


def unfinished(value: Any) -> bool:
    """True where an Ellipsis or None still stands anywhere in plain data.

    >>> unfinished({"targets": 3, "padding": ...})
    True
    """
    if isinstance(value, dict):
        return any(unfinished(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(unfinished(item) for item in value)
    return value is None or value is Ellipsis


def type_name(value: Any) -> str:
    """Return what a learner calls it: "a list", "a tensor (torch.int64)", "a number (3.5)".

    >>> type_name(plain([1, 2])), type_name(plain(torch.tensor([1])))
    ('a list', 'a torch.int64 tensor of shape [1]')
    """
    if isinstance(value, Array):
        shape = list(value.values.shape)
        if value.source.startswith("torch."):
            return f"a {value.source} tensor of shape {shape}"
        return f"a {value.source} array of shape {shape}"
    if isinstance(value, Opaque):
        return f"an object of type {value.type}"
    names = {bool: "a truth value", int: "a whole number", float: "a float", str: "a text"}
    names |= {list: "a list", tuple: "a tuple", dict: "a dict"}
    return names.get(type(value), "nothing (None)" if value is None else type(value).__name__)


def kind_name(value: Any) -> str:
    """Return what an argument is, with what it holds: "a list of int", "a tuple of list of int".

    >>> kind_name([[1], [2]]), kind_name(True)
    ('a list of list of int', 'a bool')
    """
    if isinstance(value, Tensor | np.ndarray):
        return type_name(plain(value))
    article = "an" if type(value).__name__[0] in "aeiou" else "a"
    return f"{article} {_nested_name(value)}"


def _nested_name(value: Any) -> str:
    name = "tensor" if isinstance(value, Tensor) else type(value).__name__
    if not isinstance(value, list | tuple):
        return name
    held = list(dict.fromkeys(_nested_name(item) for item in value))
    return f"{name} of {' and '.join(held)}" if held else f"empty {name}"
