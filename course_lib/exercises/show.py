"""Texts of a check: inputs, and the expected and the given side drawn beside each other.

Everything is plain text in lines of at most 60 characters, the width of a listing, and the same on
every run.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.exercises.forms import Difference
from course_lib.exercises.plain import Array, plain

WIDTH = 60
_WINDOW = 12


def inputs(names: Sequence[str], args: Sequence[Any]) -> list[str]:
    """Return one line for each argument.

    >>> inputs(["lengths", "total"], [[2, 1], 4])
    ['  lengths = [2, 1]', '  total = 4']
    """
    pairs = [f"  {n} = {text(plain(arg))}" for n, arg in zip(names, args, strict=True)]
    return [line for pair in pairs for line in wrap(pair, "      ")]


def text(value: Any, limit: int = 200) -> str:
    """Return plain data as text; what is longer than `limit` is told by its shape.

    >>> text(plain(np.array([[True, False]])))
    '[[1, 0]]'
    """
    if isinstance(value, Array):
        numbers = value.values.astype(int) if value.kind == "bool" else value.values
        full = _nested(numbers.tolist())
        if len(full) <= limit and not (value.kind == "float" and value.values.ndim > 2):
            return full
        return f"{value.kind} values of shape {list(value.values.shape)}"
    full = _nested(value)
    return full if len(full) <= limit else full[: limit - 1] + "…"


def _nested(value: Any) -> str:
    if isinstance(value, Array):
        return text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_nested(item) for item in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(_nested(item) for item in value) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_nested(v)}" for k, v in value.items()) + "}"
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def wrap(sentence: str, indent: str = "") -> list[str]:
    """Return a sentence in lines of at most `WIDTH` characters."""
    return textwrap.wrap(
        sentence, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop, if it has none.

    >>> sentence("a loop never ends"), sentence("Why?")
    ('A loop never ends.', 'Why?')
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "`")) else ".")


def difference(found: Difference, place: bool, both: bool) -> list[str]:
    """Return the lines that show a difference.

    With `place` the expected value at the first place is told; with `both` the expected side is
    drawn beside the learner's, else theirs alone.
    """
    lines = []
    if found.expected and found.got:
        shown = f"expected {found.expected}, got {found.got}" if place else f"got {found.got}"
        lines.append(f"  {shown}")
    if found.grids is not None:
        drawn = _draw(*found.grids, found.index, both)
        lines += ["", *drawn] if drawn else []
    return lines


def _draw(
    wanted: np.ndarray, got: np.ndarray, index: tuple[int, ...], both: bool
) -> list[str]:
    """Draw around the place of the difference; `!` marks each cell that differs."""
    if wanted.dtype.kind == "f" and wanted.ndim == 3:
        return []
    for i in index[:-2]:
        wanted, got = wanted[i], got[i]
    if wanted.ndim == 1:
        wanted, got = wanted[None], got[None]
    row = index[-2] if len(index) > 1 else 0
    rows, columns = _window(row, wanted.shape[0]), _window(index[-1], wanted.shape[1])
    same = _same(wanted, got)
    left = _grid(wanted, np.ones_like(same), rows, columns)
    right = _grid(got, same, rows, columns)
    if not both:
        return ["  " + line for line in ["yours (! = differs)", *right]]
    left, right = ["expected", *left], ["got (! = differs)", *right]
    width = max(map(len, left)) + 3
    if width + max(map(len, right)) + 2 > WIDTH:
        return ["  " + line for line in [*left, "", *right]]
    return [f"  {a:<{width}}{b}".rstrip() for a, b in zip(left, right, strict=True)]


def _same(wanted: np.ndarray, got: np.ndarray) -> np.ndarray:
    if wanted.dtype.kind == "f":
        return np.isclose(wanted, got, rtol=1e-5, atol=1e-5)
    return wanted == got


def _window(centre: int, size: int) -> range:
    if size <= _WINDOW:
        return range(size)
    start = min(max(0, centre - _WINDOW // 2), size - _WINDOW)
    return range(start, start + _WINDOW)


def _grid(values: np.ndarray, same: np.ndarray, rows: range, columns: range) -> list[str]:
    """Return a grid with its indices; a True cell is `1`, a False one `.`."""
    cells = [[_cell(values[r, c]) for c in columns] for r in rows]
    width = max(len(str(columns[-1])), *(len(cell) for row in cells for cell in row))
    edge = len(str(rows[-1])) if values.shape[0] > 1 else 0
    lines = [" " * edge + "".join(f" {c:>{width}} " for c in columns).rstrip()]
    for r, row in zip(rows, cells, strict=True):
        head = f"{r:>{edge}}" if edge else ""
        marks = [" " if same[r, c] else "!" for c in columns]
        body = "".join(f" {cell:>{width}}{m}" for cell, m in zip(row, marks, strict=True))
        lines.append((head + body).rstrip())
    return lines


def _cell(value: Any) -> str:
    if isinstance(value, np.bool_):
        return "1" if value else "."
    return f"{value:.4g}" if isinstance(value, np.floating) else str(value)
