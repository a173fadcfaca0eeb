"""The scripts and styles: one module for a live widget, or all of them in one classic script.

Modules may not import, because a page opened from a file loads no ES module. What they share stands
in `_shared.js`, which is put in front of a module here, once for both uses.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ESM = Path(__file__).parent / "esm"
MODULES = ("bugs", "calculator", "denominators", "quick", "steps", "strip", "workbench")
"""The names that `data-module` may have on a page."""


@cache
def live_module(name: str) -> str:
    """Return the ES module `name` with what it shares, as anywidget's `_esm` takes it.

    >>> live_module("quick").count("export default")
    1
    """
    return f"{_source('_shared')}\nexport default (() => {{\n{_body(name)}\n}})();\n"


@cache
def bundle() -> str:
    """Return one classic script (for `defer`): all modules, then the host that starts them.

    Raises ValueError for a module with an import or without exactly one default export.

    >>> "import " in bundle()
    False
    """
    modules = "".join(f"MODULES.{name} = (() => {{\n{_body(name)}\n}})();\n" for name in MODULES)
    shared, host = _source("_shared"), _source("_host")
    return f"(() => {{\n'use strict';\n{shared}\nconst MODULES = {{}};\n{modules}{host}\n}})();\n"


@cache
def styles() -> str:
    """Return the style sheet, the same for pages and live notebooks.

    >>> ".cw" in styles()
    True
    """
    text = re.sub(r"/\*.*?\*/", "", (ESM / "widgets.css").read_text("utf8"), flags=re.S)
    return _tight(text)


def _body(name: str) -> str:
    source = _source(name)
    exports = re.findall(r"^export\b.*", source, re.M)
    if exports != ["export default { render };"] or re.search(r"^import\b", source, re.M):
        raise ValueError(
            f"{name}.js: a widget module ends in 'export default {{ render }};', has no other "
            "export and no import. Put what is shared into _shared.js."
        )
    return source.replace("export default", "return", 1)


def _source(name: str) -> str:
    return _tight((ESM / f"{name}.js").read_text("utf8"))


def _tight(text: str) -> str:
    """Drop indentation, empty lines and whole-line comments: a third of the weight, no tool."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
