"""The colours of every figure, light and dark, in one place; and the style sheet made from them.

A colour is asked for by its role ("ink", "doc0"), never by its value. In a PNG the light value is
used; in an SVG on a page each value becomes `var(--cf-<role>, <light value>)`, and `palette_css`
writes what those variables are in either mode. Every role has a value of its own, so that the way
from value back to role is certain.
"""

from __future__ import annotations

LIGHT = {
    "card": "#fdfdfc",  # behind the whole figure
    "ink": "#1b1f24",
    "muted": "#525b66",  # axis names, slot numbers, zeros
    "line": "#b9c1cb",  # border of a cell
    "edge": "#20252b",  # thick line between documents
    "off": "#fafbfb",  # cell that holds nothing: False, zero
    "on": "#2a67a6",  # True cell, bar of targets
    "on_ink": "#fcfeff",
    "ignored": "#eef0f3",  # -100 and padding, always hatched
    "hatch": "#d4d9e0",
    "ignored_ink": "#3f4751",
    "bad": "#b3261e",  # a fault: outline and symbol
    "bad_fill": "#fbe3df",
    "weight": "#a9cdf2",  # the deepest shade of a number between 0 and 1
    "doc0": "#cfe2f8",
    "doc1": "#f8d9ac",
    "doc2": "#bfe6cd",
    "doc3": "#f4bcd9",
    "doc4": "#f3efa6",
    "doc5": "#c6b9f0",
    "curve0": "#1c66a8",
    "curve1": "#a04e00",
    "curve2": "#17714a",
    "curve3": "#a12d78",
    "curve4": "#5f46b8",
    "curve5": "#5c5a12",
}
DARK = {
    "card": "#1a1f27",
    "ink": "#eceff3",
    "muted": "#aab4c0",
    "line": "#485362",
    "edge": "#f2f4f7",
    "off": "#1e242d",
    "on": "#84b9f0",
    "on_ink": "#0b1622",
    "ignored": "#2a313b",
    "hatch": "#3d4653",
    "ignored_ink": "#d3dae2",
    "bad": "#ff8f85",
    "bad_fill": "#55201c",
    "weight": "#27588c",
    "doc0": "#24486d",
    "doc1": "#664a22",
    "doc2": "#25543d",
    "doc3": "#6b375a",
    "doc4": "#55532a",
    "doc5": "#4a3d86",
    "curve0": "#7cb6f2",
    "curve1": "#f0a35e",
    "curve2": "#62cf9a",
    "curve3": "#f08fc6",
    "curve4": "#b5a3f7",
    "curve5": "#d3cf6b",
}
DOCUMENTS = tuple(role for role in LIGHT if role.startswith("doc"))
CURVES = tuple(role for role in LIGHT if role.startswith("curve"))

TEXT_ON = [
    *(("ink", fill) for fill in ("card", "off", "weight", "bad_fill", *DOCUMENTS)),
    *(("muted", fill) for fill in ("card", "off")),
    *(("bad", fill) for fill in ("card", "off", "bad_fill")),
    *((curve, "card") for curve in CURVES),
    ("on_ink", "on"),
    ("card", "bad"),
    ("ignored_ink", "ignored"),
    ("ignored_ink", "hatch"),
]
"""Every pair (text, what it stands on) that a figure may use; each keeps 4.5:1 in both modes."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def color(role: str) -> str:
    """Return the light value of a role.

    >>> color("ink")
    '#1b1f24'
    """
    return LIGHT[role]


def document_role(document: int) -> str:
    """Return the tint of a document, "ignored" for padding (-1); tints repeat after six.

    >>> document_role(0), document_role(7), document_role(-1)
    ('doc0', 'doc1', 'ignored')
    """
    return DOCUMENTS[document % len(DOCUMENTS)] if document >= 0 else "ignored"


def luminance(value: str) -> float:
    """Return the relative luminance of a colour `#rrggbb`, 0 to 1.

    Source: WCAG 2.2, "relative luminance".

    >>> luminance("#ffffff")
    1.0
    """
    parts = [int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours `#rrggbb`, 1 to 21.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _variables(palette: dict[str, str]) -> str:
    return " ".join(f"--cf-{role.replace('_', '-')}: {value};" for role, value in palette.items())


def palette_css() -> str:
    """Return the style sheet of the figures on a page: variables of both modes, and the card.

    >>> "--cf-ink: #1b1f24;" in palette_css()
    True
    """
    light, dark = _variables(LIGHT), _variables(DARK)
    return f"""\
:root {{ {light} }}
html[data-theme="dark"] {{ {dark} }}
@media (prefers-color-scheme: dark) {{ html:not([data-theme]) {{ {dark} }} }}
.course-figure {{ margin: 1.25rem 0; padding: .75rem .75rem .5rem; background: var(--cf-card);
  color: var(--cf-ink); border: 1px solid var(--cf-line); border-radius: 10px; max-width: 100%;
  text-align: left; box-sizing: border-box; }}
.course-figure .cf-panels {{ display: flex; flex-wrap: wrap; gap: .75rem .5rem;
  justify-content: center; align-items: center; }}
.course-figure .cf-panel {{ display: flex; align-items: center; min-width: 0; }}
.course-figure .cf-body {{ flex: 1 1 auto; min-width: 0; }}
.course-figure .cf-scroll {{ overflow-x: auto; max-width: 100%; }}
.course-figure .cf-scroll:focus-visible {{ outline: 2px solid var(--cf-on); outline-offset: 3px; }}
.course-figure .cf-sign {{ flex: 0 0 20px; font-size: 1.5rem; color: var(--cf-muted);
  text-align: center; padding-top: 4rem; }}
.course-figure svg {{ display: block; height: auto; margin: 0 auto; }}
.course-figure .cf-below {{ margin: .25rem 0 0; font-size: .85rem; text-align: center; }}
figure.course-figure figcaption {{ margin: .5rem 0 0; padding: 0; font-size: .9rem;
  font-weight: 400; line-height: 1.4; color: var(--cf-ink); text-align: left; }}
.course-figure details {{ margin: .4rem 0 0; font-size: .85rem; color: var(--cf-muted);
  background: none; border: 0; padding: 0; box-shadow: none; }}
.course-figure summary {{ cursor: pointer; padding: .2rem 0; }}
.course-figure.course-figure details pre {{ margin: .3rem 0 .2rem; overflow-x: auto;
  padding: .5rem .6rem; color: var(--cf-ink); background: var(--cf-off);
  border: 1px solid var(--cf-line); border-radius: 6px; font-size: .8rem; line-height: 1.35; }}
html[data-theme="dark"] .bd-content div.cell_output .text_html:has(> .course-figure) {{
  background: none; color: inherit; padding: 0; }}
@media (max-width: 480px) {{
  .course-figure.course-figure details pre {{ font-size: .64rem; }}
  .course-figure {{ padding: .5rem .4rem .4rem; }}
  .course-figure .cf-panel {{ flex-direction: column; }} .course-figure .cf-body {{ width: 100%; }}
  .course-figure .cf-sign {{ padding: 0; flex-basis: auto; }} }}
"""
