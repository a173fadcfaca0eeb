"""The glossary: every term of the chapters' and labs' "Terms" lists, written there and only there.

A chapter's list is a definition list, a lab's is bullets with bold terms. The first page in reading
order that defines a term gives its text. `markdown()` is what the page shows; the same text serves
the site and the notebook. `tools/course_site/terms.py` makes the anchors that its links lead to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from tools.sources import Course, Page, toc_names

HERE = "book/17_glossary"
_SECTION = re.compile(r"^## Terms\s*\n(.*?)(?=^## |\Z)", re.M | re.S)
_LISTED = re.compile(r"^(\S.*)\n:\s+(.*(?:\n[ \t]+\S.*)*)", re.M)
_BULLET = re.compile(r"^- \*\*(.+?)\*\*(?: \([^)]*\))?: (.*(?:\n  \S.*)*)", re.M)
_CELL = re.compile(r"^```\{code-cell\}.*?^```\s*$", re.M | re.S)


def plain(term: str) -> str:
    """Return a term as it is compared: without code marks, in lower case, blanks single.

    >>> plain("`cu_seqlens`"), plain("Fully  masked")
    ('cu_seqlens', 'fully masked')
    """
    return " ".join(term.replace("`", "").replace("*", "").lower().split())


def slug(term: str) -> str:
    """Return the anchor of a term.

    >>> slug("pair (sum, count)"), slug("convention B′")
    ('term-pair-sum-count', 'term-convention-b-prime')
    """
    words = re.sub(r"[^a-z0-9]+", "-", plain(term).replace("′", " prime"))
    return f"term-{words.strip('-')}"


@dataclass(frozen=True)
class Entry:
    """A term as its page writes it, one or two sentences, the page, and the anchor there."""

    term: str
    text: str
    page: str
    anchor: str

    @property
    def parts(self) -> list[str]:
        """The terms of an entry that defines several at once: "full, partial"."""
        return [self.term] if "(" in self.term else re.split(r",\s+", self.term)


def defined(page: Page) -> list[tuple[str, str]]:
    """Return (term, text) for each item of a page's Terms list, [] where it has none."""
    section = _SECTION.search(page.text)
    if not section:
        return []
    found = (_BULLET if page.is_lab else _LISTED).findall(section[1])
    return [(term.strip(), " ".join(text.split())) for term, text in found]


def bold(page: Page, term: str) -> bool:
    """Return whether the page's own prose, before its Terms list, has the term in bold."""
    prose = _CELL.sub("", page.text.split("\n## Terms")[0])
    return plain(term) in map(plain, re.findall(r"\*\*([^*]+?)\*\*", prose))


class Glossary:
    """All entries of a course, in the order of their terms."""

    def __init__(self, course: Course | None = None, names: list[str] | None = None) -> None:
        self.course = course or Course()
        order = toc_names(self.course.root) if names is None else names
        self.pages = [self.course.pages[name] for name in order if name in self.course.pages]

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Plain term -> entry; of two definitions the first in reading order."""
        found: dict[str, Entry] = {}
        for page in sorted(self.pages, key=lambda page: page.is_lab):
            for term, text in defined(page):
                anchor = "terms" if page.is_lab else slug(term)
                entry = Entry(term, text, page.name, anchor)
                if all(plain(part) not in found for part in entry.parts):
                    found |= {plain(part): entry for part in entry.parts}
        return dict(sorted(found.items()))

    def of(self, page: str) -> list[Entry]:
        """Return the entries that a page gives."""
        unique = {entry.term: entry for entry in self.entries.values() if entry.page == page}
        return list(unique.values())

    def markdown(self) -> str:
        """Return the definition list; a second name of an entry leads to the first."""
        lines: list[str] = []
        for name, entry in self.entries.items():
            own = next(part for part in entry.parts if plain(part) == name)
            if own == entry.parts[0]:
                title = self.course.pages[entry.page].title.split(":")[0]
                link = f"[{title}]({self.course.notebook_url(entry.page)}#{entry.anchor})"
                lines += [entry.term, f": {_sentence(entry.text)} → {link}", ""]
            else:
                there = f"{self.course.notebook_url(HERE)}#{slug(entry.term)}"
                lines += [own, f": See [{entry.parts[0]}]({there}).", ""]
        return "\n".join(lines)


def _sentence(text: str) -> str:
    """Return a definition with a capital and a full stop."""
    first = text if text.startswith("`") else text[:1].upper() + text[1:]
    return first if first.endswith((".", "?", "!")) else f"{first}."
