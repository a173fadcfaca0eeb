"""Every parameter of a small model as a cell with its number in it, or with another number for it.

`parameters` draws how many there are; here stands what each of them is: a weight, or what belongs
to that weight, such as its gradient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from torch import Tensor, nn

from course_lib.figures.canvas import SMALL, Canvas, text_width
from course_lib.figures.parameters import model_parts
from course_lib.figures.style import color
from course_lib.figures.wording import number, plural, table

WIDE, HIGH, DIGITS = 0.8, 0.5, 0.25
"""Width and height of a cell and the height of its number, in cells of other figures."""
WIDTH, GAP, HEAD, BETWEEN = 13.7, 0.6, 1.45, 0.12
LEVELS = 5
"""Shades between 0 and the largest number of a tensor."""
Names = Mapping[str, Sequence[str]] | None
Values = Mapping[str, Tensor] | None


@dataclass(frozen=True)
class Piece:
    """One part of the model: a line of words, a name for each column, and the tensors' numbers,
    the longer axis lying, [rows, columns] each."""

    name: str
    words: str
    columns: list[str]
    grids: list[np.ndarray]

    @property
    def height(self) -> float:
        """Room for the words, the tensors and the gaps between them."""
        rows = sum(len(grid) for grid in self.grids)
        return HEAD + rows * HIGH + (len(self.grids) - 1) * BETWEEN

    @property
    def width(self) -> float:
        """Room for the cells and for the words over them."""
        columns = max(grid.shape[1] for grid in self.grids)
        return max(columns * WIDE, text_width(f"{self.name}  {self.words}", SMALL))


def parameter_values(
    model: nn.Module, values: Values = None, names: Names = None, *, title: str = "",
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw each number that training can change as a cell that holds it, part by part.

    Blue is above zero and orange below, deeper where larger in its tensor; an exact 0 is empty but
    for its digit. `values` {name of a tensor: another tensor of its shape} shows something else for
    each parameter, a gradient say; `names` {part: a word for each column} names columns. The longer
    axis of a matrix lies, and a bias is the line under it. Raises ValueError for values that do not
    fit, and for a model of more than 2,000 parameters.

    >>> from torch import nn
    >>> ax = parameter_values(nn.Linear(2, 1))
    >>> sum(t.get_label() == "number" for t in ax.texts)
    3
    """
    pieces = _pieces(model, values, names)
    places, height = _flow(pieces)
    top = 0.6 if title else 0.0
    sheet = Canvas(WIDTH, height + top, ax)
    if title:
        sheet.text(0.1, 0.45, title, size=SMALL, align="left", bold=True)
    for piece, (x, y) in zip(pieces, places, strict=True):
        _draw(sheet, piece, x, y + top)
    return sheet.ax


def parameter_values_text(
    model: nn.Module, values: Values = None, names: Names = None, *, title: str = ""
) -> str:
    """Say what `parameter_values` draws: each part with all of its numbers.

    >>> from torch import nn
    >>> print(parameter_values_text(nn.Linear(2, 1)).splitlines()[1])
    model  1×2 + 1 = 3
    """
    pieces = _pieces(model, values, names)
    every = np.concatenate([grid.ravel() for piece in pieces for grid in piece.grids])
    zeros = int((every == 0).sum())
    head = f"{plural(every.size, 'number')} in {plural(len(pieces), 'part')}, {zeros} of them zero"
    lines = [f"{title}: {head}" if title else head]
    for piece in pieces:
        lines.append(f"{piece.name}  {piece.words}")
        rows = [[_word(value) for value in row] for grid in piece.grids for row in grid]
        widest = max(map(len, rows))
        filled = [[*row, *[""] * (widest - len(row))] for row in [piece.columns, *rows]]
        lines.append(table(filled))
    return "\n".join(lines)


