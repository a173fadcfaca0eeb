"""Parts of pages that are made from data, as Markdown: for the site and for the notebooks."""

from __future__ import annotations

from collections.abc import Callable

from tools import api
from tools.facts import Facts
from tools.glossary import Glossary
from tools.references import References

MAKERS: dict[str, Callable[[str, bool], str]] = {
    "references": lambda kind, site: References().markdown(kind),
    "facts": lambda about, site: Facts().markdown(about),
    "terms": lambda _, site: Glossary().markdown(),
    "api": lambda room, site: api.markdown(room, site=site),
}


def markdown(directive: str, argument: str, *, site: bool) -> str:
    """Return what ```` ```{directive} argument ```` stands for.

    >>> markdown("references", "absent", site=False).startswith("- ")
    True
    """
    return MAKERS[directive](argument, site)
