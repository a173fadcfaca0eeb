"""Every term is in the glossary once, in order, and leads to where it is first used."""

import re

import pytest

from tools.generated import markdown
from tools.glossary import Entry, Glossary, bold, defined, plain, slug
from tools.sources import Course, toc_names

COURSE = Course()
GLOSSARY = Glossary(COURSE)
CHAPTERS = [name for name in toc_names() if name.startswith("book/")]
LINES = markdown("terms", "", site=True).splitlines()
TERMS = [a for a, b in zip(LINES, LINES[1:], strict=False) if b.startswith(": ")]


def names(term):
    return Entry(term, "", "", "").parts


@pytest.mark.parametrize("name", COURSE.pages)
def test_every_term_of_a_page_is_in_the_glossary_exactly_once(name):
    shown = [plain(part) for term in TERMS for part in names(term)[:1]]
    for term, _ in defined(COURSE.pages[name]):
        for part in names(term):
            assert shown.count(plain(part)) == 1, part


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_heading_terms_has_a_list_that_is_read(name):
    text = COURSE.pages[name].text
    found = defined(COURSE.pages[name])
    assert ("\n## Terms\n" in text) == bool(found)
    section = text.partition("\n## Terms\n")[2].partition("\n## ")[0]
    assert len(re.findall(r"^:\s", section, re.M)) == len(found)


def test_terms_are_sorted():
    first = [plain(names(term)[0]) for term in TERMS]
    assert first == sorted(first) and len(first) > 60


def test_each_entry_is_one_or_two_sentences_and_leads_to_its_page():
    for term, line in zip(LINES, LINES[1:], strict=False):
        if not line.startswith(": "):
            continue
        if line.startswith(": See ["):
            target = re.search(r"17_glossary\.ipynb#([\w-]+)\)", line)[1]
            assert target in map(slug, TERMS)
            continue
        entry = GLOSSARY.entries[plain(names(term)[0])]
        text, _, link = line.removeprefix(": ").partition(" → ")
        assert 1 <= len(re.findall(r"[.?!](?= |$)", text)) <= 2, text
        assert f"/{entry.page}.ipynb#{entry.anchor})" in link
        assert term in dict(defined(COURSE.pages[entry.page]))


def test_of_two_definitions_the_first_in_reading_order_counts():
    order = toc_names()
    for entry in GLOSSARY.entries.values():
        for page in (name for name in order if name.startswith("book/")):
            if page == entry.page:
                break
            terms = {plain(p) for term, _ in defined(COURSE.pages[page]) for p in names(term)}
            assert not terms & set(map(plain, entry.parts)), (page, entry.term)


def test_a_small_course(tmp_path):
    for folder in ("book", "labs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "_config.yml").write_text("repository: {url: https://a.b/c, branch: main}\n")
    (tmp_path / "book/01_one.md").write_text(
        "# One: first\n\nA **slot**, `x = '**row**'`.\n\n## Terms\n\nslot\n: a cell\n"
        "  of a row.\n\n`wide`, narrow\n: Two; words.\n\n## Further reading\n")  # fmt: skip
    (tmp_path / "book/02_two.md").write_text("# Two\n\n## Terms\n\nSlot\n: Another.\n")
    (tmp_path / "labs/01_lab.md").write_text(
        "# Lab\n\n## Terms\n\n- **row** (line): some\n  slots.\n\nNext.\n")  # fmt: skip
    course = Course(tmp_path)
    glossary = Glossary(course, ["book/01_one", "book/02_two", "labs/01_lab"])
    page = course.pages["book/01_one"]
    assert [(e.term, e.text, e.page, e.anchor) for e in glossary.of("book/01_one")] == [
        ("`wide`, narrow", "Two; words.", "book/01_one", "term-wide-narrow"),
        ("slot", "a cell of a row.", "book/01_one", "term-slot"),
    ]
    assert bold(page, "Slot") and not bold(page, "narrow")
    assert glossary.of("book/02_two") == []
    assert glossary.markdown().splitlines() == [
        "narrow",
        ": See [`wide`](https://a.b/c/blob/main/book/17_glossary.ipynb#term-wide-narrow).",
        "",
        "row",
        ": Some slots. → [Lab](https://a.b/c/blob/main/labs/01_lab.ipynb#terms)",
        "",
        "slot",
        ": A cell of a row. → [One](https://a.b/c/blob/main/book/01_one.ipynb#term-slot)",
        "",
        "`wide`, narrow",
        ": Two; words. → [One](https://a.b/c/blob/main/book/01_one.ipynb#term-wide-narrow)",
    ]
