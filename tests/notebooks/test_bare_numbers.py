"""Every number in prose is computed, shown by a cell, or on a short list with its reason."""

import json
import math
import re

import pytest
import torch
import yaml

import course_lib
from tools.bare_numbers import bare, prose
from tools.sources import ROOT, Course, Page

COURSE = Course()
LIST = yaml.safe_load((ROOT / "tests/notebooks/bare_numbers.yml").read_text("utf8"))
EXCUSED = {(row["page"], row["number"]) for row in LIST}


def read(path):
    return (ROOT / path).read_text("utf8")


@pytest.mark.parametrize("name", list(COURSE.pages))
def test_every_number_in_prose_was_computed(name):
    left = [f"line {line}: {number!r} in: {text}"
            for line, number, text in bare(COURSE.pages[name])
            if not {(name, number), ("*", number)} & EXCUSED]
    assert left == [], "glue it, let a cell print it, or give a reason in bare_numbers.yml"


@pytest.mark.parametrize("row", LIST, ids=lambda row: f"{row['page']}: {row['number']}")
def test_an_excuse_is_needed_and_its_reason_holds(row):
    pages = COURSE.pages.values() if row["page"] == "*" else [COURSE.pages[row["page"]]]
    assert any(row["number"] == number for page in pages for _, number, _ in bare(page)), (
        "nothing needs this excuse any more: take it out")
    assert len(row["why"]) > 5
    names = {"course_lib": course_lib, "torch": torch, "json": json, "log": math.log,
             "read": read, "requirements": read("requirements-test.txt")}
    assert eval(row.get("holds", "True"), names), "the number and its reason do not agree"


@pytest.mark.parametrize(("sentence", "caught"), [
    ("The loss falls to 0.37 nats.", "0.37"),
    ("That is 37 % of the slots.", "37 %"),
    ("That is 37% of the slots.", "37%"),
    ("It runs four times faster.", "four times"),
    ("It is 12-fold.", "12-fold"),
    ("It takes 3× as long.", "3×"),
    ("A third of the slots are empty.", "A third of"),
    ("It needs twice the memory.", "twice the"),
    ("Six of the eight faults lower the loss.", "Six of the eight"),
    ("About fifty-one rows are left.", "fifty-one"),
    ("It has a million tokens.", "a million"),
    ("It has 1,234 rows.", "1,234"),
    ("It takes 15 ms.", "15"),
    ("Half of them are cut.", "Half of"),
    ("The loss is halved.", "halved"),
    ("Three-quarters are cut.", "Three-quarters"),
    ("It takes ½ of it.", "½"),
    ("Ten-thousand rows are left.", "Ten-thousand"),
    ("That doubles the cost.", "doubles the"),
    ("It is two orders of magnitude faster.", "orders of magnitude"),
    ("One in ten is lost.", "One in ten"),
    ("Two and a half times as long.", "Two and a half"),
    ("A dozen rows are left.", "dozen"),
    ("Ninety per cent are real.", "Ninety per cent"),
    ("Perplexity is 1e-3.", "1e-3"),
    (":::{dropdown} An answer\nIt is 0.37.\n:::", "0.37"),
    (":::{admonition} A question first\nIs it 41?\n:::", "41"),
    ("| rule | rows |\n|---|---|\n| best fit | 41 |", "41"),
    ("- a list of\n  88 things", "88"),
    ("**It is 41.**", "41"),
    ("[See 41 rows](02_shift.md).", "41"),
    ("(in all 41 rows)", "41"),
    ("## What we have seen\n\n- It is 41.", "41"),
])
def test_a_bare_number_is_caught(tmp_path, sentence, caught):
    assert [number for _, number, _ in bare(made(tmp_path, sentence))] == [caught]


@pytest.mark.parametrize("sentence", [
    "It is {glue:text}`mean` and {glue:text}`share` of {glue:text}`slots`.",
    "Two rules, eight slots.", "See exercise 2.4 and chapter 7, columns 0 to 41.",
    "It is `41`, $41$ or\n\n$$\n41\n$$\n", "```{code-cell} ipython3\nx = 41\n```",
    "7. A list. ([3](03_padding.md), [10](10_kernels.md))\n\n| a |\n|---|\n| 8. A row |",
    "**Time:** 35 minutes to read.\n\n", "See [this](https://example.org/41/0.37).",
    "## Further reading\n\n- *Forty one papers*, 2021, 0.37.\n\nNext: none.",
])
def test_what_is_computed_named_or_cited_is_not_bare(tmp_path, sentence):
    assert bare(made(tmp_path, sentence)) == []


SLIPPED = ["The loss falls by 61.7 %.", "It is 7.31 now.", "It takes about eleven times as long.",
           "Some 9,871 rows remain.", "Nearly two thirds of them were cut."]


@pytest.mark.parametrize("name", list(COURSE.pages))
def test_numbers_slipped_into_a_page_are_caught(name):
    page = COURSE.pages[name]
    places = [m.start() for m in re.finditer(r"\n\n(?=[A-Z][a-z]+ )", page.text)]
    text = page.text
    for place, sentence in zip(places[::-1], SLIPPED * len(places), strict=False):
        text = f"{text[:place]}\n\n{sentence}{text[place:]}"
    longer = Page(page.root, page.name)
    longer.__dict__["text"] = text
    inside = prose(text)
    slipped = sum(inside.count(sentence) for sentence in SLIPPED)
    assert slipped >= min(3, len(places) // 3)
    assert len(bare(longer)) == len(bare(page)) + slipped


def test_a_number_of_the_pages_own_outputs_is_computed():
    page = COURSE.pages["book/05_packing"]
    printed = Page(page.root, page.name)
    printed.__dict__["text"] = "In rows of 2,048 slots."
    assert bare(printed) == []
    printed.__dict__["text"] = "In rows of 2,051 slots."
    assert [number for _, number, _ in bare(printed)] == ["2,051"]


def made(folder, text):
    (folder / "book").mkdir(exist_ok=True)
    (folder / "book/99_made.md").write_text(f"---\nx: 1\n---\n\n# Made\n\n{text}\n")
    return Page(folder, "book/99_made")


def test_the_list_is_short_and_written_once():
    assert len(EXCUSED) == len(LIST)
    assert all(re.fullmatch(r"\*|(book|labs)/\w+", row["page"]) for row in LIST)
