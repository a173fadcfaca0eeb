"""What ipywidgets leave on a page without a kernel: one sentence instead of a Python repr."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

_CONTROLS = re.compile(r"^(Live|VBox|HBox|Box|GridBox|Dropdown|\w*Slider|ToggleButtons?|Button|"
                       r"HTML|Checkbox|RadioButtons|BoundedIntText|Text|Textarea|IntText)\(\w+=")
SENTENCE = ("Live controls stand here. They need Python: open this lab in Colab (the rocket above) "
            "or in JupyterLab (make lab).")


def _replace(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") == "myst-ansi" and _CONTROLS.match(block.astext()):
            block.replace_self(nodes.paragraph("", SENTENCE, classes=["course-live"]))


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", _replace)
