r"""Math as MathML, made while the book is built: no script, no font, no request.

latex2mathml converts one line of math; what it leaves out is mended here: `aligned` becomes a
table, cells are aligned by CSS (browsers ignore `columnalign`), and tall fences are stretched by
a scale (without a math font browsers do not stretch them).
Not handled: `align` with several numbered lines.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ET.register_namespace("", NAMESPACE)
_ALIGNED = re.compile(r"^\\begin\{(aligned|align\*?|split|gathered)\}(.*)\\end\{\1\}(.*)$", re.S)
_ROW = {"mrow", "math", "mstyle", "mtd", "msup", "msub", "msubsup", "mpadded"}


def to_mathml(latex: str, *, display: bool) -> str:
    """One formula. Raises ValueError where `&` stands outside an environment that aligns."""
    latex = re.sub(r"\\label\{[^}]*\}", "", latex).strip()
    if display and r"\begin" not in latex and re.search(r"\\\\|(?<!\\)&", latex):
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    found = _ALIGNED.match(latex)
    root = _aligned(found[2], found[3]) if found else _single(latex, display)
    _mend(root)
    return ET.tostring(root, encoding="unicode")


def _single(latex: str, display: bool) -> ET.Element:
    bare = re.sub(r"\\\\|\\[{}]", "", latex)
    if bare.count("{") != bare.count("}") or bare.count(r"\begin") != bare.count(r"\end"):
        raise ValueError(f"math: an open brace or environment: {latex}")
    text = convert(latex, display="block" if display else "inline")
    if "<mi>&</mi>" in text:
        raise ValueError(f"math: '&' outside of aligned, cases or a matrix: {latex}")
    return ET.fromstring(text)


def _split(latex: str, separator: str) -> list[str]:
    """Split at a separator that stands outside braces and nested environments."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(latex):
        if latex.startswith((r"\begin", r"\left", "{"), i) and latex[i - 1 : i] != "\\":
            depth += not latex.startswith(r"\leftarrow", i)
        elif latex.startswith((r"\end", r"\right", "}"), i) and latex[i - 1 : i] != "\\":
            depth -= not latex.startswith(r"\rightarrow", i)
        elif depth == 0 and latex.startswith(separator, i) and latex[i - 1 : i] != "\\":
            parts.append(latex[start:i])
            i += len(separator) - 1
            start = i + 1
        i += 1
    return [*parts, latex[start:]]


def _aligned(body: str, after: str) -> ET.Element:
    """A table of rows; odd columns end, and even columns begin, at the alignment mark."""
    root = ET.Element(f"{{{NAMESPACE}}}math", display="block")
    table = ET.SubElement(root, f"{{{NAMESPACE}}}mtable", {"class": "aligned"})
    rows = [row for row in _split(body, r"\\") if row.strip()]
    rows[-1] += after
    for row in rows:
        line = ET.SubElement(table, f"{{{NAMESPACE}}}mtr")
        for column, cell in enumerate(_split(re.sub(r"^\s*\[[^\]]*\]", "", row), "&")):
            side = "left" if column % 2 else "right"
            box = ET.SubElement(line, f"{{{NAMESPACE}}}mtd", {"columnalign": side})
            style = ET.SubElement(box, f"{{{NAMESPACE}}}mstyle", displaystyle="true")
            if cell.strip():
                style.extend(list(_single(cell.strip(), display=True)))
    return root


def _name(element: ET.Element) -> str:
    return element.tag.split("}")[-1]


def _height(element: ET.Element) -> float:
    """About how many lines high an element is."""
    inner = max((_height(child) for child in element), default=1.0)
    match _name(element):
        case "mtable":
            return 1.35 * sum(_height(row) for row in element)
        case "mfrac":
            return 0.95 * sum(_height(part) for part in element)
        case "munderover":
            return inner + 1.2
        case "munder" | "mover":
            return inner + 0.5
        case _:
            return inner


def _mend(element: ET.Element) -> None:
    if side := element.attrib.pop("columnalign", None):
        element.set("style", f"text-align:{side}")
    height = _height(element) if _name(element) in _ROW else 1.0
    for child in element:
        if child.get("stretchy") == "true" and child.get("fence") == "true" and height > 1.4:
            child.set("stretchy", "false")
            child.set("style", f"transform:scaleY({height:.2f})")
            child.set("class", "tall")
        _mend(child)


def _render(node: nodes.Element, *, display: bool) -> str:
    try:
        return to_mathml(node.astext(), display=display)
    except Exception as error:  # latex2mathml has many ways to fail
        LOGGER.warning("math: %s: %s", node.astext(), error, location=node)
        return ""


def _inline(self, node: nodes.math) -> None:
    self.body.append(_render(node, display=False))
    raise nodes.SkipNode


def _block(self, node: nodes.math_block) -> None:
    # a long formula scrolls in its box on a phone, so the keyboard must reach the box
    attributes = {"tabindex": "0", "role": "group", "aria-label": "Formula"}
    self.body.append(self.starttag(node, "div", CLASS="math-block", **attributes))
    self.body.append(_render(node, display=True))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("course", (_inline, None), (_block, None))
    app.config.html_math_renderer = "course"
