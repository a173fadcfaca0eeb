"""The interactive parts on a page without a kernel: all modules in one classic script.

`course_lib/widgets/esm/NAME.js` are anywidget modules. A browser loads no ES module from file://,
so they are bundled here with the host `_host.js` into `_static/course/course-widgets.js`, which a
page loads only if it holds a `<div class="course-widget" data-module="NAME">`.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

ESM = Path(__file__).resolve().parents[2] / "course_lib" / "widgets" / "esm"
SCRIPT, STYLE = "course/course-widgets.js", "course/course-widgets.css"
MARK = 'class="course-widget"'


def bundle(folder: Path = ESM) -> str:
    """One classic script: each module as `MODULES[name]`, then the host that starts them.

    Raises ValueError for a module with an import or without exactly one default export.
    """
    parts = ["(() => {\n'use strict';\nconst MODULES = {};\n"]
    for path in sorted(folder.glob("[!_]*.js")):
        source = path.read_text("utf8")
        exports = len(re.findall(r"^export\b", source, re.M))
        if exports != 1 or "export default" not in source or re.search(r"^import\b", source, re.M):
            raise ValueError(f"{path.name}: a widget module has one 'export default', no other "
                             "export and no import")
        body = source.replace("export default", "return", 1)
        parts.append(f"MODULES[{path.stem!r}] = (() => {{\n{body}\n}})();\n")
    return "".join([*parts, (folder / "_host.js").read_text("utf8"), "\n})();\n"])


def _write(app: Sphinx) -> None:
    if app.builder.format != "html" or not (ESM / "_host.js").exists():
        return
    folder = Path(app.outdir) / "_static" / "course"
    folder.mkdir(parents=True, exist_ok=True)
    (Path(app.outdir) / "_static" / SCRIPT).write_text(bundle(), "utf8")
    styles = "\n".join(p.read_text("utf8") for p in sorted(ESM.glob("*.css")))
    (Path(app.outdir) / "_static" / STYLE).write_text(styles, "utf8")


def _add_to_page(app: Sphinx, pagename, templatename, context, doctree) -> None:
    if MARK in (context.get("body") or ""):
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_css_file(STYLE)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _write)
    app.connect("html-page-context", _add_to_page, priority=900)
