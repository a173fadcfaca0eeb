"""The reference pages: every name, source and claim has its place, and every link finds it."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from course_lib.contents import public_names, rooms
from tools.facts import Facts
from tools.references import References
from tools.sources import Course, toc_names

COURSE = Course()
NAMES = toc_names()
API, FACTS, REFERENCES = "book/20_api", "book/21_facts", "book/19_references"


@pytest.fixture(scope="module")
def soup(html):
    return {name: BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")
            for name in NAMES}


@pytest.fixture(scope="module")
def ids(soup):
    return {name: [tag["id"] for tag in page.select("[id]")] for name, page in soup.items()}


def test_every_public_name_has_one_entry_with_an_anchor(soup, ids):
    entries = [dt.get("id") for dt in soup[API].select("dt.sig")]
    for room in rooms():
        for name in public_names(room):
            assert entries.count(name.address) == 1, name.address
            assert ids[API].count(name.address) == 1


def test_an_entry_shows_the_docstring_and_its_examples(soup):
    entry = soup[API].find("dt", id="course_lib.pad_documents").parent
    assert "Return a Batch" in entry.get_text() and ">>> pad_documents" in entry.get_text()
    assert soup[API].select("dt.sig .problematic") == []


@pytest.mark.parametrize("name", NAMES)
def test_every_link_to_a_place_finds_it(soup, ids, name):
    lost = []
    for link in soup[name].select("article a[href*='#']"):
        url = urlsplit(link["href"])
        if url.scheme or not url.fragment:
            continue
        page = posixpath.normpath(posixpath.join(posixpath.dirname(name), url.path)) if url.path \
            else f"{name}.html"
        if unquote(url.fragment) not in ids.get(page.removesuffix(".html"), ()):
            lost.append(link["href"])
    assert lost == []


def test_sources_and_claims_have_their_places(ids):
    for key in References(COURSE).entries:
        assert ids[REFERENCES].count(f"ref-{key}") == 1
    for key in Facts(COURSE).all:
        assert ids[FACTS].count(f"fact-{key}") == 1


def test_places_on_other_pages_are_linked_within_the_site(soup):
    for name in (REFERENCES, FACTS):
        links = [a["href"] for a in soup[name].select("article a[href]")]
        assert [x for x in links if "/blob/" in x and ".ipynb" in x] == []
    within = [a["href"] for a in soup[FACTS].select("article a[href*='19_references.html#ref-']")]
    assert len(within) > 30


def test_the_first_use_of_a_name_in_a_chapter_leads_to_its_entry(soup):
    links = soup["book/05_packing"].select("a.course-api-link")
    names = [a.get_text() for a in links]
    assert "pack_documents" in names and len(set(names)) == len(names)
    for link in links:
        assert link["href"].startswith("20_api.html#course_lib.")
