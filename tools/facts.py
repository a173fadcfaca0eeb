"""The claims of the course, written once in `book/facts.yml`, each with where it comes from.

A claim is computed on a page (its numbers are those that the page glued), held by tests, measured
(its numbers are those of the stored benchmark) or cited. Nothing is executed here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import yaml
from docutils.nodes import make_id

from course_lib.bench import Comparison, Comparisons, stored
from tools.glued import glued, section_of
from tools.references import by_name
from tools.sources import Course, Page

_NAMES = re.compile(r"\{([\w-]+)(?::[^}]*)?\}")


@dataclass(frozen=True)
class Fact:
    """One claim: `says` may hold {names} of values; the rest says where it comes from."""

    id: str
    about: str
    says: str
    computed: str = ""
    tests: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    corrects: str = ""

    @property
    def kinds(self) -> list[str]:
        """Of the four ways in which a claim is founded, those that this one has."""
        return [kind for kind in ("computed", "tests", "measured", "cited") if getattr(self, kind)]

    @property
    def names(self) -> list[str]:
        """The names of the values in the sentence."""
        return _NAMES.findall(self.says)


@dataclass(frozen=True)
class Facts:
    """All claims, and what the page shows of them."""

    course: Course = Course()
    page: ClassVar[str] = "book/21_facts"

    @cached_property
    def all(self) -> dict[str, Fact]:
        rows = yaml.safe_load((self.course.root / "book/facts.yml").read_text("utf8"))["facts"]
        lists = ("tests", "measured", "cited")
        made = [Fact(**{k: tuple(v) if k in lists else v for k, v in r.items()}) for r in rows]
        return by_name(made, "id")

    @property
    def cites(self) -> set[str]:
        """The keys of all references that a claim cites."""
        return {key for fact in self.all.values() for key in fact.cited}

    @cached_property
    def _glued(self) -> dict[str, dict[str, str]]:
        pages = {self.page_of(f).name for f in self.all.values() if f.computed and f.names}
        return {name: glued(self.course, name) for name in pages}

    def page_of(self, fact: Fact) -> Page:
        """The page that computes a claim."""
        return self.course.pages[fact.computed.partition("#")[0]]

    def section(self, fact: Fact) -> str:
        """The heading under which the claim is computed."""
        return fact.computed.partition("#")[2] or section_of(self.page_of(fact), fact.names[0])

    def comparison(self, fact: Fact) -> tuple[Comparisons, Comparison]:
        """The stored run and its line, for a measured claim. Raises LookupError without it."""
        file, what, beside = fact.measured
        run = stored(file)
        for line in run:
            if (line.what, line.theirs_is) == (what, beside):
                return run, line
        raise LookupError(f"{fact.id}: results/{file}.json has no line {what!r} beside {beside!r}")

    def sentence(self, fact: Fact) -> str:
        """The claim with its numbers."""
        if fact.measured:
            _, line = self.comparison(fact)
            number = re.findall(r"\d[\d,]*", line.what)
            return fact.says.format(n=number[0] if number else "", ratio=line.ratio,
                                    ours=line.ours, theirs=line.theirs)
        return fact.says.format_map(self._glued[self.page_of(fact).name] if fact.names else {})

    def founded(self, fact: Fact) -> str:
        """Where a claim comes from, as Markdown."""
        from tools.references import References, joined

        parts = []
        if fact.computed:
            page, section = self.page_of(fact), self.section(fact)
            place = f"{self.course.notebook_url(page.name)}#{make_id(section.replace('`', ''))}"
            parts.append(f"Computed in [{page.title.split(':')[0]}, "
                         f"{section.replace('`', '')}]({place}).")
        if fact.measured:
            run, line = self.comparison(fact)
            used = [f"{name} {version}" for name, version in run.versions.items()
                    if name == "torch" or name in line.theirs_is.lower()]
            parts.append(f"Measured on {run.date} with {joined(used)}.")
        if fact.tests:
            links = [f"[{words(t)}]({self.test_url(t)})" for t in fact.tests]
            parts.append(f"Tested: {joined(links)}.")
        if fact.cited:
            parts.append(f"Cited: {joined(References(self.course).link(k) for k in fact.cited)}.")
        return " ".join(parts)

    def test_url(self, test: str) -> str:
        """The file of a test in the repository."""
        return f"{self.course.repository}/blob/{self.course.branch}/{test.partition('::')[0]}"

    def markdown(self, about: str) -> str:
        """The claims about one subject as Markdown; `corrected`: what they correct elsewhere."""
        if about == "corrected":
            here = self.course.notebook_url(self.page)
            return "\n\n".join(f"One reads {f.corrects[0].lower()}{f.corrects[1:]}\\\n"
                               f"Here: [{self.sentence(f)}]({here}#fact-{f.id})"
                               for f in self.all.values() if f.corrects)
        mine = [f for f in self.all.values() if f.about == about]
        if not mine:
            raise ValueError(f"no fact is about {about!r}: "
                             f"{', '.join({f.about: 0 for f in self.all.values()})}")
        return "\n\n".join(f"(fact-{f.id})=\n{self.sentence(f)}\\\n<small>{self.founded(f)}</small>"
                           for f in mine)


def words(test: str) -> str:
    """Return the name of a test as words.

    >>> words("tests/test_loss.py::TestX::test_pairs_add_up")
    'pairs add up'
    """
    return test.rpartition("::")[2].removeprefix("test_").replace("_", " ")
