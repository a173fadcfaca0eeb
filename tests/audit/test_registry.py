"""Adding a rule is one function, one entry, one example: these tests miss what was forgotten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import course_lib
from course_lib.audit import CODES, explain
from course_lib.audit.codes import CHAPTERS, NEEDS
from course_lib.audit.registry import RULES, rule
from course_lib.audit.report import SEVERITIES
from tests.audit.case_adapter import report_of
from tests.audit.examples import EXAMPLES
from tests.audit.test_fault_cases import load

ROOT = Path(course_lib.__file__).parent.parent


def test_every_code_has_a_rule():
    assert set(CODES) == {code for r in RULES for code in r.codes}


def test_every_code_is_shown_by_a_case_or_an_example():
    shown = {code for case in load() for code in report_of(case["input"]).codes}
    assert set(CODES) - shown - set(EXAMPLES) == set()


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_shows_its_code_and_its_repair_does_not(code):
    faulty, right = EXAMPLES[code]
    assert code in faulty().codes, str(faulty())
    assert code not in right().codes, str(right())
    hit = next(f for f in faulty().findings if f.code == code)
    assert hit.where and hit.sentence.endswith(".") and hit.way_out and hit.count >= 1


@pytest.mark.parametrize("code", CODES)
def test_an_entry_is_complete(code):
    entry = CODES[code]
    assert entry.severity in SEVERITIES and entry.chapter in CHAPTERS.values()
    assert len(entry.title) < 75 and entry.explanation.endswith(".")
    assert not entry.way_out.endswith(".") and entry.title in explain(code).replace("\n", " ")
    assert all(len(line) <= 80 for line in explain(code).splitlines())


def slug(heading: str) -> str:
    """The anchor that the site gives a heading."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


@pytest.mark.parametrize("address", CHAPTERS.values())
def test_a_chapter_has_the_heading_that_is_pointed_to(address):
    page, _, anchor = address.partition("#")
    text = (ROOT / page.replace(".html", ".md")).read_text("utf8")
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    assert anchor in {slug(h) for h in headings}, headings


def test_every_chapter_is_pointed_to():
    assert {entry.chapter for entry in CODES.values()} == set(CHAPTERS.values())


def test_every_need_is_used():
    assert set(NEEDS) == {need for r in RULES for need in r.needs}


def test_a_rule_without_an_entry_is_refused():
    with pytest.raises(KeyError, match="no entry in course_lib.audit.codes.CODES"):
        rule("a_code_that_nobody_wrote_down")


def test_an_unknown_code_is_explained_by_its_neighbours():
    with pytest.raises(ValueError, match="pad_target"):
        explain("pad_tagret")


@pytest.mark.parametrize("part", ["nodoc", "no-document", "No_Document_Mask"])
def test_a_part_of_a_code_finds_it(part):
    with pytest.raises(ValueError, match="Did you mean no_document_mask"):
        explain(part)
