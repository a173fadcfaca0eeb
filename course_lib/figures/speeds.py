"""How much faster each way of training is than padding, beside the two bounds of what it saves."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from course_lib.figures.canvas import SMALL, Canvas, text_width
from course_lib.figures.wording import table

if TYPE_CHECKING:
    from course_lib.bench import Report, Row

BAR = 6.0
"""Length of the longest bar or bound, in cells."""
LINE = 0.72
FILLS = ("on", "doc0", "doc1", "doc2", "doc3", "doc4")


def speed_bars(report: Report, *, ax: Axes | None = None) -> Axes:
    """Draw the speed-up of each way over `padded` as a bar, one group for each context.

    A thick tick stands at the bound of the slots, a dashed one at the bound of the attention area.

    >>> from course_lib.bench import Measurement, Report
    >>> one = Measurement("padded", 8, 4, 8, 36, (1.0,), 1.0, 2.0)
    >>> ax = speed_bars(Report("m", "cpu", "float32", "c", {}, 1, (one,), (), {}))
    >>> [t.get_text() for t in ax.texts]
    ['rows of 8 slots', 'padded', '1.0×']
    """
    groups = _groups(report)
    rows = [row for group in groups for row in group]
    longest = max(max(r.speedup, r.slot_bound, r.area_bound) for r in rows)
    left = max(text_width(row.way, SMALL) for row in rows) + 0.35
    height = sum(len(g) * LINE + 1.0 for g in groups)
    sheet = Canvas(left + BAR + 1.7, height + 0.1, ax)
    order = list(dict.fromkeys(row.way for row in rows))
    unit, y = BAR / longest, 0.1
    for group in groups:
        sheet.text(0.1, y + 0.35, f"rows of {group[0].context:,} slots", size=SMALL, align="left",
                   bold=True)  # fmt: skip
        y += 0.75
        for row in group:
            _draw(sheet, row, left, y, unit, FILLS[order.index(row.way) % len(FILLS)])
            y += LINE
        y += 0.25
    return sheet.ax


def speed_bars_text(report: Report) -> str:
    """Say what `speed_bars` draws, a line for each bar: speed-up, and both bounds.

    >>> from course_lib.bench import Measurement, Report
    >>> one = Measurement("padded", 8, 4, 8, 36, (1.0,), 1.0, 2.0)
    >>> print(speed_bars_text(Report("m", "cpu", "float32", "c", {}, 1, (one,), (), {})))
    real tokens in a second, as a multiple of padded
    slots  way     speed-up  by slots  by area
        8  padded      1.0×      1.0×     1.0×
    """
    lines = [("slots", "way", "speed-up", "by slots", "by area")]
    for group in _groups(report):
        for r in group:
            values = (f"{v:.1f}×" for v in (r.speedup, r.slot_bound, r.area_bound))
            lines.append((f"{r.context:,}", r.way, *values))
    return "real tokens in a second, as a multiple of padded\n" + table(lines, left=[1])


def _groups(report: Report) -> list[list[Row]]:
    """Return the rows of the report by context."""
    rows = list(report.rows())
    if not rows:
        raise ValueError("the report holds no measurement, so there is nothing to draw.")
    return [list(group) for _, group in groupby(rows, key=lambda row: row.context)]


def _draw(sheet: Canvas, row: Row, left: float, y: float, unit: float, fill: str) -> None:
    bar = row.speedup * unit
    sheet.text(left - 0.15, y + 0.28, row.way, size=SMALL, align="right")
    sheet.cell(left, y, "", fill, width=bar, height=0.5, label=row.way)
    if row.slot_bound > 1 or row.area_bound > 1:
        for bound, dashed, name in (
            (row.slot_bound, False, "slots"), (row.area_bound, True, "area"),
        ):  # fmt: skip
            x = left + bound * unit
            sheet.line((x, x), (y - 0.08, y + 0.58), "edge", width=0.07, dashed=dashed, label=name)
    sheet.text(left + BAR + 0.25, y + 0.28, f"{row.speedup:.1f}×", size=SMALL, align="left")
