"""On the site the glossary and the first uses of its terms lead to each other."""

import pytest
from bs4 import BeautifulSoup

from tools.glossary import HERE, Glossary, bold, slug
from tools.sources import toc_names

GLOSSARY = Glossary()
BOOK = [name for name in toc_names() if name.startswith("book/") and GLOSSARY.of(name)]


def read(html, name):
    return BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")


@pytest.fixture(scope="module")
def glossary_page(html):
    return read(html, HERE)


def test_the_glossary_shows_every_term(glossary_page):
    shown = [dt.get_text().strip("#¶\n ") for dt in glossary_page.select(".course-terms dt")]
    assert len(shown) == len(set(shown)) == len(GLOSSARY.entries)


@pytest.mark.parametrize("name", BOOK)
def test_terms_and_their_first_uses_lead_to_each_other(html, glossary_page, name):
    page = read(html, name)
    for entry in GLOSSARY.of(name):
        link = glossary_page.find(id=slug(entry.term)).find_next("dd").find_all("a")[-1]
        path, _, anchor = link["href"].partition("#")
        assert path == f"{name.removeprefix('book/')}.html"
        assert page.find(id=anchor) is not None, (entry.term, anchor)
        in_bold = [part for part in entry.parts if bold(GLOSSARY.course.pages[name], part)]
        assert anchor.startswith("use-" if in_bold else "term-")
        for part in in_bold:
            first = page.find(id=slug(part).replace("term-", "use-", 1))
            path, _, back = first["href"].partition("#")
            assert first.find("strong") and path == "17_glossary.html"
            assert glossary_page.find(id=back) is not None
