"""Attention as a grid of cells: queries in rows, keys in columns, the value in each cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from course_lib.figures.canvas import SMALL, Canvas, mark_symbol, text_width
from course_lib.figures.wording import number, slot_label, table

Labels = Sequence[object] | Tensor | None
Marks = Mapping[tuple[int, int], str] | None
MOST = 32


def attention_mask(
    mask: Tensor, rows: Labels = None, columns: Labels = None, *, marks: Marks = None,
    title: str = "mask", ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw a boolean mask [Q, K] as cells: a filled 1 where the query may attend to the key.

    `rows` [Q] and `columns` [K]: token ids or words beside the cells (`columns=None`: the same).
    A key padding mask [1, K] is one row that holds for every query. `marks` {(query, key): text}
    frames cells. Raises ValueError for shapes that do not fit, TypeError for a mask of numbers.

    >>> ax = attention_mask(torch.tensor([[True, False], [True, True]]), [1, 2])
    >>> [t.get_text() for t in ax.texts if t.get_text() in "01"]
    ['0', '1', '1', '0', '1', '1']
    """
    cells, rows, columns = _checked(mask, rows, columns, torch.bool)
    left, top = _margins(cells, rows, columns)
    sheet = Canvas(left + cells.shape[1] + 0.3, top + len(cells) + 0.3, ax)
    _grid(sheet, left, top, cells, rows, columns, _mask_cell)
    _draw_marks(sheet, left, top, _marks_in(marks, cells))
    return sheet.ax


def attention_mask_text(
    mask: Tensor, rows: Labels = None, columns: Labels = None, *, marks: Marks = None,
    title: str = "mask",
) -> str:  # fmt: skip
    """Say what `attention_mask` draws, one line for each query.

    >>> print(attention_mask_text(torch.tensor([[True, False], [True, True]]), [1, 2]))
    mask: 2 queries × 2 keys, 3 of 4 cells allowed
    query  key 0  1
    0 a        1  0
    1 b        1  1
    """
    cells, rows, columns = _checked(mask, rows, columns, torch.bool)
    head = f"{title}: {_size(cells)}, {int(cells.sum())} of {cells.size} cells allowed"
    return "\n".join([head, _grid_text(cells.astype(int), rows, columns, marks, str)])


