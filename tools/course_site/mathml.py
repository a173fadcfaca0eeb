"""Math as MathML, made while the book is built: no script, no font, no request.

latex2mathml converts; `repair` mends what it leaves out.
"""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def to_mathml(latex: str, *, display: bool) -> str:
    """One formula. Display formulas may hold `aligned`, `cases` and matrices."""
    latex = re.sub(r"\\label\{[^}]*\}", "", latex).strip()
    if display and re.search(r"(?<!\\)\\\\|(?<!\\)&", latex) and r"\begin{" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    return convert(latex, display="block" if display else "inline")


def _inline(self, node: nodes.math) -> None:
    self.body.append(to_mathml(node.astext(), display=False))
    raise nodes.SkipNode


def _block(self, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(to_mathml(node.astext(), display=True))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.setup_extension("sphinx.ext.mathjax")  # jupyter-book asks for it; its renderer is unused
    app.add_html_math_renderer("course", (_inline, None), (_block, None))
    app.config.html_math_renderer = "course"
