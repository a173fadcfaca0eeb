"""What an answer must look like, and the first place where it differs from what is expected.

A form compares two pieces of plain data. It answers None where they agree, else a `Difference` in
the learner's terms: wrong type first, then shape, then dtype, then the first value that differs.
No form prints anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np

from course_lib.exercises.plain import Array, type_name


@dataclass(frozen=True)
class Difference:
    """Where an answer leaves what is expected.

    - problem   a sentence without the expected value ("mask: query 3, key 0")
    - expected, got  texts of the two values there, empty where the problem says it all
    - index     the place, () for a single value
    - grids     both sides for drawing, or None
    - name      what the grids show
    - malformed it is the type, shape or dtype that is wrong, not a value
    """

    problem: str
    expected: str = ""
    got: str = ""
    index: tuple[int, ...] = ()
    grids: tuple[np.ndarray, np.ndarray] | None = field(default=None, compare=False)
    name: str = ""
    malformed: bool = False


def bad(problem: str, expected: str = "", got: str = "") -> Difference:
    """Return a difference of type, shape or dtype.

    >>> bad("no list").malformed
    True
    """
    return Difference(problem, expected, got, malformed=True)


class Form(Protocol):
    """What `returns` of an exercise is."""

    def compare(self, expected: Any, got: Any) -> Difference | None:
        """Return the first difference, None where there is none."""


@dataclass(frozen=True)
class Numbers:
    """A rectangle of numbers: a tensor, an array or nested lists.

    - kind       "int", "float" or "bool"
    - axes       what an index counts, one name for each axis
    - dtype      where it matters, "int32": plain lists are refused then
    - tensor     whether nothing but a tensor or array will do
    - digits     whether 0 and 1 pass for truth values, and truth values for 0 and 1
    """

    name: str
    kind: str
    axes: tuple[str, ...]
    dtype: str = ""
    tensor: bool = False
    digits: bool = False
    tolerance: float = 1e-5

    def compare(self, expected: Any, got: Any) -> Difference | None:
        wanted = as_array(expected).values
        if (self.tensor or self.dtype) and not isinstance(got, Array):
            what = f"{self.dtype} tensor or array" if self.dtype else "tensor or array"
            return bad(f"{self.name} must be a {what}; you gave {type_name(got)}")
        if not isinstance(got, Array | list | tuple):
            return bad(f"{self.name} must be {self._what()}; you gave {type_name(got)}")
        found = as_array(got)
        if found is None:
            return bad(f"{self.name} is ragged or holds something that is no number: {got}")
        return (
            self._kind(found) or self._shape(wanted, found.values) or self._values(wanted, found)
        )

    def _what(self) -> str:
        things = {"int": "whole numbers", "float": "numbers", "bool": "truth values"}[self.kind]
        return f"{things} for each " + " and ".join(self.axes)

    def _kind(self, found: Array) -> Difference | None:
        kind, values = found.kind, found.values
        if values.size == 0:
            return None
        if self.dtype and values.dtype.name != self.dtype:
            return bad(f"{self.name} must be {self.dtype}; yours is {found.source}")
        allowed = {self.kind} | ({"int"} if self.kind == "float" else set())
        if self.digits and (kind == "bool" or kind == "int" and np.isin(values, (0, 1)).all()):
            return None
        if kind not in allowed:
            return bad(
                f"dtype: {self.name} must be {self._what()}; yours holds {found.source} "
                f"({values.flat[0]!s}, …)"
            )
        return None

    def _shape(self, wanted: np.ndarray, found: np.ndarray) -> Difference | None:
        if wanted.shape == found.shape:
            return None
        return bad(
            f"shape of {self.name} (axes: {', '.join(self.axes)})",
            expected=str(list(wanted.shape)),
            got=str(list(found.shape)),
        )

    def _values(self, wanted: np.ndarray, found: Array) -> Difference | None:
        values = found.values.astype(wanted.dtype)
        same = values == wanted
        if self.kind == "float":
            same = np.isclose(values, wanted, rtol=self.tolerance, atol=self.tolerance)
        if same.all():
            return None
        index = tuple(int(i) for i in np.argwhere(~same)[0])
        place = ", ".join(f"{a} {i}" for a, i in zip(self.axes, index, strict=True))
        return Difference(
            f"{self.name}: {place}",
            expected=scalar(wanted[index]),
            got=scalar(values[index]),
            index=index,
            grids=(wanted, values),
            name=self.name,
        )


@dataclass(frozen=True)
class One:
    """A single value: "int", "float", "bool" or one of `words`."""

    name: str
    kind: str = "int"
    words: tuple[str, ...] = ()
    tolerance: float = 1e-5

    def compare(self, expected: Any, got: Any) -> Difference | None:
        found = got
        if isinstance(got, Array) and got.values.size == 1:
            found = got.values.reshape(-1)[0].item()
        names = {int: "int", float: "float", bool: "bool", str: "word"}
        kind = names.get(type(found), "other")
        wanted = {"int": "a whole number", "float": "one number", "bool": "True or False"}
        if self.kind == "word":
            if found not in self.words:
                options = ", ".join(map(repr, self.words))
                shown = repr(found) if kind == "word" else type_name(got)
                return bad(f"{self.name} must be one of {options}; you gave {shown}")
        elif kind != self.kind and not (self.kind == "float" and kind == "int"):
            return bad(
                f"{self.name} must be {wanted[self.kind]}; you gave {type_name(got)}"
                + (f", {found!r}" if kind != "other" else "")
            )
        if self.kind == "float":
            right = scalar_of(expected)
            near = abs(found - right) <= self.tolerance * max(1.0, abs(right))
            same = near or math.isnan(right) and math.isnan(found)
        else:
            same = found == scalar_of(expected)
        if same:
            return None
        return Difference(
            self.name, scalar(scalar_of(expected)), scalar(found), name=self.name
        )


def as_array(value: Any) -> Array | None:
    """Return plain data as an `Array`; None for ragged or mixed lists.

    >>> as_array([[1, 2], [3, 4]]).values.shape
    (2, 2)
    """
    if isinstance(value, Array):
        return value
    try:
        values = np.array(_lists(value))
    except (ValueError, TypeError, OverflowError):
        return None
    if values.dtype.kind not in "biuf":
        return None
    return Array(values, f"a list of {values.dtype.name}")


def alike(one: Any, other: Any) -> bool:
    """Whether two pieces of plain data hold the same numbers in the same places, of any type.

    >>> alike([1, [2, 3]], (1.0, [2, 3])), alike([1], [1, 2])
    (True, False)
    """
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    arrays = [array for array in (as_array(one), as_array(other)) if array and _numeric(array)]
    if len(arrays) < 2:
        return False
    first, second = (array.values for array in arrays)
    return first.shape == second.shape and np.allclose(first, second, rtol=1e-5, atol=1e-5)


def _numeric(array: Array) -> bool:
    return array.kind in ("bool", "int", "float")


def numbers(value: Any) -> np.ndarray:
    """Return plain data of a right form as an array.

    >>> numbers([1, 2]).tolist()
    [1, 2]
    """
    return cast(Array, as_array(value)).values


def scalar(value: Any) -> str:
    """Return a single value as text; floats with six digits.

    >>> scalar(np.float64(1.5)), scalar(np.True_)
    ('1.5', 'True')
    """
    if isinstance(value, np.generic):
        value = value.item()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def scalar_of(value: Any) -> Any:
    """Return the only number of plain data."""
    return value.values.reshape(-1)[0].item() if isinstance(value, Array) else value


def _lists(value: Any) -> Any:
    if isinstance(value, Array):
        return value.values.tolist()
    if isinstance(value, list | tuple):
        return [_lists(item) for item in value]
    return value
