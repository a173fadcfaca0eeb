"""Loss curves: one line for each run, with the floors that no run can go below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from course_lib.figures.canvas import SMALL, Canvas, text_width
from course_lib.figures.style import CURVES
from course_lib.figures.wording import number, table
from course_lib.inputs import as_int

PLOT = (6.4, 5.0)
"""Width and height of the plotted area, in cells."""
DASHES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (5, 1.4, 1.2, 1.4)), (0, (2.5, 1)), (0, (8, 2)))
LINE = 0.48
"""Distance of two lines of words, in cells."""


def loss_curves(
    losses: Mapping[str, Any], floors: Mapping[str, float] | None = None, *, smooth: int = 25,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw the losses {run: [steps]} in nats, each the running mean of `smooth` steps.

    A value may be a `History` (its token means are taken). `floors` {name: value} are drawn as thin
    lines across. Names stand at the ends of their lines. Raises ValueError for a run without steps.

    >>> ax = loss_curves({"right": [2.0, 1.0, 0.5]}, smooth=1)
    >>> [line.get_label() for line in ax.lines if line.get_label() == "right"]
    ['right']
    """
    runs = _runs(losses, smooth)
    names = [*runs, *(floors or {})]
    left, width = 1.35, max(text_width(name, SMALL) for name in names) + 1.0
    sheet = Canvas(left + PLOT[0] + width, PLOT[1] + 1.75, ax)
    steps = max(len(values) for values in runs.values())
    highest = _highest(runs, floors)
    frame = _Frame(sheet, left, 0.5, max(1, steps - 1), highest)
    frame.draw_axes()
    ends: list[tuple[float, str, str]] = []
    for name, value in (floors or {}).items():
        sheet.line((left, left + PLOT[0]), (frame.y(value),) * 2, "muted", width=0.04, dashed=True,
                   label=f"floor {name}")  # fmt: skip
        ends.append((frame.y(value), name, "muted"))
    for i, (name, values) in enumerate(runs.items()):
        role = CURVES[i % len(CURVES)]
        frame.draw_run(name, values, role, DASHES[i % len(DASHES)])
        ends.append((frame.y(_last(values)), name, role))
    _write_names(sheet, left + PLOT[0] + 0.2, ends)
    return sheet.ax


def loss_curves_text(
    losses: Mapping[str, Any], floors: Mapping[str, float] | None = None, *, smooth: int = 25,
    digits: int = 2,
) -> str:  # fmt: skip
    """Say where each curve of `loss_curves` starts, is halfway, and ends, rounded to `digits`.

    >>> print(loss_curves_text({"right": [2.0, 1.0, 0.5]}, {"entropy": 0.4}, smooth=1))
    loss in nats over 3 steps, mean of 1 step
    run    start  halfway   end
    right   2.00     1.00  0.50
    floor entropy: 0.40
    """
    runs = _runs(losses, smooth)
    steps = max(len(values) for values in runs.values())
    lines = [("run", "start", "halfway", "end")]
    for name, values in runs.items():
        points = (values[0], values[len(values) // 2], values[-1])
        lines.append((name, *(number(float(v), digits) for v in points)))
    head = f"loss in nats over {steps:,} steps, mean of {smooth} step{'s' * (smooth > 1)}"
    tail = [f"floor {name}: {number(float(v), digits)}" for name, v in (floors or {}).items()]
    return "\n".join([head, table(lines, left=[0]), *tail])


class _Frame:
    """The plotted area: from steps and nats to places on the sheet."""

    def __init__(self, sheet: Canvas, left: float, top: float, steps: int, highest: float) -> None:
        self.sheet, self.left, self.top = sheet, left, top
        self.steps, self.highest = steps, highest

    def x(self, step: Any) -> Any:
        return self.left + np.asarray(step) / self.steps * PLOT[0]

    def y(self, loss: Any) -> Any:
        return self.top + (1 - np.clip(loss, 0, self.highest) / self.highest) * PLOT[1]

    def draw_axes(self) -> None:
        bottom = self.top + PLOT[1]
        for tick in MaxNLocator(5).tick_values(0, self.highest):
            if 0 <= tick <= self.highest * 1.001:
                y = float(self.y(tick))
                self.sheet.line((self.left, self.left + PLOT[0]), (y, y), "line", width=0.025)
                self.sheet.text(self.left - 0.15, y, f"{tick:g}", "muted", size=SMALL,
                                align="right")  # fmt: skip
        for tick in MaxNLocator(4, integer=True).tick_values(0, self.steps + 1):
            if 0 <= tick <= self.steps + 1:
                x = float(self.x(min(tick, self.steps)))
                self.sheet.text(x, bottom + 0.4, f"{int(tick):,}", "muted", size=SMALL)
        self.sheet.text(self.left + PLOT[0] / 2, bottom + 0.92, "step", "muted", size=SMALL)
        self.sheet.text(0.1, self.top - 0.28, "loss", "muted", size=SMALL, align="left")

    def draw_run(self, name: str, values: np.ndarray, role: str, dashes: Any) -> None:
        keep = np.unique(np.linspace(0, len(values) - 1, 240).round().astype(int))
        self.sheet.line(self.x(keep), self.y(values[keep]), role, width=0.075, label=name)
        self.sheet.ax.lines[-1].set_linestyle(dashes)


def _runs(losses: Mapping[str, Any], smooth: int) -> dict[str, np.ndarray]:
    """Return each run as running means over `smooth` steps, [steps]; fewer at its beginning."""
    window = as_int(smooth, "smooth", at_least=1)
    if not isinstance(losses, Mapping) or not losses:
        raise TypeError("losses must be a mapping of at least one run: {'right': history}.")
    runs = {}
    for name, values in losses.items():
        values = getattr(values, "means", values)
        values = values.detach().cpu().numpy() if hasattr(values, "detach") else values
        numbers = np.asarray(values, dtype=np.float64).reshape(-1)
        if numbers.size == 0:
            raise ValueError(f"run {name!r} has no steps, so there is no curve to draw.")
        sums = np.cumsum(np.concatenate([[0.0], numbers]))
        ends = np.arange(1, numbers.size + 1)
        starts = np.maximum(ends - window, 0)
        runs[name] = (sums[ends] - sums[starts]) / (ends - starts)
    return runs


def _highest(runs: Mapping[str, np.ndarray], floors: Mapping[str, float] | None) -> float:
    peaks = [values[np.isfinite(values)].max(initial=0) for values in runs.values()]
    return float(max([*peaks, *(floors or {}).values()]) or 1.0) * 1.04


def _last(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if finite.size else 0.0


def _write_names(sheet: Canvas, x: float, ends: list[tuple[float, str, str]]) -> None:
    """Write each name at the height of its line, moved apart where they would touch."""
    lowest = -1.0
    placed = []
    for y, name, role in sorted(ends, key=lambda end: end[0]):
        lowest = max(float(y), lowest + LINE)
        placed.append([lowest, float(y), name, role])
    bottom = 0.5 + PLOT[1] + 0.1
    for i in range(len(placed) - 1, -1, -1):  # back up from the bottom
        placed[i][0] = min(placed[i][0], bottom)
        bottom = placed[i][0] - LINE
    for y, at, name, role in placed:
        sheet.line((x - 0.2, x + 0.1), (at, y), role, width=0.03, label="leader")
        sheet.text(x + 0.2, y, name, role, size=SMALL, align="left")
