"""The slot ledger as bars: how many slots are targets, and why the others are none."""

from __future__ import annotations

from matplotlib.axes import Axes

from course_lib.batch import Batch
from course_lib.figures.canvas import SMALL, Canvas, text_width
from course_lib.figures.wording import plural, table
from course_lib.targets import REASONS, Ledger

BAR = 5.8
"""Length of the bar of all slots, in cells."""
COUNTABLE = 40
_FILLS = dict(zip(REASONS, ("on", "doc0", "doc1", "doc2", "ignored"), strict=True))


def ledger_bar(ledger: Ledger | Batch, *, ax: Axes | None = None) -> Axes:
    """Draw the slots of a batch as one bar for each reason; what was lost stands below.

    Up to 40 slots, a bar is made of one cell for each slot. Bars of slots that are no targets are
    hatched.

    >>> ax = ledger_bar(Ledger(targets=3, padding=2))
    >>> [t.get_text() for t in ax.texts][:2]
    ['targets', '3']
    """
    ledger = _ledger(ledger)
    rows = ledger.rows()
    left = max(text_width(name, SMALL) for name, _ in rows) + 0.35
    sheet = Canvas(left + BAR + 1.5, len(rows) * 0.95 + 0.4, ax)
    unit = BAR / max(1, ledger.slots)
    for i, (name, count) in enumerate(rows):
        y = 0.2 + i * 0.95
        key = name.replace(" ", "_")
        total = key not in _FILLS
        sheet.text(left - 0.15, y + 0.4, name, "muted" if total else "ink", size=SMALL,
                   align="right")  # fmt: skip
        fill = _FILLS.get(key, "off")
        length = min(count * unit, BAR) if not total or name == "slots" else 0
        parts = count if ledger.slots <= COUNTABLE else 1
        sheet.bar(left, y, length, fill, parts, name, hatched=fill not in ("on", "off"))
        sheet.text(left + length + 0.15, y + 0.4, f"{count:,}", size=SMALL, align="left")
    return sheet.ax


def ledger_bar_text(ledger: Ledger | Batch) -> str:
    """Say what `ledger_bar` draws, with the part of all slots that each reason has.

    >>> print(ledger_bar_text(Ledger(targets=3, padding=2)))
    5 slots, 3 of them targets
    targets     3   60.0%
    row starts  0    0.0%
    boundaries  0    0.0%
    prompts     0    0.0%
    padding     2   40.0%
    slots       5  100.0%
    """
    ledger = _ledger(ledger)
    own = len(REASONS) + 1
    lines = [
        (name, f"{count:,}", f"{count / max(1, ledger.slots):.1%}" if i < own else "lost")
        for i, (name, count) in enumerate(ledger.rows())
    ]
    return f"{plural(ledger.slots, 'slot')}, {ledger.targets:,} of them targets\n" + table(
        lines, left=[0]
    )


def _ledger(value: Ledger | Batch) -> Ledger:
    if isinstance(value, Batch):
        return value.ledger()
    if not isinstance(value, Ledger):
        raise TypeError(f"expected a Ledger or a Batch, got {type(value).__name__}.")
    return value
