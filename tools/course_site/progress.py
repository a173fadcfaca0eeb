"""Which exercises a reader has solved: a line under the title, and the script that keeps count.

The count is made in the reader's browser and stays there (`reader.js`). Here: which exercises there
are, page by page, and the line as it stands without a script.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

SCRIPT = "course/reader.js"
SOURCE = Path(__file__).with_name("reader.js")
NOT_SOLVED = ("calculator", "steps")
"""Modules that one reads or uses; they have no right answer."""
_WIDGET = re.compile(r'<div class="course-widget" data-module="(\w+)" data-id="([\w-]+)"')


def exercises_in(html: str) -> list[str]:
    """The exercises of a page in order, named as `_host.js` names them: id and occurrence.

    >>> one = '<div class="course-widget" data-module="quick" data-id="quick-1a">'
    >>> exercises_in(one + one)
    ['quick-1a:1', 'quick-1a:2']
    """
    seen: Counter[str] = Counter()
    found = []
    for module, name in _WIDGET.findall(html):
        seen[name] += 1
        if module not in NOT_SOLVED:
            found.append(f"{name}:{seen[name]}")
    return found


def reader_script(exercises: dict[str, list[str]]) -> str:
    """The script of every page: what there is to solve, then `reader.js` without its comments."""
    lines = (line.strip() for line in SOURCE.read_text("utf8").splitlines())
    body = "\n".join(line for line in lines if line and not line.startswith("//"))
    listed = json.dumps(exercises, separators=(",", ":"))
    return f"(() => {{\n'use strict';\nconst EXERCISES = {listed};\n{body}\n}})();\n"


def _collect(app: Sphinx, doctree: nodes.document) -> None:
    raw = "".join(n.astext() for n in doctree.findall(nodes.raw) if "html" in n.get("format", ""))
    if found := exercises_in(raw):
        _known(app)[app.env.docname] = found


def _known(app: Sphinx) -> dict[str, list[str]]:
    if not hasattr(app.env, "course_exercises"):
        app.env.course_exercises = {}
    return app.env.course_exercises


def _write(app: Sphinx, env) -> None:
    if app.builder.format == "html":
        path = Path(app.outdir) / "_static" / SCRIPT
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(reader_script(_known(app)), "utf8")


def _add_line(app: Sphinx, pagename: str, templatename, context: dict, doctree) -> None:
    known, body = _known(app), context.get("body") or ""
    whole = pagename == app.config.root_doc
    number = sum(map(len, known.values())) if whole else len(known.get(pagename, ()))
    if number:
        where = "in the course" if whole else "on this page"
        text = f"{number} interactive exercise{'s' * (number != 1)} {where}"
        line = (f'</h1>\n<div class="course-progress" data-page="{escape(pagename)}"'
                f'{" data-whole" * whole}><span role="status">{text}</span></div>')
        context["body"] = body.replace("</h1>", line, 1)


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", _collect)
    app.connect("env-updated", _write)
    app.connect("html-page-context", _add_line)
    # before the exercises' own script, which tells it what is solved
    app.add_js_file(SCRIPT, loading_method="defer", priority=300)
