"""Ways of filling rows beside each other: how much of the slots holds tokens, and what is waste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from course_lib.figures.canvas import SMALL, Canvas, text_width
from course_lib.figures.wording import table

if TYPE_CHECKING:
    from course_lib.packing.costs import Cost, Costs

BAR = 6.4
"""Length of the bar of the way with the most slots, in cells."""
LINE = 0.8
NAMES = {
    "fixed": "padded, fixed length",
    "batch": "padded, longest of batch",
    "sorted": "padded, sorted",
}


def way_bars(costs: Costs, *, ax: Axes | None = None) -> Axes:
    """Draw the slots of each way as a bar: what holds tokens is plain, what is waste is hatched.

    >>> from course_lib.packing.costs import compare_costs
    >>> ax = way_bars(compare_costs([4, 2, 3], 6, batch_size=2))
    >>> [t.get_text() for t in ax.texts][:2]
    ['padded, fixed length', '50.0%']
    """
    left = max(text_width(_name(c), SMALL) for c in costs.ways) + 0.35
    sheet = Canvas(left + BAR + 1.7, len(costs.ways) * LINE + 0.3, ax)
    unit = BAR / max(c.slots for c in costs.ways)
    for i, cost in enumerate(costs.ways):
        y, whole, real = 0.15 + i * LINE, cost.slots * unit, costs.tokens * unit
        sheet.text(left - 0.15, y + 0.3, _name(cost), size=SMALL, align="right")
        fill = "doc0" if cost.way in NAMES else "doc2"
        sheet.cell(left, y, "", fill, width=real, height=0.6, label=f"tokens {cost.way}")
        if cost.slots > costs.tokens:
            sheet.cell(left + real, y, "", "ignored", width=whole - real, height=0.6, hatched=True,
                       label=f"waste {cost.way}")  # fmt: skip
        sheet.text(left + whole + 0.15, y + 0.3, f"{costs.utilization(cost.way):.1%}", size=SMALL,
                   align="left")  # fmt: skip
    return sheet.ax


def way_bars_text(costs: Costs) -> str:
    """Say what `way_bars` draws: rows, slots, and the share that holds tokens.

    >>> from course_lib.packing.costs import compare_costs
    >>> text = way_bars_text(compare_costs([4, 2, 3], 6, batch_size=2))
    >>> text.splitlines()[2].split()[-3:]
    ['3', '18', '50.0%']
    """
    lines = [("way", "rows", "slots", "used")]
    for c in costs.ways:
        used = f"{costs.utilization(c.way):.1%}"
        lines.append((_name(c), f"{c.rows:,}", f"{c.slots:,}", used))
    head = f"{costs.tokens:,} tokens in {costs.documents:,} documents; rows of {costs.capacity:,} "
    return f"{head}slots\n{table(lines, left=[0])}"


def _name(cost: Cost) -> str:
    return NAMES.get(cost.way, "packed, " + cost.way.replace("_", " "))
