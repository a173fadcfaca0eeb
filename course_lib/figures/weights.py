"""How much each query attends to each key: numbers in a grid of cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from course_lib.figures.canvas import SMALL, Canvas
from course_lib.figures.grids import Grid, Labels, Marks
from course_lib.figures.wording import number


def attention_weights(
    weights: Tensor, labels: Labels = None, *, marks: Marks = None, title: str = "",
    digits: int = 2, ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw attention weights [Q, K] as numbers in cells, darker where larger; NaN is coloured.

    `labels` [K]: token ids or words on both axes. `marks` {(query, key): text} frames cells.

    >>> ax = attention_weights(torch.tensor([[1.0, 0.0], [0.25, 0.75]]))
    >>> ax.texts[-1].get_text()
    '0.75'
    """
    grid = _weights(weights, labels, title, marks)
    sheet = Canvas(grid.width, grid.height, ax)
    grid.draw(sheet, _weight_cell(digits))
    return sheet.ax


def attention_weights_text(
    weights: Tensor, labels: Labels = None, *, marks: Marks = None, title: str = "",
    digits: int = 2,
) -> str:  # fmt: skip
    """Say what `attention_weights` draws, one line for each query.

    >>> print(attention_weights_text(torch.tensor([[1.0, 0.0], [0.25, 0.75]]), [1, 2]))
    weights: 2 queries × 2 keys
    query  key 0     1
    0 a     1.00     0
    1 b     0.25  0.75
    """
    grid = _weights(weights, labels, title, marks)
    return f"{title or 'weights'}: {grid.size}\n{grid.text(lambda v: _weight(v, digits))}"


def _weights(weights: Tensor, labels: Labels, title: str, marks: Marks) -> Grid:
    kind = torch.as_tensor(weights).dtype
    if not kind.is_floating_point:
        raise TypeError(f"weights must be numbers of a floating type, got {kind}.")
    return Grid.of(torch.as_tensor(weights).float(), labels, None, title, marks)


def _weight_cell(digits: int) -> Callable[..., None]:
    def draw(sheet: Canvas, x: float, y: float, value: float, label: str) -> None:
        words = _weight(value, digits)
        if np.isnan(value):
            sheet.cell(x, y, words, "bad_fill", label=label)
        elif value == 0:
            sheet.cell(x, y, words, "off", ink="muted", label=label)
        else:
            shade = float(min(1.0, abs(value)))
            sheet.cell(x, y, words, "weight", label=label, shade=shade, size=SMALL)

    return draw


def _weight(value: float, digits: int) -> str:
    """Return a weight in words; an exact 0 (no attention at all) is told from a rounded one."""
    return "0" if value == 0 else number(float(value), digits)
