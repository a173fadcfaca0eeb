"""The sources of the course: written once in `book/references.yml`, cited by their addresses.

A chapter cites with a plain link; here each link is matched with its entry, so that the reference
page can say who cites what, and a test can say which link has no entry and which entry no link.
`markdown(kind)` is what the page shows; the same text serves the site and the notebook.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import yaml

from tools.sources import Course, Page

HERE = "book/19_references"
KINDS = ("paper", "documentation", "code", "text")
_CELL = re.compile(r"^```\{code-cell\}.*?^```\s*$", re.M | re.S)
_ADDRESS = re.compile(r"https?://(?:[^\s()<>\"'`\]]|\([^\s()]*\))+")


def normal(address: str) -> str:
    """Return one spelling for all that lead to the same source.

    >>> normal("https://arxiv.org/abs/2107.02027v2") == normal("doi.org/10.48550/arXiv.2107.02027")
    True
    >>> normal("https://example.org/page/#part")
    'example.org/page'
    """
    plain = re.sub(r"^https?://(www\.|dx\.|export\.)?", "",
                   address.split("#")[0].rstrip(".,;:/").lower())
    return re.sub(r"^arxiv\.org/(?:abs|pdf|html)/([\d.]+\d)(v\d+)?(\.pdf)?$",
                  r"doi.org/10.48550/arxiv.\1", plain)


def addresses(text: str) -> list[str]:
    """Return the addresses in the prose of a page; code cells are left out.

    >>> addresses("see [it](https://doi.org/10.1/x(90)y-S), <https://a.org/b>.")
    ['https://doi.org/10.1/x(90)y-S', 'https://a.org/b']
    """
    return [a.rstrip(".,;:") for a in _ADDRESS.findall(_CELL.sub("", text))]


@dataclass(frozen=True)
class Reference:
    """One source: who, when, what, where, and one sentence on what is to be found there."""

    key: str
    kind: str
    title: str
    found: str
    authors: str = ""
    year: int | None = None
    venue: str = ""
    doi: str = ""
    url: str = ""
    also: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        return f"https://doi.org/{self.doi}" if self.doi else self.url

    @property
    def short(self) -> str:
        """How a sentence names it: `Krell et al. (2021)`, or the title."""
        if not self.authors:
            return self.title
        names = [_family(name) for name in re.split(r", | and ", self.authors)]
        many = len(names) > 2 or "et al" in names[-1]
        who = f"{names[0].split(' et al')[0]} et al." if many else " and ".join(names)
        return f"{who} ({self.year})"

    def shown(self) -> str:
        """The entry as Markdown, without the pages that cite it."""
        who = f"{self.authors}{f' ({self.year})' if self.year else ''}. " if self.authors else ""
        venue = f" {self.venue}." if self.venue else ""
        title = f"*{self.title}*" if self.doi else f"[{self.title}]({self.url})"
        doi = f" [doi:{self.doi}]({self.address})." if self.doi else ""
        return f"{who}{title}.{venue}{doi}\\\n{self.found}"


@dataclass(frozen=True)
class References:
    """All sources of a course, and who cites them."""

    course: Course = Course()

    @cached_property
    def data(self) -> dict:
        return yaml.safe_load((self.course.root / "book/references.yml").read_text("utf8"))

    @cached_property
    def entries(self) -> dict[str, Reference]:
        rows = [Reference(**row | {"also": tuple(row.get("also", ()))})
                for row in self.data["references"]]
        return by_name(rows, "key")

    @cached_property
    def by_address(self) -> dict[str, Reference]:
        return {normal(a): e for e in self.entries.values() for a in (e.address, *e.also)}

    def is_own(self, address: str) -> bool:
        """True for the course's own repository and site, which are no sources."""
        return normal(address).startswith((normal(self.course.repository),
                                           normal(self.course.config["html"]["baseurl"])))

    def links(self, page: Page) -> list[str]:
        """The addresses of other people's things in the prose of a page."""
        return [a for a in addresses(page.text) if not self.is_own(a)]

    def unknown(self, page: Page) -> list[str]:
        """The links of a page that have no entry and are not excused."""
        excused = {normal(row["address"]) for row in self.data["not_sources"]}
        return [a for a in self.links(page) if normal(a) not in {*self.by_address, *excused}]

    @cached_property
    def cited_by(self) -> dict[str, list[str]]:
        """Key -> names of the pages that cite it, in the order of the book."""
        from tools.facts import Facts  # the page of facts cites by key

        found: dict[str, list[str]] = {key: [] for key in self.entries}
        for name, page in self.course.pages.items():
            there = {normal(a) for a in self.links(page)}
            keys = {self.by_address[a].key for a in there if a in self.by_address}
            for key in keys | (Facts(self.course).cites if name == Facts.page else set()):
                found[key].append(name)
        return found

    def markdown(self, kind: str) -> str:
        """The entries of one kind as Markdown, by author or title; `absent`: what is not here."""
        if kind == "absent":
            return "\n".join(f"- {row['name']}: {row['reason']}" for row in self.data["absent"])
        if kind not in KINDS:
            raise ValueError(f"no kind of reference is called {kind!r}: {', '.join(KINDS)}, absent")
        mine = [e for e in self.entries.values() if e.kind == kind]
        mine.sort(key=lambda e: (_sorted_as(e), e.year or 0))
        return "\n\n".join(f"(ref-{e.key})=\n{e.shown()} {self._cited(e)}" for e in mine)

    def _cited(self, entry: Reference) -> str:
        pages = [self.course.pages[name] for name in self.cited_by[entry.key]]
        links = [f"[{p.title.split(':')[0]}]({self.path(p)})" for p in pages]
        return f"Cited in {joined(links)}." if links else ""

    def path(self, page: Page) -> str:
        """A page as a link from a chapter."""
        return f"{'../labs/' if page.is_lab else ''}{page.name.split('/')[1]}.md"

    def link(self, key: str) -> str:
        """A link from anywhere to an entry of the page."""
        return f"[{self.entries[key].short}]({self.course.notebook_url(HERE)}#ref-{key})"


def by_name(rows: Iterable, name: str) -> dict:
    """Return name -> row; raises ValueError where two rows have one name, as one would be lost."""
    found: dict = {}
    for row in rows:
        if found.setdefault(getattr(row, name), row) is not row:
            raise ValueError(f"{name} {getattr(row, name)!r} is given twice; give it once.")
    return found


def _sorted_as(entry: Reference) -> str:
    """The family name of the first author (initials are left out), else the title."""
    first = re.split(r", | and | et al", entry.authors or entry.title)[0]
    return _family(first).lower()


def _family(name: str) -> str:
    return re.sub(r"^(?:\w\. ?)+", "", name)


def joined(parts: Iterable[str]) -> str:
    """Return a list as a sentence has it.

    >>> joined("abc")
    'a, b and c'
    """
    *rest, last = list(parts) or [""]
    return f"{', '.join(rest)} and {last}" if rest else last
