"""A bar for each exercise: how many are right, wrong, not attempted; as SVG inside a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape

COLOURS = {
    "correct": "#24763f", "wrong": "#b3372d", "not attempted": "#6b7078", "not graded": "#45484d"
}  # fmt: skip
_LEFT, _WIDTH, _HEIGHT, _GAP = 50, 380, 24, 8
_COLUMNS, _COLUMN = 2, 150  # of the legend, which is read on a phone, too
_SHARE = 50


def bars(found: Mapping[str, Counter[str]]) -> str:
    """Return the plot; what it shows stands in its description, too.

    >>> bars({"1.1": Counter(correct=2)}).count("<rect")
    5
    """
    most = max((sum(counter.values()) for counter in found.values()), default=0) or 1
    height = len(found) * (_HEIGHT + _GAP) + 50
    said = "; ".join(f"{e}: " + ", ".join(f"{n} {s}" for s, n in c.items() if n)
                     for e, c in found.items())  # fmt: skip
    parts = [
        f'<svg viewBox="0 0 {_LEFT + _WIDTH + 10} {height}" width="{_LEFT + _WIDTH + 10}" '
        f'role="img" aria-label="{escape(said)}" font-size="13" fill="currentColor">'
    ]
    for i, (exercise, counter) in enumerate(found.items()):
        parts += _bar(i * (_HEIGHT + _GAP), exercise, counter, most)
    parts += _legend(height - 40)
    return "".join(parts) + "</svg>"


def share(count: int, most: int) -> str:
    """Return a small bar to stand beside a number in a table; the number says it all.

    >>> 'width="25.0"' in share(1, 2)
    True
    """
    return (
        f'<svg viewBox="0 0 {_SHARE} 10" style="width: {_SHARE}px" aria-hidden="true">'
        f'<rect width="{_SHARE * count / most:.1f}" height="10" fill="{COLOURS["wrong"]}"/></svg>'
    )


def _bar(top: int, exercise: str, counter: Counter[str], most: int) -> list[str]:
    parts = [f'<text x="0" y="{top + 17}">{escape(exercise)}</text>']
    left = float(_LEFT)
    for state, colour in COLOURS.items():
        count = counter[state]
        if not count:
            continue
        width = _WIDTH * count / most
        parts.append(
            f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_HEIGHT}" '
            f'fill="{colour}" stroke="white"/>'
        )
        if width > 10 + 8 * len(str(count)):  # a narrower part keeps its number to the table below
            parts.append(f'<text x="{left + 6:.1f}" y="{top + 17}" fill="white">{count}</text>')
        left += width
    return parts


def _legend(top: int) -> list[str]:
    parts = []
    for i, (state, colour) in enumerate(COLOURS.items()):
        row, column = divmod(i, _COLUMNS)
        left, level = _LEFT + column * _COLUMN, top + row * 20
        parts.append(
            f'<rect x="{left}" y="{level}" width="12" height="12" fill="{colour}"/>'
            f'<text x="{left + 17}" y="{level + 11}">{escape(state)}</text>'
        )
    return parts
