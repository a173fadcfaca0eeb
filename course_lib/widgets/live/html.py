"""Small tables and a curve as HTML, readable on a light and on a dark page.

Every cell brings its own background and ink, from the palette of the figures; words beside colour;
tables have captions and heads. No script, no ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from course_lib.figures.style import color, document_role

Cell = tuple[str, str]
"""Words and the role of the cell's colour, or a colour that begins with #."""

INKS = {"on": "on_ink", "ignored": "ignored_ink", "bad_fill": "bad"}


def table(caption: str, head: Sequence[str], rows: Mapping[str, Sequence[Cell]]) -> str:
    """Return a table with a caption, a head cell for each column and for each row.

    >>> "<caption" in table("ids", ["0"], {"id": [("7", "doc0")]})
    True
    """
    columns = "".join(f'<th scope="col" style="{_HEAD}">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row" style="{_HEAD}text-align:right">{escape(name)}</th>'
        f"{''.join(map(_cell, cells))}</tr>"
        for name, cells in rows.items()
    )
    return (
        f'<table style="border-collapse:collapse;margin:0"><caption style="text-align:left;'
        f'caption-side:top;font-weight:600;padding:0 0 4px">{escape(caption)}</caption>'
        f'<thead><tr><th style="{_HEAD}"></th>{columns}</tr></thead><tbody>{body}</tbody></table>'
    )


_HEAD = "padding:1px 5px;font-weight:400;border:0;background:none;white-space:nowrap;"
_CELL = (
    "padding:1px 5px;min-width:1.4em;text-align:center;white-space:nowrap;border:1px solid "
)


def _cell(cell: Cell) -> str:
    words, role = cell
    ink, fill = color(INKS.get(role, "ink")), role if role.startswith("#") else color(role)
    style = f"{_CELL}{color('line')};background:{fill};color:{ink}"
    return f'<td style="{style}">{escape(words)}</td>'


def shade(share: float) -> str:
    """Return the colour of a number from 0 to 1, the deeper the larger.

    >>> shade(0) == color("off"), shade(1) == color("weight")
    (True, True)
    """
    ends = [[int(color(role)[i : i + 2], 16) for i in (1, 3, 5)] for role in ("off", "weight")]
    mixed = (round(a + (b - a) * share) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def beside(*parts: str) -> str:
    """Return the parts side by side, below each other where there is no room.

    >>> beside("a", "b").count("<div")
    3
    """
    boxes = "".join(f'<div style="overflow-x:auto;max-width:100%">{part}</div>' for part in parts)
    return f'<div style="display:flex;flex-wrap:wrap;gap:1.2em 2em;line-height:1.35">{boxes}</div>'


def sentence(words: str) -> str:
    """Return a paragraph that a screen reader announces when it changes.

    >>> sentence("a < b")
    '<p role="status" style="margin:.4em 0">a &lt; b</p>'
    """
    return f'<p role="status" style="margin:.4em 0">{escape(words)}</p>'


def refusal(words: str) -> str:
    """Return why nothing can be shown.

    >>> "Not possible" in refusal("too long")
    True
    """
    style = f"background:{color('bad_fill')};color:{color('bad')};padding:.3em .6em"
    return f'<p role="status" style="{style}">Not possible: {escape(words)}</p>'


def document(number: int) -> str:
    """Return the role of a document's colour; padding has its own.

    >>> document(0), document(-1)
    ('doc0', 'ignored')
    """
    return document_role(number)


def curve(
    caption: str, points: Sequence[tuple[str, float]], low: float, high: float, unit: str = "%"
) -> str:
    """Return a line through points (name, value from 0 to 1), each with its value in words.

    >>> curve("use", [("10", 0.5), ("20", 0.75)], 0.5, 1.0).count("<circle")
    2
    """
    width, height, left, top = 64 * len(points) + 20, 150, 42, 28
    step, span = 64, (high - low) or 1.0
    spots = [
        (left + i * step, top + (high - min(max(value, low), high)) / span * height)
        for i, (_, value) in enumerate(points)
    ]
    ink, line, muted = color("ink"), color("curve0"), color("muted")
    path = " ".join(f"{x:.0f},{y:.1f}" for x, y in spots)
    marks = "".join(
        f'<circle cx="{x:.0f}" cy="{y:.1f}" r="3.5" fill="{line}"/>'
        f'<text x="{x:.0f}" y="{y - 9:.1f}" fill="{ink}" text-anchor="middle">'
        f"{value:.1%}</text>"
        f'<text x="{x:.0f}" y="{top + height + 18}" fill="{muted}" text-anchor="middle">'
        f"{escape(name)}</text>"
        for (x, y), (name, value) in zip(spots, points, strict=True)
    )
    words = "; ".join(f"{name}: {value:.1%}" for name, value in points)
    return (
        f'<svg role="img" aria-label="{escape(caption)}. {escape(words)}" width="{width}" '
        f'height="{top + height + 44}" viewBox="0 0 {width} {top + height + 44}" '
        f'font-size="12" font-family="sans-serif"><rect width="100%" height="100%" '
        f'fill="{color("card")}" rx="4"/><polyline points="{path}" fill="none" stroke="{line}" '
        f'stroke-width="2"/>{marks}<text x="8" y="{top + height + 38}" fill="{ink}">'
        f"{escape(caption)}</text></svg>"
    )
