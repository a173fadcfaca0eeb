"""Every parameter of a small model as a cell, grouped by the part that holds it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from torch import nn

from course_lib.figures.canvas import SMALL, Canvas, text_width
from course_lib.figures.style import color
from course_lib.figures.wording import table

MOST = 2_000
CELL = 0.2
"""Edge of the cell of one parameter, in cells of other figures."""
WIDTH = 10.2
_KINDS = {"embedding": "doc0", "norm": "doc4", "attention": "doc1", "swiglu": "doc2"}


@dataclass(frozen=True)
class Part:
    """One part of a model: its name and the shapes of its tensors as they are drawn."""

    name: str
    shapes: list[tuple[int, ...]]
    count: int

    @property
    def words(self) -> str:
        """Its shapes and count, e.g. "7×4 + 7 = 35"."""
        shapes = " + ".join("×".join(map(str, shape)) for shape in self.shapes)
        return f"{shapes} = {self.count}"

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """(rows, columns) of each tensor as drawn: the longer axis lies, a vector stands or lies
        beside its matrix."""
        drawn = []
        for shape in self.shapes:
            low, high = sorted(shape) if len(shape) == 2 else (1, shape[0])
            drawn.append((low, high))
        return drawn

    @property
    def width(self) -> float:
        """Room for its blocks and for its words, in cells."""
        cells = sum(columns for _, columns in self.blocks) + len(self.blocks) - 1
        return max(cells * CELL, text_width(self.name, SMALL), text_width(self.words, SMALL))


def parameter_blocks(model: nn.Module, *, ax: Axes | None = None) -> Axes:
    """Draw each number that training can change as one small cell, part by part.

    A matrix is drawn with its longer axis lying, whatever way it is stored. Raises ValueError for a
    model of more than 2,000 parameters.

    >>> from course_lib.decoder import TinyDecoder
    >>> ax = parameter_blocks(TinyDecoder())
    >>> sum(len(p.get_path().codes) // 5 for p in ax.patches if p.get_label() != "border")
    423
    """
    parts = model_parts(model)
    places, height = _flow(parts)
    sheet = Canvas(WIDTH, height + 0.1, ax)
    for part, (x, y) in zip(parts, places, strict=True):
        sheet.text(x, y + 0.25, part.name, size=SMALL, align="left")
        sheet.text(x, y + 0.7, part.words, "muted", size=SMALL, align="left")
        role = next((r for word, r in _KINDS.items() if word in part.name.rsplit(".")[0]), "doc3")
        if "norm" in part.name:
            role = _KINDS["norm"]
        for block in part.blocks:
            _draw_block(sheet, x, y + 1.0, block, role, part.name)
            x += (block[1] + 1) * CELL
    return sheet.ax


def parameter_blocks_text(model: nn.Module) -> str:
    """Say what `parameter_blocks` draws, one line for each part.

    >>> from course_lib.decoder import TinyDecoder
    >>> print(parameter_blocks_text(TinyDecoder()).splitlines()[0])
    423 parameters in 11 parts
    """
    parts = model_parts(model)
    total = sum(part.count for part in parts)
    lines = [(part.name, *part.words.split(" = ")) for part in parts]
    return f"{total:,} parameters in {len(parts)} parts\n{table(lines, left=[0, 1])}"


def model_parts(model: nn.Module) -> list[Part]:
    """Return the parts of a model that hold parameters of their own, in order."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a model (torch.nn.Module), got {type(model).__name__}.")
    total = sum(p.numel() for p in model.parameters())
    if not 0 < total <= MOST:
        raise ValueError(f"{total:,} parameters cannot be drawn one by one; at most {MOST:,} are.")
    parts = []
    for name, module in model.named_modules():
        own = list(module.parameters(recurse=False))
        if own:
            shapes = [tuple(p.shape) for p in own]
            short = name.removeprefix("blocks.0.") if not _several(model) else name
            parts.append(Part(short or "model", shapes, sum(p.numel() for p in own)))
    return parts


def _several(model: nn.Module) -> bool:
    return len(getattr(model, "blocks", [0])) > 1


def _flow(parts: list[Part]) -> tuple[list[tuple[float, float]], float]:
    """Return where each part begins, filling lines from left to right, and the height of all."""
    places, x, y, line = [], 0.1, 0.1, 0.0
    for part in parts:
        if x > 0.1 and x + part.width > WIDTH - 0.1:
            x, y, line = 0.1, y + line, 0.0
        places.append((x, y))
        x += part.width + 0.7
        line = max(line, 1.45 + max(rows for rows, _ in part.blocks) * CELL)
    return places, y + line


def _draw_block(
    sheet: Canvas, x: float, y: float, block: tuple[int, int], role: str, label: str
) -> None:
    """Draw all cells of one tensor as one path."""
    points, codes = [], []
    for row, column in product(range(block[0]), range(block[1])):
        left, top = x + column * CELL, y + row * CELL
        right, bottom = left + CELL, top + CELL
        points += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        codes += [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    cells = PathPatch(
        Path(points, codes), facecolor=color(role), edgecolor=color("edge"), label=label,
        linewidth=0.018 * sheet.points,
    )  # fmt: skip
    cells.set_clip_on(False)
    sheet.ax.add_patch(cells)
