"""Links that notebooks carry to other notebooks lead to the page when they stand on the site.

A lab's page is its notebook, and a notebook links to `REPOSITORY/blob/BRANCH/book/02_shift.ipynb`
because that works from anywhere. Here such a link becomes one to the page.

A link to another host whose address the reader of a printed page could not tell from its text gets
a class; the style sheet prints the address behind it.
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


def says_address(text: str, address: str) -> bool:
    """True where the text of a link gives its address, or the DOI in it, by itself.

    >>> says_address("doi:10.18653/v1/2020", "https://doi.org/10.18653/v1/2020")
    True
    >>> says_address("a book", "https://example.org/book")
    False
    """
    bare = re.sub(r"^https?://(?:(?:dx\.)?doi\.org/|www\.)?", "", address).rstrip("/")
    return bare.lower() in text.lower()


def _mark_addresses(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for node in doctree.findall(nodes.reference):
        address = node.get("refuri", "")
        if address.startswith(("http:", "https:")) and not says_address(node.astext(), address):
            node["classes"].append("course-address")


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", _to_pages)
    app.connect("doctree-resolved", _mark_addresses, priority=600)
