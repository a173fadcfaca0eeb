"""The API page reads the package: autodoc's settings, and links between names and their entries.

A name in backticks, in a docstring or at its first use in a chapter, leads to its entry where the
site has one. What a signature names of other people's (`Tensor`, `Sequence`) stays plain text: no
inventory of another site is fetched.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from tools import api

SETTINGS = {
    "default_role": "course",
    "autodoc_member_order": "bysource",
    "autodoc_preserve_defaults": True,
    "maximum_signature_line_length": 56,
    "toc_object_entries": False,
}


def _course_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """`pack_documents` in a docstring: code, and a link if it is a public name."""
    code = nodes.literal(rawtext, text)
    name = text.removesuffix("()")
    if name not in api.unique():
        return [code], []
    address = api.addresses()[name]
    link = addnodes.pending_xref(
        rawtext, code, refdomain="py", reftype="obj", reftarget=address, refexplicit=True)
    return [link], []


def _plain(app: Sphinx, env, node: addnodes.pending_xref, shown: nodes.Node):
    """Names of Python and torch in signatures, and entries that a single page lacks, are text."""
    return shown if node.get("refdomain") == "py" else None


def _one_target(app: Sphinx, doctree: nodes.document) -> None:
    """A short name in a signature leads to the one entry of that name, or stays text."""
    for node in list(doctree.findall(addnodes.pending_xref)):
        target = node.get("reftarget", "")
        if node.get("refdomain") != "py" or "." in target:
            continue
        if target in api.unique():
            node["reftarget"] = api.addresses()[target]
            node.attributes.pop("refspecific", None)
        else:
            node.replace_self(node.children)


def _defaults(app: Sphinx, what, name, obj, options, signature, returns):
    """`<factory>`, which dataclasses write for a default made anew, is no Python: show `...`."""
    return (signature.replace("<factory>", "..."), returns) if signature else None


def _link_first_uses(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """In a chapter or lab: the first `name` in prose becomes a link to its entry."""
    if docname == api.PAGE or api.PAGE not in app.env.found_docs:
        return
    to_page = app.builder.get_relative_uri(docname, api.PAGE)
    seen: set[str] = set()
    for code in list(doctree.findall(nodes.literal)):
        name = code.astext().removesuffix("()")
        if name not in api.unique() or name in seen or _is_no_prose(code):
            continue
        seen.add(name)
        link = nodes.reference("", "", internal=True, classes=["course-api-link"],
                               refuri=f"{to_page}#{api.addresses()[name]}")
        code.replace_self(link)
        link += code


def _is_no_prose(node: nodes.Node) -> bool:
    while node is not None:
        if isinstance(node, (nodes.reference, nodes.title, addnodes.pending_xref)):
            return True
        node = node.parent
    return False


def plain_signatures(html: str) -> str:
    """Return a page whose signatures of several lines are no lists: such a list has no terms.

    >>> plain_signatures('<dt class="sig">f(<dl><dd>a</dd></dl>)</dt><dl>')
    '<dt class="sig">f(<div class="sig-lines"><div>a</div></div>)</dt><dl>'
    """
    tags = {"<dl>": '<div class="sig-lines">', "<dd>": "<div>", "</dl>": "</div>",
            "</dd>": "</div>"}
    return re.sub(
        r'<dt class="sig.*?</dt>',
        lambda m: re.sub("|".join(tags), lambda tag: tags[tag[0]], m[0]), html, flags=re.S)


def _mend(app: Sphinx, exception: Exception | None) -> None:
    path = Path(app.outdir) / f"{api.PAGE}.html"
    if exception is None and app.builder.format == "html" and path.exists():
        path.write_text(plain_signatures(path.read_text("utf8")), "utf8")


def setup(app: Sphinx) -> None:
    app.setup_extension("sphinx.ext.autodoc")
    app.add_role("course", _course_role)
    app.add_css_file("reference.css")
    for name, value in SETTINGS.items():
        app.config[name] = value
    app.connect("autodoc-process-signature", _defaults)
    app.connect("doctree-read", _one_target)
    app.connect("missing-reference", _plain)
    app.connect("doctree-resolved", _link_first_uses, priority=600)
    app.connect("build-finished", _mend)
