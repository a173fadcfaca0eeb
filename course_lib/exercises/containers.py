"""Forms of answers made of parts: places, rows, dicts and tuples. See `forms`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.exercises.forms import Difference, Form, bad, scalar_of
from course_lib.exercises.plain import Array, Opaque, type_name


@dataclass(frozen=True)
class Places:
    """A list of places (or pairs) in any order, each a tuple of whole numbers."""

    name: str
    axes: tuple[str, ...]

    def compare(self, expected: Any, got: Any) -> Difference | None:
        shape = f"({', '.join(self.axes)})"
        if not isinstance(got, Array | list | tuple):
            return bad(
                f"{self.name} must be a list of {shape}; you gave {type_name(got)}"
            )
        items = listed(got)
        if not isinstance(items, list | tuple):
            return bad(f"{self.name} must be a list of {shape}; you gave one number, {items}")
        found: list[tuple[int, ...]] = []
        for item in items:
            pair = _pair(item, len(self.axes))
            if pair is None:
                shown = repr(item) if not isinstance(item, Array | Opaque) else type_name(item)
                return bad(f"{self.name} must be a list of {shape}; it holds {shown}")
            found.append(pair)
        if len(set(found)) < len(found):
            twice = next(p for p in found if found.count(p) > 1)
            return bad(f"{self.name} names {twice} more than once")
        return self._missing(sorted({tuple(p) for p in expected} ^ set(found)), found)

    def _missing(self, odd: list, found: list) -> Difference | None:
        if not odd:
            return None
        has = odd[0] in found
        return Difference(
            f"{self.name}: {odd[0]}, that is ({', '.join(self.axes)})",
            expected="not in the list" if has else "in the list",
            got="in the list" if has else "not in the list",
            index=odd[0],
            name=self.name,
        )


@dataclass(frozen=True)
class Rows:
    """A list of rows of whole numbers that may differ in length; their order counts."""

    name: str

    def compare(self, expected: Any, got: Any) -> Difference | None:
        given = listed(got)
        if not isinstance(given, list | tuple):
            return bad(f"{self.name} must be a list of lists; you gave {type_name(got)}")
        rows = []
        for i, row in enumerate(map(listed, given)):
            held = [scalar_of(n) for n in row] if isinstance(row, list | tuple) else [None]
            if any(type(n) is not int for n in held):
                return bad(f"row {i} of {self.name} must be a list of whole numbers: {row}")
            rows.append(held)
        for i, wanted in enumerate(expected):
            mine = rows[i] if i < len(rows) else None
            if mine != list(wanted):
                return Difference(
                    f"{self.name}: row {i}",
                    str(list(wanted)),
                    "no such row" if mine is None else str(mine),
                    (i,),
                )
        if len(rows) != len(expected):
            return Difference(f"number of rows of {self.name}", str(len(expected)), str(len(rows)))
        return None


@dataclass(frozen=True)
class Fields:
    """A dict with exactly these keys."""

    fields: Mapping[Any, Form]

    def compare(self, expected: Any, got: Any) -> Difference | None:
        keys = ", ".join(map(repr, self.fields))
        if not isinstance(got, dict):
            return bad(f"the answer must be a dict with {keys}; you gave {type_name(got)}")
        missing = [key for key in self.fields if key not in got]
        extra = [key for key in got if key not in self.fields]
        if missing:
            return bad(f"the dict has no {missing[0]!r}; it needs {keys}")
        if extra:
            return bad(f"the dict has {extra[0]!r}, which nobody asked for; it needs {keys}")
        for key, form in self.fields.items():
            found = form.compare(expected[key], got[key])
            if found is not None:
                return found
        return None


@dataclass(frozen=True)
class Items:
    """A tuple (or list, or one array) of exactly these things, in this order."""

    items: Sequence[Form]
    names: tuple[str, ...]

    def compare(self, expected: Any, got: Any) -> Difference | None:
        names = ", ".join(self.names)
        if isinstance(got, Array) and got.values.ndim == np.ndim(_first(expected)) + 1:
            got = parts(got)
        if not isinstance(got, list | tuple):
            return bad(
                f"the answer must be {len(self.names)} things, {names}; you gave {type_name(got)}"
            )
        if len(got) != len(self.names):
            return bad(
                f"the answer must be {len(self.names)} things, {names}; you gave {len(got)}"
            )
        for form, wanted, mine in zip(self.items, expected, got, strict=True):
            found = form.compare(wanted, mine)
            if found is not None:
                return found
        return None


def _first(expected: Any) -> Any:
    return expected[0].values if isinstance(expected[0], Array) else expected[0]


def parts(value: Any) -> Any:
    """Return plain data of the form `Items` as its parts: an array is cut along its first axis.

    >>> len(parts(Array(np.zeros((2, 3)), "numpy float64")))
    2
    """
    if isinstance(value, Array) and value.values.ndim:
        return [Array(np.asarray(part), value.source) for part in value.values]
    return value


def listed(value: Any) -> Any:
    """Return an array as nested lists (as one number where it has no axis), all else as it is.

    >>> listed(Array(np.zeros(2, dtype=int), "numpy int64"))
    [0, 0]
    """
    return value.values.tolist() if isinstance(value, Array) else value


def places(value: Any, shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Return plain data of the form `Places` as tuples; what lies outside of `shape` is left out.

    >>> places([[0, 1], (2, 3)], (1, 2))
    [(0, 1)]
    """
    items = listed(value)
    found = [_pair(item, len(shape)) for item in items]
    return [
        place
        for place in found
        if place is not None and all(i in range(n) for i, n in zip(place, shape, strict=True))
    ]


def _pair(item: Any, size: int) -> tuple[int, ...] | None:
    values = item.values.reshape(-1).tolist() if isinstance(item, Array) else item
    if not isinstance(values, list | tuple) or len(values) != size:
        return None
    values = [scalar_of(v) for v in values]
    return tuple(values) if all(type(v) is int for v in values) else None
