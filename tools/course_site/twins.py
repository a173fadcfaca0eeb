"""The pictures of a lab's page get their text twin: as alternative text and to unfold below.

A lab's page shows stored outputs, so its figures are PNG images; the text that says the same is the
`text/plain` beside each of them in the notebook.
"""

from __future__ import annotations

import json
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def twins(notebook: dict) -> list[str]:
    """The text beside each PNG output of a notebook, in order.

    >>> png = {"data": {"image/png": "iVBO", "text/plain": ["row of 2\\n", "a b"]}}
    >>> twins({"cells": [{"outputs": [png, {"text": "printed"}]}, {"source": "text"}]})
    ['row of 2\\na b']
    """
    outputs = (o for cell in notebook["cells"] for o in cell.get("outputs", []))
    data = (output.get("data", {}) for output in outputs)
    return ["".join(d["text/plain"]) for d in data if "image/png" in d]


def _in_output(image: nodes.Node) -> bool:
    while image is not None and "cell_output" not in image.get("classes", []):
        image = image.parent if isinstance(image.parent, nodes.Element) else None
    return image is not None


def _add(app: Sphinx, doctree: nodes.document) -> None:
    path = app.env.doc2path(app.env.docname)
    if not path.endswith(".ipynb"):
        return
    with open(path, encoding="utf8") as file:
        texts = twins(json.load(file))
    images = [image for image in doctree.findall(nodes.image) if _in_output(image)]
    if len(images) != len(texts):
        LOGGER.warning("%d pictures but %d text twins", len(images), len(texts), location=doctree)
    for image, text in zip(images, texts, strict=False):
        image["alt"] = text.split("\n", 1)[0]
        unfold = ('<details class="course-twin"><summary>Read this figure as text</summary>'
                  f'<pre tabindex="0">{escape(text)}</pre></details>')
        image.parent.insert(image.parent.index(image) + 1, nodes.raw("", unfold, format="html"))


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", _add)
