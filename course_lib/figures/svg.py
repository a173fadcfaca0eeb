"""A matplotlib figure as an SVG for the inside of a page: no ids, no styles that leak, variables.

Colours become CSS variables with the light value as fallback, the font is the page's, and numbers
keep two decimals, so that the same figure is always the same bytes.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from html import escape

import matplotlib as mpl
from matplotlib.figure import Figure

from course_lib.figures.style import FONT, LIGHT

LEAST = 0.87
"""How far a figure may shrink before its box scrolls: cells of 34 pixels stay above 29."""
_NS = "{http://www.w3.org/2000/svg}"
_ROLES = {value: role for role, value in LIGHT.items()}
_KEPT = ("d", "x", "y", "style", "transform")
_FONT = re.compile(r"font: (bold |700 )?([\d.]+px)[^;]*")
_INVISIBLE = ("fill: none", "fill: none; stroke: none")
_ROOT_STYLE = f"font-family: {FONT}; stroke-linejoin: round; stroke-linecap: butt"


def inline_svg(figure: Figure, label: str) -> tuple[str, int, int]:
    """Return `<svg role="img" aria-label=label …>` for the inside of an HTML page, and its widths.

    It is as wide as the figure, or as its box if that is narrower, but no narrower than `LEAST` of
    the figure; both limits are returned in pixels of the page.
    """
    root = ET.fromstring(_raw_svg(figure))
    body = "".join(_flatten(root))
    width, height = (round(inch * 96) for inch in figure.get_size_inches())
    least = round(width * LEAST)
    size = f"width: 100%; max-width: {width}px; min-width: {least}px"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" '
        f'width="{width}" height="{height}" viewBox="{root.get("viewBox")}" '
        f'style="{escape(_ROOT_STYLE)}; {size}">{body}</svg>'
    )
    return svg, width, least


def _raw_svg(figure: Figure) -> str:
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        empty = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", transparent=True, metadata=empty)
    return buffer.getvalue()


def _flatten(element: ET.Element) -> list[str]:
    """Return the drawn elements as text, in order, without groups, definitions and ids."""
    out: list[str] = []
    for child in element:
        tag = child.tag.removeprefix(_NS)
        if tag == "g":
            out += _flatten(child)
        elif tag in ("path", "text"):
            if child.get("style", "").strip("; ") in _INVISIBLE:
                continue
            attributes = {k: v for k, v in child.attrib.items() if k in _KEPT}
            if attributes.get("transform", "").startswith("rotate(-0 "):
                del attributes["transform"]
            words = escape("".join(child.itertext()))
            pairs = "".join(f' {k}="{_tidy(k, v)}"' for k, v in attributes.items())
            out.append(f"<{tag}{pairs}>{words}</{tag}>" if words else f"<{tag}{pairs}/>")
        elif tag not in ("metadata", "defs", "style"):
            raise ValueError(f"a figure holds <{tag}>, which cannot stand in a page without ids.")
    return out


def _tidy(name: str, value: str) -> str:
    if name == "style":
        value = _FONT.sub(lambda m: f"font-size: {m[2]}" + "; font-weight: 700" * bool(m[1]), value)
        value = re.sub(r"font-family: [^;]*;? ?", "", value)
        value = re.sub(r"#[0-9a-f]{6}", _variable, value)
    value = re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), value)
    return escape(re.sub(r"\s+", " ", value.strip()))


def _variable(match: re.Match[str]) -> str:
    role = _ROLES.get(match[0])
    if role is None:
        raise ValueError(f"the colour {match[0]} is in no palette; take one of {sorted(LIGHT)}.")
    return f"var(--cf-{role.replace('_', '-')}, {match[0]})"
