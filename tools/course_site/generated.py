"""Parts of pages that are made from data: the directives `references`, `facts`, `terms`, `api`.

What they show is Markdown from `tools.generated`, the same that the notebooks get. Links to a place
on another page are written as the address of its notebook with a fragment, because that works
anywhere; here they become links within the site.
"""

from __future__ import annotations

import re

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tools import generated


class Generated(SphinxDirective):
    """```{references} paper``` and the like: Markdown made from data, parsed in place."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        text = generated.markdown(self.name, " ".join(self.arguments), site=True)
        made = nodes.container(classes=[f"course-{self.name}"])
        self.state.nested_parse(StringList(text.splitlines(), f"<{self.name}>"), 0, made)
        return [made]


def _to_places(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    options = app.config.html_theme_options
    start = re.escape(f"{options.get('repository_url', '')}/blob/")
    pattern = re.compile(start + r"[^/]+/(.+)\.ipynb#(.+)$")
    for node in doctree.findall(nodes.reference):
        found = pattern.match(node.get("refuri", ""))
        if found and found[1] in app.env.found_docs:
            to_page = app.builder.get_relative_uri(docname, found[1])
            node["refuri"] = f"{'' if found[1] == docname else to_page}#{found[2]}"
            node["internal"] = True


def setup(app: Sphinx) -> None:
    for name in generated.MAKERS:
        app.add_directive(name, Generated)
    app.connect("doctree-resolved", _to_places)
