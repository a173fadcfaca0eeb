"""Who may attend to whom: boolean masks as a grid of cells, alone or several beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from course_lib.figures.canvas import Canvas
from course_lib.figures.grids import Grid, Labels, Marks

SIGN = 0.9
"""Room for a sign between two masks, in cells."""


def attention_mask(
    mask: Tensor, rows: Labels = None, columns: Labels = None, *, marks: Marks = None,
    title: str = "", ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw a boolean mask [Q, K] as cells: a filled 1 where the query may attend to the key.

    `rows` [Q] and `columns` [K]: token ids or words beside the cells (`columns=None`: the same).
    A key padding mask [1, K] is one row that holds for every query. `marks` {(query, key): text}
    frames cells. Raises ValueError for shapes that do not fit, TypeError for a mask of numbers.

    >>> ax = attention_mask(torch.tensor([[True, False], [True, True]]), [1, 2])
    >>> [t.get_text() for t in ax.texts if t.get_text() in "01"]
    ['0', '1', '1', '0', '1', '1']
    """
    grid = _mask(mask, rows, columns, title, marks)
    sheet = Canvas(grid.width, grid.height, ax)
    grid.draw(sheet, _mask_cell)
    return sheet.ax


def attention_mask_text(
    mask: Tensor, rows: Labels = None, columns: Labels = None, *, marks: Marks = None,
    title: str = "",
) -> str:  # fmt: skip
    """Say what `attention_mask` draws, one line for each query.

    >>> print(attention_mask_text(torch.tensor([[True, False], [True, True]]), [1, 2]))
    mask: 2 queries × 2 keys, 3 of 4 True
    query  key 0  1
    0 a        1  0
    1 b        1  1
    """
    grid = _mask(mask, rows, columns, title, marks)
    allowed = f"{int(grid.cells.sum())} of {grid.cells.size} True"
    return f"{title or 'mask'}: {grid.size}, {allowed}\n{grid.text(lambda v: str(int(v)))}"


def masks_side_by_side(
    masks: Mapping[str, Tensor], rows: Labels = None, columns: Labels = None, *,
    signs: Sequence[str] = ("&", "="), ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw several masks {name: [Q, K]} beside each other with a sign between each two.

    Raises ValueError if there is not one sign fewer than masks.

    >>> one = torch.tensor([[True]])
    >>> ax = masks_side_by_side({"causal": one, "keys": one, "both": one})
    >>> [t.get_text() for t in ax.texts if t.get_text() in "&="]
    ['&', '=']
    """
    grids = _masks(masks, rows, columns, signs)
    height = max(grid.height for grid in grids)
    sheet = Canvas(sum(g.width for g in grids) + SIGN * len(signs), height, ax)
    middle = max(grid.top + len(grid.cells) / 2 for grid in grids)
    x = 0.0
    for i, grid in enumerate(grids):
        if i:
            sheet.text(x + SIGN / 2, middle, signs[i - 1], "muted", size=0.6)
            x += SIGN
        grid.draw(sheet, _mask_cell, x, middle - grid.top - len(grid.cells) / 2)
        x += grid.width
    return sheet.ax


def masks_side_by_side_text(
    masks: Mapping[str, Tensor], rows: Labels = None, columns: Labels = None, *,
    signs: Sequence[str] = ("&", "="),
) -> str:  # fmt: skip
    """Say what `masks_side_by_side` draws, one mask under the other.

    >>> one = torch.tensor([[True]])
    >>> masks_side_by_side_text({"a": one, "b": one}, signs=["is"]).splitlines()[0]
    'a is b'
    """
    _masks(masks, rows, columns, signs)
    names = list(masks)
    head = " ".join(word for pair in zip(names, [*signs, ""], strict=True) for word in pair)
    each = (attention_mask_text(m, rows, columns, title=name) for name, m in masks.items())
    return "\n\n".join([head.strip(), *each])


def masks_side_by_side_panels(
    masks: Mapping[str, Tensor], rows: Labels = None, columns: Labels = None, *,
    signs: Sequence[str] = ("&", "="),
) -> list[tuple[str, Axes]]:  # fmt: skip
    """Return the same as separate figures (sign before it, axes), to stand in a column on a phone.

    >>> one = torch.tensor([[True]])
    >>> [sign for sign, _ in masks_side_by_side_panels({"a": one, "b": one}, signs=["="])]
    ['', '=']
    """
    _masks(masks, rows, columns, signs)
    each = (attention_mask(mask, rows, columns, title=name) for name, mask in masks.items())
    return list(zip(["", *signs], each, strict=True))


def _mask(mask: Tensor, rows: Labels, columns: Labels, title: str, marks: Marks) -> Grid:
    kind = torch.as_tensor(mask).dtype
    if kind != torch.bool:
        raise TypeError(
            f"a mask must be boolean (True = may attend), got {kind}. "
            "An additive mask becomes one with mask == 0; numbers are drawn by attention_weights."
        )
    return Grid.of(mask, rows, columns, title, marks)


def _masks(
    masks: Mapping[str, Tensor], rows: Labels, columns: Labels, signs: Sequence[str]
) -> list[Grid]:
    if len(signs) != len(masks) - 1:
        raise ValueError(f"{len(masks)} masks have {len(masks) - 1} gaps, got {len(signs)} signs.")
    return [_mask(mask, rows, columns, name, None) for name, mask in masks.items()]


def _mask_cell(sheet: Canvas, x: float, y: float, value: bool, label: str) -> None:
    if value:
        sheet.cell(x, y, "1", "on", ink="on_ink", label=label)
    else:
        sheet.cell(x, y, "0", "off", ink="muted", label=label)