def _pieces(model: nn.Module, values: Values, names: Names) -> list[Piece]:
    parts = model_parts(model)
    own = dict(model.named_parameters())
    shown = own if values is None else _fitting(own, values)
    arrays = [shown[name].detach().double().cpu().numpy() for name in own]
    pieces = []
    for part in parts:
        grids = [_lying(arrays.pop(0)) for _ in part.shapes]
        count = grids[0].shape[1]
        words = list((names or {}).get(part.name, map(str, range(count))))
        if len(words) != count:
            raise ValueError(f"{part.name} has {count} columns, but {len(words)} names for them.")
        pieces.append(Piece(part.name, part.words, words, grids))
    return pieces


def _fitting(own: dict[str, nn.Parameter], values: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    for name, parameter in own.items():
        shape = tuple(values[name].shape) if name in values else None
        if shape != tuple(parameter.shape):
            raise ValueError(
                f"values[{name!r}] must have the shape {tuple(parameter.shape)}, got {shape}. "
                "Give one tensor for each of model.named_parameters()."
            )
    return values


def _lying(array: np.ndarray) -> np.ndarray:
    """Return [rows, columns] with at least as many columns as rows; a square one is turned, too, so
    that the bias of a linear layer stands under its outputs."""
    grid = np.atleast_2d(array)
    return grid.T if len(grid) >= grid.shape[1] else grid


def _flow(pieces: list[Piece]) -> tuple[list[tuple[float, float]], float]:
    """Return where each piece begins, filling lines from left to right, and the height of all."""
    places, x, y, line = [], 0.1, 0.0, 0.0
    for piece in pieces:
        if x > 0.1 and x + piece.width > WIDTH - 0.1:
            x, y, line = 0.1, y + line, 0.0
        places.append((x, y))
        x += piece.width + GAP
        line = max(line, piece.height)
    return places, y + line + 0.1


def _draw(sheet: Canvas, piece: Piece, x: float, y: float) -> None:
    sheet.text(x, y + 0.65, f"{piece.name}  {piece.words}", size=SMALL, align="left")
    for k, name in enumerate(piece.columns):
        fitting = WIDE * 0.94 / text_width(name, 1)
        middle = x + (k + 0.5) * WIDE
        sheet.text(middle, y + 1.12, name, "muted", size=min(DIGITS, fitting))
    y += HEAD - 0.15
    for grid in piece.grids:
        largest = float(np.abs(grid).max())
        for sign, role in ((1, "weight"), (-1, "doc1")):
            step = np.ceil(sign * grid / largest * LEVELS) if largest else np.zeros(grid.shape)
            for level in range(1, LEVELS + 1):
                _boxes(sheet, x, y, step == level, role, level / LEVELS)
        _boxes(sheet, x, y, np.full(grid.shape, True), piece.name, None)
        for (row, column), value in np.ndenumerate(grid):
            role = "ink" if value else "muted"
            place = x + (column + 0.5) * WIDE, y + (row + 0.5) * HIGH
            sheet.text(*place, _word(value), role, size=DIGITS).set_label("number")
        y += len(grid) * HIGH + BETWEEN


def _boxes(
    sheet: Canvas, x: float, y: float, chosen: np.ndarray, role: str, shade: float | None
) -> None:
    """Draw the chosen cells of one tensor as one path: filled, or (`shade` None) their borders."""
    points, codes = [], []
    for row, column in np.argwhere(chosen):
        left, top = x + column * WIDE, y + row * HIGH
        right, bottom = left + WIDE, top + HIGH
        points += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        codes += [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    if not points:
        return
    look = {"facecolor": "none", "edgecolor": color("line"), "linewidth": 0.02 * sheet.points}
    if shade:
        look = {"facecolor": color(role), "edgecolor": "none", "alpha": shade}
    cells = PathPatch(Path(points, codes), label=role, **look)
    cells.set_clip_on(False)
    sheet.ax.add_patch(cells)


def _word(value: float) -> str:
    """Return a number with two decimals; an exact 0 is told from a rounded one."""
    return "0" if value == 0 else number(float(value), 2)