def attention_weights(
    weights: Tensor, labels: Labels = None, *, marks: Marks = None, title: str = "weights",
    digits: int = 2, ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw attention weights [Q, K] as numbers in cells, darker where larger; NaN is marked.

    `labels` [K]: token ids or words on both axes. `marks` {(query, key): text} frames cells.

    >>> ax = attention_weights(torch.tensor([[1.0, 0.0], [0.25, 0.75]]))
    >>> ax.texts[-1].get_text()
    '0.75'
    """
    cells, rows, columns = _checked(weights, labels, None, torch.float32)
    left, top = _margins(cells, rows, columns)
    sheet = Canvas(left + cells.shape[1] + 0.3, top + len(cells) + 0.3, ax)
    _grid(sheet, left, top, cells, rows, columns, _weight_cell(digits))
    _draw_marks(sheet, left, top, _marks_in(marks, cells))
    return sheet.ax


def attention_weights_text(
    weights: Tensor, labels: Labels = None, *, marks: Marks = None, title: str = "weights",
    digits: int = 2,
) -> str:  # fmt: skip
    """Say what `attention_weights` draws, one line for each query.

    >>> print(attention_weights_text(torch.tensor([[1.0, 0.0], [0.25, 0.75]]), [1, 2]))
    weights: 2 queries × 2 keys
    query  key 0     1
    0 a     1.00     0
    1 b     0.25  0.75
    """
    cells, rows, columns = _checked(weights, labels, None, torch.float32)
    body = _grid_text(cells, rows, columns, marks, lambda w: _weight(w, digits))
    return f"{title}: {_size(cells)}\n{body}"


def _checked(
    value: Tensor, rows: Labels, columns: Labels, kind: torch.dtype
) -> tuple[np.ndarray, list[object], list[object]]:
    """Return the cells [Q, K] and one label for each row and column."""
    tensor = torch.as_tensor(value).detach().cpu()
    while tensor.ndim > 2 and tensor.shape[0] == 1:
        tensor = tensor[0]
    if tensor.ndim != 2 or tensor.numel() == 0:
        raise ValueError(
            f"a grid shows [Q, K], got shape {tuple(torch.as_tensor(value).shape)}. "
            "Pick one row of the batch (and one head): mask[0]."
        )
    if max(tensor.shape) > MOST:
        raise ValueError(
            f"{tuple(tensor.shape)} cells cannot be read; at most {MOST} × {MOST} are drawn. "
            "Show a part: mask[:8, :8]."
        )
    if (tensor.dtype == torch.bool) != (kind == torch.bool):
        wanted = (
            "a boolean mask (mask == 0 of an additive one)" if kind == torch.bool else "numbers"
        )
        raise TypeError(f"this figure shows {wanted}, got {tensor.dtype}.")
    queries, keys = tensor.shape
    if columns is None and rows is not None and len(rows) == keys:
        columns = rows
    if queries == 1 and keys > 1 and (rows is None or len(rows) != 1):
        rows = ["every query"]
    return tensor.numpy(), _labels(rows, queries, "rows"), _labels(columns, keys, "columns")


def _labels(labels: Labels, count: int, name: str) -> list[object]:
    if labels is None:
        return [None] * count
    values = labels.flatten().tolist() if isinstance(labels, Tensor) else list(labels)
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} labels for {count} {name} of cells.")
    return values


def _size(cells: np.ndarray) -> str:
    queries, keys = cells.shape
    return f"{queries} {'query' if queries == 1 else 'queries'} × {keys} keys"


def _beside(slot: int, label: object, count: int) -> str:
    return str(label) if count == 1 and label is not None else slot_label(slot, label)


def _over(labels: list[object]) -> list[str]:
    return [slot_label(k, label).partition(" ")[2] for k, label in enumerate(labels)]


def _turned(columns: list[object]) -> bool:
    return max(map(len, _over(columns))) > 4


def _margins(cells: np.ndarray, rows: list[object], columns: list[object]) -> tuple[float, float]:
    """Return the room for labels left of the cells and above them."""
    beside = [_beside(q, label, len(rows)) for q, label in enumerate(rows)]
    left = max(text_width(words, SMALL) for words in [*beside, "query"]) + 0.35
    names = _over(columns)
    if _turned(columns):
        return left, 1.05 + max(text_width(words, SMALL) for words in names)
    return left, 1.55 if any(names) else 1.1


def _grid(
    sheet: Canvas, x: float, y: float, cells: np.ndarray, rows: list[object],
    columns: list[object], draw: Callable[..., None],
) -> None:  # fmt: skip
    """Draw the cells with their upper left corner at (x, y), and the labels around them."""
    queries, keys = cells.shape
    names, turned = _over(columns), _turned(columns)
    above = y - (0.25 if not any(names) else 0.75)
    number_y = y - max(text_width(n, SMALL) for n in names) - 0.4 if turned else above
    sheet.text(x + keys / 2, number_y - 0.5, "key", "muted", size=SMALL)
    sheet.text(x - 0.15, number_y, "query", "muted", size=SMALL, align="right")
    for k in range(keys):
        sheet.text(x + k + 0.5, number_y, str(k), "muted", size=SMALL)
        if names[k]:
            below = y - (0.12 if turned else 0.28)
            sheet.text(x + k + 0.5, below, names[k], size=SMALL, turned=turned,
                       align="left" if turned else "center")  # fmt: skip
    for q in range(queries):
        words = _beside(q, rows[q], queries)
        sheet.text(x - 0.15, y + q + 0.5, words, size=SMALL, align="right")
        for k in range(keys):
            draw(sheet, x + k, y + q, cells[q, k], f"{q},{k}")


def _mask_cell(sheet: Canvas, x: float, y: float, value: bool, label: str) -> None:
    if value:
        sheet.cell(x, y, "1", "on", ink="on_ink", label=label)
    else:
        sheet.cell(x, y, "0", "off", ink="muted", label=label)


def _weight_cell(digits: int) -> Callable[..., None]:
    def draw(sheet: Canvas, x: float, y: float, value: float, label: str) -> None:
        words = _weight(value, digits)
        if np.isnan(value):
            sheet.cell(x, y, words, "bad_fill", label=label)
        elif value == 0:
            sheet.cell(x, y, words, "off", ink="muted", label=label)
        else:
            shade = float(min(1.0, abs(value)))
            sheet.cell(x, y, words, "weight", label=label, shade=shade, size=0.33)

    return draw


def _weight(value: float, digits: int) -> str:
    """Return a weight in words: an exact 0 (no attention at all) is told from a rounded one."""
    return "0" if value == 0 else number(float(value), digits)


def _marks_in(marks: Marks, cells: np.ndarray) -> dict[tuple[int, int], str]:
    """Return the marks, refusing those outside the grid."""
    for q, k in marks or {}:
        if not (0 <= q < cells.shape[0] and 0 <= k < cells.shape[1]):
            raise ValueError(f"mark ({q}, {k}) lies outside the grid of {_size(cells)}.")
    return dict(marks or {})


def _draw_marks(sheet: Canvas, x: float, y: float, marks: dict[tuple[int, int], str]) -> None:
    for (q, k), words in marks.items():
        sheet.flag(x + k, y + q, mark_symbol(words))


def _grid_text(
    cells: np.ndarray, rows: list[object], columns: list[object], marks: Marks,
    write: Callable[..., str],
) -> str:  # fmt: skip
    found = _marks_in(marks, cells)
    queries, keys = cells.shape
    lines = [["query", *(f"key {k}" if k == 0 else str(k) for k in range(keys))]]
    for q in range(queries):
        flags = [mark_symbol(found[q, k]) if (q, k) in found else "" for k in range(keys)]
        body = [write(value) + flag for value, flag in zip(cells[q], flags, strict=True)]
        lines.append([_beside(q, rows[q], queries), *body])
    parts = [table(lines, left=[0])]
    if columns != rows and any(label is not None for label in columns):
        parts.append("keys: " + ", ".join(slot_label(k, c) for k, c in enumerate(columns)))
    for (q, k), words in found.items():
        parts.append(f"{mark_symbol(words)} query {q}, key {k}: {words}")
    return "\n".join(parts)
