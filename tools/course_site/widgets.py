"""The interactive parts and the figures on a page without a kernel: their script and styles.

`course_lib` writes them (`widgets.assets`, `figures.palette_css`); here they become files under
`_static/course/`, and a page loads only what it holds.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from course_lib.figures import palette_css
from course_lib.widgets.assets import bundle, styles

SCRIPT, STYLE, FIGURES = "course/widgets.js", "course/widgets.css", "course/figures.css"


def _write(app: Sphinx) -> None:
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    (static / "course").mkdir(parents=True, exist_ok=True)
    for name, text in {SCRIPT: bundle(), STYLE: styles(), FIGURES: palette_css()}.items():
        (static / name).write_text(text, "utf8")


def _add_to_page(app: Sphinx, pagename, templatename, context, doctree) -> None:
    body = context.get("body") or ""
    if 'class="course-widget' in body:
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_css_file(STYLE)
    if 'class="course-figure' in body:
        app.add_css_file(FIGURES)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _write)
    app.connect("html-page-context", _add_to_page, priority=900)
