"""Cells, lines and words on a matplotlib `Axes`, in units of one cell, y downwards.

Nothing here needs an id in an SVG (no clip paths, no hatch patterns, no markers), so that any
number of figures can stand on one page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text

from course_lib.figures.style import color

CELL_PX = 34
"""Edge of a cell on a page at full size, in CSS pixels (96 to the inch)."""
VALUE, SMALL = 0.37, 0.32
"""Height of the letters in cells, and of axis names, in cells."""
_WIDE, _GLYPH = 0.84, 0.6
"""Width of "<" and ">", and of an average character, as a part of the height."""


class Canvas:
    """A sheet of `width` × `height` cells on `ax`; with `ax=None` on a new figure that fits it."""

    def __init__(self, width: float, height: float, ax: Axes | None = None) -> None:
        if ax is None:
            inch = CELL_PX / 96
            figure = Figure(figsize=(width * inch, height * inch), dpi=96, facecolor=color("card"))
            ax = figure.add_axes((0, 0, 1, 1))
        self.ax, self.width, self.height = ax, width, height
        ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
        ax.set_axis_off()
        box = ax.get_position(original=True)
        inches = ax.figure.get_size_inches()
        fits = min(box.width * inches[0] / width, box.height * inches[1] / height)
        self.points = fits * 72  # of one cell

    def text(
        self, x: float, y: float, words: str, role: str = "ink", *, size: float = VALUE,
        align: str = "center", bold: bool = False, turned: bool = False,
    ) -> Text:  # fmt: skip
        """Write `words` at (x, y); `align` says which end of them is there."""
        return self.ax.text(
            x, y, words, color=color(role), fontsize=size * self.points, parse_math=False,
            ha=align, va="center" if turned else "center_baseline", rotation=90 if turned else 0,
            rotation_mode="anchor",
            fontweight="bold" if bold else "normal",
        )  # fmt: skip

    def cell(
        self, x: float, y: float, words: str = "", fill: str = "off", *, ink: str | None = None,
        width: float = 1, height: float = 1, hatched: bool = False, label: str = "",
        shade: float | None = None, size: float = VALUE,
    ) -> Rectangle:  # fmt: skip
        """Draw a cell whose upper left corner is (x, y); `shade` is the opacity of its fill."""
        box = Rectangle((x, y), width, height, facecolor=color(fill), edgecolor="none", label=label)
        box.set_alpha(shade)
        self._add(box)
        if hatched:
            self.hatch(x, y, width, height, "hatch" if fill == "ignored" else "muted")
        border = {"facecolor": "none", "edgecolor": color("line"), "linewidth": 0.03 * self.points}
        self._add(Rectangle((x, y), width, height, **border, label="border"))
        if words:
            fitting = width * 0.94 / text_width(words, 1)
            role = ink or ("ignored_ink" if fill == "ignored" else "ink")
            self.text(x + width / 2, y + height / 2, words, role, size=min(size, fitting))
        return box

    def hatch(self, x: float, y: float, width: float, height: float, role: str = "hatch") -> None:
        """Fill a rectangle with diagonal lines, all of them one path; denser under a word."""
        ends = list(_diagonals(x, y, width, height, 0.2 if role == "hatch" else 0.3))
        codes = [Path.MOVETO, Path.LINETO] * (len(ends) // 2)
        self._add(
            PathPatch(
                Path(ends, codes), facecolor="none", edgecolor=color(role), label="hatch",
                linewidth=(0.045 if role == "hatch" else 0.02) * self.points,
            )
        )  # fmt: skip

    def line(
        self, xs: tuple[float, ...], ys: tuple[float, ...], role: str = "edge", *,
        width: float = 0.08, dashed: bool = False, label: str = "",
    ) -> None:  # fmt: skip
        """Draw a line through the points; `width` in cells."""
        (artist,) = self.ax.plot(
            xs, ys, color=color(role), linewidth=width * self.points, clip_on=False,
            solid_capstyle="butt", linestyle=(0, (2.2, 1.6)) if dashed else "-",
            label=label or "line", scalex=False, scaley=False,
        )  # fmt: skip
        artist.set_in_layout(False)

    def bar(
        self, x: float, y: float, length: float, fill: str, parts: int, label: str, *,
        hatched: bool,
    ) -> None:  # fmt: skip
        """Draw a bar of `parts` equal cells; nothing for a length of 0."""
        for i in range(parts if length else 0):
            part = length / parts
            self.cell(x + i * part, y, "", fill, width=part, height=0.8, label=f"{label} {i}",
                      hatched=hatched)  # fmt: skip

    def outline(self, x: float, y: float, role: str, *, width: float = 1, height: float = 1,
                label: str = "mark") -> None:  # fmt: skip
        """Draw a thick frame just inside a cell."""
        inset = 0.06
        self._add(
            Rectangle(
                (x + inset, y + inset), width - 2 * inset, height - 2 * inset, facecolor="none",
                edgecolor=color(role), linewidth=0.09 * self.points, label=label,
            )
        )  # fmt: skip

    def flag(self, x: float, y: float, symbol: str, *, width: float = 1, height: float = 1) -> None:
        """Mark a cell as faulty: a thick frame, and a badge on its upper right corner."""
        self.outline(x, y, "bad", width=width, height=height)
        edge = 0.36
        left, top = x + width - edge + 0.08, y - 0.08
        self._add(Rectangle((left, top), edge, edge, facecolor=color("bad"), edgecolor="none",
                            label="badge", zorder=4))  # fmt: skip
        words = self.text(left + edge / 2, top + edge / 2, symbol, "card", size=0.3, bold=True)
        words.set_zorder(5)

    def arrow(
        self, start: tuple[float, float], end: tuple[float, float], role: str = "ink", *,
        dashed: bool = False, label: str = "",
    ) -> FancyArrowPatch:  # fmt: skip
        """Draw an arrow from `start` to `end`."""
        arrow = FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=0.36 * self.points, color=color(role),
            linewidth=0.05 * self.points, shrinkA=0, shrinkB=0, label=label,
            linestyle=(0, (2.2, 1.6)) if dashed else "-",
        )  # fmt: skip
        return self._add(arrow)

    def cross(self, x: float, y: float, role: str = "muted", size: float = 0.16) -> None:
        """Draw an × around (x, y)."""
        for sign in (1, -1):
            self.line((x - size, x + size), (y - sign * size, y + sign * size), role, label="cross")

    def _add(self, artist):
        artist.set_clip_on(False)
        artist.set_in_layout(False)
        return (
            self.ax.add_artist(artist)
            if not isinstance(artist, Rectangle | PathPatch)
            else (self.ax.add_patch(artist))
        )


def text_width(words: str, size: float = VALUE) -> float:
    """Return about how many cells `words` take."""
    return size * sum(_WIDE if letter in "<>" else _GLYPH for letter in words)


def mark_symbol(words: str) -> str:
    """Return what a mark shows in the figure itself: the words if they are short, else "!".

    >>> mark_symbol("?"), mark_symbol("sees another document")
    ('?', '!')
    """
    return words if 0 < len(words) <= 2 else "!"


def _diagonals(
    x: float, y: float, width: float, height: float, step: float
) -> Iterator[tuple[float, float]]:
    """Yield both ends of each line x + y = constant inside a rectangle."""
    for k in range(1, math.ceil((width + height) / step)):
        d = k * step
        if d < width + height:
            yield (x + min(d, width), y + max(0.0, d - width))
            yield (x + max(0.0, d - height), y + min(d, height))
