"""Every idea of the three earlier texts leads to a page, an anchor and words that stand there.

`tests/cases/seed_map.yml` holds the list. An entry says in words of our own what the idea is, and
`where` names the places that carry it: an address `page#anchor`, and what its section must show.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest
import yaml
from bs4 import BeautifulSoup

from tools.facts import Facts
from tools.sources import ROOT, Course, toc_names

MAP = yaml.safe_load((ROOT / "tests/cases/seed_map.yml").read_text("utf8"))
ENTRIES = [(seed, entry) for seed in MAP["seeds"] for entry in MAP[seed]]
FACTS = Facts(Course()).all
STRAIGHT = str.maketrans("‘’“”", "''\"\"")
CORRECTIONS = "book/21_facts#what-the-course-corrects"
NAMES = ("entry", [pytest.param(entry, id=entry["id"]) for _, entry in ENTRIES])


def words(text: str) -> str:
    """The text with one blank wherever there is white space, and with straight quotes."""
    return " ".join(text.translate(STRAIGHT).split())


def section(page: BeautifulSoup, anchor: str) -> str:
    """What stands under an anchor: a section up to the next heading of its level or a higher one,
    of a page's title only what comes before the next heading; of a term its explanation, too."""
    tag = page.find(id=anchor)
    if tag is None:
        raise LookupError(f"no anchor #{anchor}")
    if tag.name == "span" and not tag.get_text().strip():
        tag = tag.parent
    if tag.name == "dt":
        return words(tag.get_text() + " " + tag.find_next("dd").get_text())
    if tag.name == "section" and tag.find("h1", recursive=False):
        parts = [part for part in tag.children if part.name != "section"]
        return words(" ".join(part.get_text() for part in parts))
    return words(tag.get_text())


def missing(pages: dict[str, BeautifulSoup], address: str, shows: list[str]) -> list[str]:
    """Return what the place does not show. Raises LookupError where there is no such place."""
    name, _, anchor = address.partition("#")
    if name not in pages:
        raise LookupError(f"no page {name}")
    text = section(pages[name], anchor)
    return [part for part in shows if words(part) not in text]


@pytest.fixture(scope="module")
def pages(html):
    return {name: BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")
            for name in toc_names()}


@pytest.fixture(scope="module")
def texts(pages):
    return [words(page.get_text()) for page in pages.values()]


@pytest.mark.parametrize(*NAMES)
def test_each_place_of_an_idea_shows_it(pages, entry):
    for address, shows in entry["where"].items():
        assert missing(pages, address, shows) == [], f"{address} does not carry: {entry['idea']}"


@pytest.mark.parametrize("entry", [
    pytest.param(e, id=e["id"]) for _, e in ENTRIES if e.get("corrected")])
def test_what_the_course_corrects_is_explained(pages, entry):
    fact = FACTS[entry["corrected"]]
    assert fact.corrects, f"the fact {fact.id} corrects nothing"
    read, found = (re.sub("[`*]", "", text) for text in (fact.corrects, fact.says))
    assert missing(pages, CORRECTIONS, [read[0].lower() + read[1:]]) == []
    assert missing(pages, f"book/21_facts#fact-{fact.id}", [found.partition("{")[0]]) == []


@pytest.mark.parametrize(*NAMES)
def test_the_proof_of_an_idea_does_not_stand_on_every_page(texts, entry):
    """Words that most pages hold would prove nothing about this place."""
    proof = [words(part) for shows in entry["where"].values() for part in shows]
    holding = sum(all(part in text for part in proof) for text in texts)
    assert holding <= len(texts) / 4


@pytest.mark.parametrize(*NAMES)
def test_an_entry_is_complete(entry):
    assert set(entry) - {"corrected"} == {"id", "kind", "idea", "where"}
    assert entry["kind"] in MAP["kinds"]
    assert len(entry["idea"].split()) >= 3
    assert entry["where"], "nowhere"
    for address, shows in entry["where"].items():
        assert re.fullmatch(r"(book|labs)/\d\d_\w+#[\w-]+", address)
        assert shows and all(isinstance(part, str) and len(part) >= 3 for part in shows)
    assert entry.get("corrected", next(iter(FACTS))) in FACTS


def test_no_entry_is_lost_and_none_stands_twice():
    ids = [entry["id"] for _, entry in ENTRIES]
    assert [i for i, count in Counter(ids).items() if count > 1] == []
    for seed, about in MAP["seeds"].items():
        found = Counter(entry["kind"] for entry in MAP[seed])
        assert dict(found) == about["counts"], f"{seed}: change the table at the top as well"
        assert all(entry["id"].startswith(f"{seed}-") for entry in MAP[seed])
    assert set(MAP) == {"kinds", "seeds", *MAP["seeds"]}


SMALL = BeautifulSoup("""
    <section id="title"><h1>Title</h1><p>opening 1.25</p>
    <section id="one"><h2>One</h2><p>two
    words</p><section id="deep"><h3>Deep</h3><p>deeper 7</p></section></section>
    <section id="two"><span id="label"></span><h2>Two</h2><p>other</p>
    <dl><dt id="term-x">x</dt><dd>explained</dd></dl></section></section>""", "html.parser")


@pytest.mark.parametrize(("anchor", "shows", "lacks"), [
    ("one", ["two words", "deeper 7"], []),
    ("one", ["other"], ["other"]),
    ("deep", ["deeper 7", "two words"], ["two words"]),
    ("title", ["opening 1.25", "other"], ["other"]),
    ("label", ["other", "deeper"], ["deeper"]),
    ("term-x", ["explained", "other"], ["other"]),
])
def test_a_section_ends_where_the_next_one_begins(anchor, shows, lacks):
    assert missing({"page": SMALL}, f"page#{anchor}", shows) == lacks


@pytest.mark.parametrize("address", ["page#three", "pages#one"])
def test_a_place_that_is_gone_is_an_error(address):
    with pytest.raises(LookupError, match="no (anchor #three|page pages)"):
        missing({"page": SMALL}, address, ["two words"])
