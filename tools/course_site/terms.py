"""Anchors of the terms: each Terms list and the first bold use of a term can be linked to.

On a chapter, the item of the Terms list gets the id `term-…`, and the first place where the chapter
has the term in bold becomes a link to the glossary with the id `use-…`. On the glossary's page each
item gets its id, and its link goes to the bold use where there is one.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from tools.glossary import HERE, Entry, Glossary, bold, plain, slug


def _anchors(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if not docname.startswith("book/"):
        return
    for term in doctree.findall(nodes.term):
        term["ids"].append(slug(term.astext()))
    glossary = _glossary(app)
    if docname == HERE:
        _to_uses(doctree, glossary)
    elif HERE in app.env.found_docs:
        to_glossary = app.builder.get_relative_uri(docname, HERE)
        for entry in glossary.of(docname):
            for part in entry.parts:
                _link_first_use(doctree, part, f"{to_glossary}#{slug(_shown(entry, part))}")


def _glossary(app: Sphinx) -> Glossary:
    """One for a whole build."""
    if not hasattr(app, "course_glossary"):
        app.course_glossary = Glossary()
    return app.course_glossary


def _shown(entry: Entry, part: str) -> str:
    """The term under which the glossary shows a part."""
    return entry.term if part == entry.parts[0] else part


def _link_first_use(doctree: nodes.document, part: str, address: str) -> None:
    for strong in doctree.findall(nodes.strong):
        if plain(strong.astext()) == plain(part) and _in_prose(strong):
            link = nodes.reference("", "", internal=True, refuri=address, classes=["course-term"])
            strong.replace_self(link)
            link += strong
            link["ids"].append(slug(part).replace("term-", "use-", 1))
            return


def _in_prose(node: nodes.Node) -> bool:
    """Whether a node stands neither in a link nor in a heading."""
    while node.parent is not None:
        if isinstance(node, nodes.reference | nodes.title):
            return False
        node = node.parent
    return True


def _to_uses(doctree: nodes.document, glossary: Glossary) -> None:
    """Let the links of the glossary lead to the bold use where the page has one."""
    used: dict[str, str] = {}
    for entry in glossary.entries.values():
        page = glossary.course.pages[entry.page]
        for part in entry.parts:
            if not page.is_lab and entry.anchor not in used and bold(page, part):
                used[entry.anchor] = slug(part).replace("term-", "use-", 1)
    for node in doctree.findall(nodes.reference):
        address, _, anchor = node.get("refuri", "").rpartition("#")
        if anchor in used and address:
            node["refuri"] = f"{address}#{used[anchor]}"


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", _anchors, priority=600)  # behind `generated`
