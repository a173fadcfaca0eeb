"""Parts of pages that are made from data, as Markdown: for the site and for the notebooks."""

from __future__ import annotations

from collections.abc import Callable

from tools.references import References

MAKERS: dict[str, Callable[[str], str]] = {
    "references": lambda kind: References().markdown(kind),
}


def markdown(directive: str, argument: str) -> str:
    """Return what ```` ```{directive} argument ```` stands for.

    >>> markdown("references", "absent").startswith("- ")
    True
    """
    return MAKERS[directive](argument)
