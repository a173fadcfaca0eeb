"""Comparisons beside their goals: each bar ends left of the line where its goal is missed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from course_lib.figures.canvas import SMALL, Canvas

if TYPE_CHECKING:
    from course_lib.bench import Comparison, Comparisons

WIDTH, GOAL_AT = 12.0, 2.6
"""Width of the sheet, and where the line of the goals stands, in cells."""
DECADE = 4.2
"""Cells for a factor of ten."""
LINE = 1.15


def goal_bars(comparisons: Comparisons, *, ax: Axes | None = None) -> Axes:
    """Draw every comparison that has a goal: how far beyond it, or short of it, on a log scale.

    The thick line is the goal of each. A bar that is hatched ends before it: the goal is missed.

    >>> from course_lib.bench import Comparison, Comparisons
    >>> one = Comparison("pack", "TRL", 1.0, 50.0, 50.0, goal=40)
    >>> ax = goal_bars(Comparisons("m", "c", "d", {}, (one,), {}))
    >>> [t.get_text() for t in ax.texts]
    ['pack', '50 times as fast as TRL; goal ≥ 40: met']
    """
    lines = _with_goals(comparisons)
    sheet = Canvas(WIDTH, len(lines) * LINE * 1.35 + 0.3, ax)
    for i, line in enumerate(lines):
        y = 0.15 + i * LINE * 1.35
        sheet.text(0.1, y + 0.2, line.what, size=SMALL, align="left", bold=True)
        sheet.text(0.1, y + 0.64, f"{line.sentence}; {line.verdict}", "ink" if line.met else "bad",
                   size=SMALL * 0.92, align="left")  # fmt: skip
        end = min(WIDTH - 0.2, max(0.25, GOAL_AT + DECADE * math.log10(_beyond(line))))
        sheet.cell(0.1, y + 0.92, "", "doc2" if line.met else "doc3", width=end - 0.1, height=0.32,
                   hatched=not line.met, label=line.what)  # fmt: skip
        sheet.line((GOAL_AT, GOAL_AT), (y + 0.84, y + 1.32), "edge", width=0.09, label="goal")
    return sheet.ax


def goal_bars_text(comparisons: Comparisons) -> str:
    """Say what `goal_bars` draws: two lines for each comparison, and how many goals are met.

    >>> from course_lib.bench import Comparison, Comparisons
    >>> one = Comparison("pack", "TRL", 1.0, 50.0, 50.0, goal=40)
    >>> print(goal_bars_text(Comparisons("m", "c", "d", {}, (one,), {})))
    1 of 1 goals met
    pack
      50 times as fast as TRL; goal ≥ 40: met
    """
    lines = _with_goals(comparisons)
    met = sum(bool(line.met) for line in lines)
    body = [f"{line.what}\n  {line.sentence}; {line.verdict}" for line in lines]
    return "\n".join([f"{met} of {len(lines)} goals met", *body])


def _with_goals(comparisons: Comparisons) -> list[Comparison]:
    lines = [line for line in comparisons if line.goal is not None]
    if not lines:
        raise ValueError("none of the comparisons has a goal, so there is nothing to draw.")
    return lines


def _beyond(line: Comparison) -> float:
    """How many times better than its goal."""
    ratio = line.ratio / line.goal
    return ratio if line.sense == "faster" else 1 / max(ratio, 1e-9)
