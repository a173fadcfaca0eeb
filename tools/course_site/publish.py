"""What makes the published site findable: site map, cards, and a page for a wrong address.

All three follow `html.baseurl` in _config.yml. Without it there is no site map, links of cards stay
relative, and the page for a wrong address supposes that the site stands at the root of its host.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config

LIBRARIES = ("sphinx_sitemap", "sphinxext.opengraph", "notfound.extension")
MARK = Path(__file__).resolve().parents[1] / "web" / "card.png"
"""The course's mark on each card: the drawing of favicon.svg, as cards take no SVG."""
UNLISTED = ("404", "search", "genindex", "py-modindex")
"""Pages that are no page of the course: neither in the site map nor in a search engine."""
NO_INDEX = '<meta name="robots" content="noindex" />'
NOT_FOUND = """<h1>There is no such page</h1>
<p>The address leads nowhere: a page may have moved, or a letter of the address is missing.</p>
<ul>
<li><a href="{prefix}{first}.html">The first page of the course</a>, with its map</li>
<li><a href="{prefix}search.html">Search the course</a></li>
</ul>
<p>All pages are listed in the sidebar.</p>"""


def prefix_of(base: str) -> str:
    """Where on its host the site stands, with a slash at both ends.

    >>> prefix_of("https://example.org/course"), prefix_of("")
    ('/course/', '/')
    """
    path = urlsplit(base).path.strip("/")
    return f"/{path}/" if path else "/"


def _configure(app: Sphinx, config: Config) -> None:
    base = (config.html_baseurl or "").rstrip("/")
    prefix = prefix_of(base)
    if base:
        config.site_url = config.ogp_site_url = f"{base}/"
    else:
        config.suppress_warnings = [*config.suppress_warnings, "sitemap.configuration"]
    config.sitemap_url_scheme = "{link}"
    config.sitemap_excludes = [f"{name}.html" for name in UNLISTED]
    config.ogp_site_name = str(config.html_title or config.project)
    config.ogp_social_cards = {"image_mini": os.path.relpath(MARK, app.srcdir),
                               "line_color": "#12587f"}  # fmt: skip
    config.notfound_urls_prefix = prefix
    body = NOT_FOUND.format(prefix=escape(prefix), first=escape(config.root_doc))
    config.notfound_context = {"title": "There is no such page", "body": body}


def _unlist(app: Sphinx, pagename: str, templatename, context: dict, doctree) -> None:
    if pagename in UNLISTED:
        context["pageurl"] = None  # no canonical address
        context["metatags"] = context.get("metatags", "") + NO_INDEX
    if pagename == "404":  # shown at any depth, so that no relative address would hold
        context["content_root"] = prefix_of(app.config.html_baseurl or "")


def setup(app: Sphinx) -> None:
    for name in LIBRARIES:
        app.setup_extension(name)
    app.connect("config-inited", _configure, priority=900)  # _toc.yml is read by then
    app.connect("html-page-context", _unlist, priority=960)
