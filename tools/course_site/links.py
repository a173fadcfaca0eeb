"""Links that notebooks carry to other notebooks lead to the page when they stand on the site.

A lab's page is its notebook, and a notebook links to `REPOSITORY/blob/BRANCH/book/02_shift.ipynb`
because that works from anywhere. Here such a link becomes one to the page.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx


def _to_pages(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    options = app.config.html_theme_options
    start = re.escape(f"{options.get('repository_url', '')}/blob/")
    pattern = re.compile(start + r"[^/]+/(.+)\.ipynb$")
    for node in doctree.findall(nodes.reference):
        found = pattern.match(node.get("refuri", ""))
        if found and found[1] in app.env.found_docs:
            node["refuri"] = app.builder.get_relative_uri(docname, found[1])
            node["internal"] = True


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", _to_pages)
