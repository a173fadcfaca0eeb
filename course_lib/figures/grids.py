"""A grid of cells [queries, keys] with labels, title and marks, for `masks` and `weights`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from course_lib.figures.canvas import SMALL, Canvas, mark_symbol, text_width
from course_lib.figures.wording import slot_label, table

Labels = Sequence[object] | Tensor | None
Marks = Mapping[tuple[int, int], str] | None
MOST = 32
EVERY = "every query"
MARGIN = 0.15


@dataclass(frozen=True)
class Grid:
    """Cells [Q, K], a label (or None) for each row and column, a title, marks by (query, key)."""

    cells: np.ndarray
    rows: list[object]
    columns: list[object]
    title: str
    marks: dict[tuple[int, int], str]

    @classmethod
    def of(cls, value: Tensor, rows: Labels, columns: Labels, title: str, marks: Marks) -> Grid:
        """Return the grid of anybody's tensor; refuse what cannot be read or does not fit.

        One row of cells for several keys is taken as the same for every query.
        """
        cells = _two_axes(value)
        queries, keys = cells.shape
        if columns is None and rows is not None and len(rows) == keys:
            columns = rows
        if queries == 1 and keys > 1 and (rows is None or len(rows) != 1):
            rows = [EVERY]
        for q, k in marks or {}:
            if not (0 <= q < queries and 0 <= k < keys):
                raise ValueError(f"mark ({q}, {k}) lies outside the grid of {queries} × {keys}.")
        sides = _labels(rows, queries, "rows"), _labels(columns, keys, "columns")
        return cls(cells, *sides, title, dict(marks or {}))

    @property
    def size(self) -> str:
        """Its size in words."""
        queries, keys = self.cells.shape
        return f"{queries} {'query' if queries == 1 else 'queries'} × {keys} keys"

    @property
    def left(self) -> float:
        """Room for the labels beside the cells."""
        return max(text_width(words, SMALL) for words in [*self._beside, "query"]) + 0.25

    @property
    def top(self) -> float:
        """Room for title, axis name and labels above the cells."""
        title = 0.9 if self.title else 0
        if self._turned:
            return title + 1.1 + max(text_width(name, SMALL) for name in self._over)
        return title + (1.55 if any(self._over) else 1.1)

    @property
    def width(self) -> float:
        """All of it: labels, cells (or a longer title) and a margin."""
        title = self.left + text_width(self.title, SMALL) * 1.1
        return max(self.left + self.cells.shape[1] + MARGIN, title)

    @property
    def height(self) -> float:
        """All of it: labels, cells and a margin."""
        return self.top + len(self.cells) + MARGIN

    @property
    def _beside(self) -> list[str]:
        if self.rows == [EVERY]:
            return [EVERY]
        return [slot_label(q, label) for q, label in enumerate(self.rows)]

    @property
    def _over(self) -> list[str]:
        return [slot_label(k, label).partition(" ")[2] for k, label in enumerate(self.columns)]

    @property
    def _turned(self) -> bool:
        return max(map(len, self._over)) > 4

    def draw(self, sheet: Canvas, write: Callable[..., None], x: float = 0, y: float = 0) -> None:
        """Draw it with its upper left corner at (x, y); `write` draws one cell."""
        x, y = x + self.left, y + self.top
        queries, keys = self.cells.shape
        self._draw_head(sheet, x, y)
        for q in range(queries):
            sheet.text(x - 0.15, y + q + 0.5, self._beside[q], size=SMALL, align="right")
            for k in range(keys):
                write(sheet, x + k, y + q, self.cells[q, k], f"{q},{k}")
        for (q, k), words in self.marks.items():
            sheet.flag(x + k, y + q, mark_symbol(words))

    def _draw_head(self, sheet: Canvas, x: float, y: float) -> None:
        names, keys = self._over, self.cells.shape[1]
        numbers = y - (0.75 if any(names) else 0.25)
        if self._turned:
            numbers = y - max(text_width(name, SMALL) for name in names) - 0.42
        sheet.text(x + keys / 2, numbers - 0.5, "key", "muted", size=SMALL)
        sheet.text(x - 0.15, numbers, "query", "muted", size=SMALL, align="right")
        if self.title:
            sheet.text(x, numbers - 1.25, self.title, size=SMALL, align="left", bold=True)
        for k, name in enumerate(names):
            sheet.text(x + k + 0.5, numbers, str(k), "muted", size=SMALL)
            if name and self._turned:
                sheet.text(x + k + 0.5, y - 0.12, name, size=SMALL, turned=True, align="left")
            elif name:
                sheet.text(x + k + 0.5, y - 0.28, name, size=SMALL)

    def text(self, write: Callable[..., str]) -> str:
        """Return one line for each query, then the keys' names if they differ, then the marks."""
        keys = self.cells.shape[1]
        lines = [["query", *(f"key {k}" if k == 0 else str(k) for k in range(keys))]]
        for q, name in enumerate(self._beside):
            flags = [
                mark_symbol(self.marks[q, k]) if (q, k) in self.marks else "" for k in range(keys)
            ]
            words = [write(v) + flag for v, flag in zip(self.cells[q], flags, strict=True)]
            lines.append([name, *words])
        parts = [table(lines, left=[0])]
        if self.columns != self.rows and any(label is not None for label in self.columns):
            named = (slot_label(k, label) for k, label in enumerate(self.columns))
            parts.append("keys: " + ", ".join(named))
        for (q, k), words in self.marks.items():
            parts.append(f"{mark_symbol(words)} query {q}, key {k}: {words}")
        return "\n".join(parts)


def _two_axes(value: Tensor) -> np.ndarray:
    """Return [Q, K] of a tensor whose other axes have length 1."""
    tensor = torch.as_tensor(value).detach().cpu()
    shape = tuple(tensor.shape)
    while tensor.ndim > 2 and tensor.shape[0] == 1:
        tensor = tensor[0]
    if tensor.ndim != 2 or tensor.numel() == 0:
        raise ValueError(
            f"a grid shows [Q, K], got shape {shape}. Pick one row of the batch (and one head): "
            "mask[0]."
        )
    if max(tensor.shape) > MOST:
        raise ValueError(
            f"{shape} cells cannot be read; at most {MOST} × {MOST} are drawn. "
            "Show a part: mask[:8, :8]."
        )
    return tensor.numpy()


def _labels(labels: Labels, count: int, name: str) -> list[object]:
    if labels is None:
        return [None] * count
    values = labels.flatten().tolist() if isinstance(labels, Tensor) else list(labels)
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} labels for {count} {name} of cells.")
    return values
