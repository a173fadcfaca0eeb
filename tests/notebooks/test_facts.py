"""Every claim leads somewhere: to a section and its values, a test, a stored run, a source."""

import ast
import re
from dataclasses import replace

import pytest

from tools.bare_numbers import numbers, prose
from tools.facts import Facts
from tools.references import References
from tools.sources import ROOT, Course

COURSE = Course()
FACTS = Facts(COURSE)
ALL = list(FACTS.all.values())
SUBJECTS = dict.fromkeys(fact.about for fact in ALL)
PAGE = COURSE.pages[Facts.page].text


def having(kind):
    return pytest.mark.parametrize("fact", [f for f in ALL if getattr(f, kind)], ids=lambda f: f.id)


def nodes_of(path):
    """Node ids of a test file, without parameters."""
    for node in ast.parse((ROOT / path).read_text("utf8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        start = f"{path}::{node.name}::" if isinstance(node, ast.ClassDef) else f"{path}::"
        yield from (start + n.name for n in inner if isinstance(n, ast.FunctionDef))


@pytest.mark.parametrize("fact", ALL, ids=lambda f: f.id)
def test_a_claim_is_founded_and_one_sentence(fact):
    assert fact.kinds, "computed, tested, measured or cited?"
    text = FACTS.sentence(fact)
    assert text.endswith(".") and ". " not in text and "{" not in text


@having("computed")
def test_a_computed_claim_leads_to_a_section_of_its_page(fact):
    page, section = FACTS.page_of(fact), FACTS.section(fact)
    code_less = re.sub(r"^```.*?^```$", "", page.text, flags=re.M | re.S)
    assert section in re.findall(r"^#+ +(.+?)\s*$", code_less, re.M)
    assert fact.names or "#" in fact.computed or fact.tests


@having("tests")
def test_a_tested_claim_names_tests_that_exist(fact):
    for test in fact.tests:
        assert test in set(nodes_of(test.partition("::")[0]))


@having("measured")
def test_a_measured_claim_has_its_line_date_and_versions(fact):
    run, line = FACTS.comparison(fact)
    assert set(fact.names) <= {"n", "ratio", "ours", "theirs"} and "ratio" in fact.names
    assert run.date in FACTS.founded(fact) and run.versions["torch"] in FACTS.founded(fact)


@having("cited")
def test_a_cited_claim_names_entries_of_the_references(fact):
    assert set(fact.cited) <= set(References(COURSE).entries)


@pytest.mark.parametrize("fact", [f for f in ALL if f.kinds != ["cited"]], ids=lambda f: f.id)
def test_no_number_of_a_claim_is_typed(fact):
    typed = [number for _, number in numbers(prose(re.sub(r"\{[^}]*\}", "", fact.says)))]
    assert typed == [], "take it from the page (glue) or from the stored run"


def test_every_subject_has_its_place_on_the_page_once():
    assert re.findall(r"^```\{facts\} (\w+)$", PAGE, re.M) == [*SUBJECTS, "corrected"]


def test_there_are_claims_of_every_kind_and_corrections():
    kinds = [kind for fact in ALL for kind in fact.kinds]
    assert len(ALL) >= 60
    assert all(kinds.count(k) >= 8 for k in ("computed", "tests", "measured", "cited"))
    assert sum(bool(f.corrects) for f in ALL) >= 10


def test_values_of_a_claim_are_those_of_the_page():
    assert "1.285714" in FACTS.sentence(FACTS.all["three-means"])
    fact = FACTS.all["pack-1e5"]
    _, line = FACTS.comparison(fact)
    assert f"100,000 lognormal lengths by best fit decreasing takes {line.ours:.0f} ms, " \
           f"{line.ratio:.0f} times" in FACTS.sentence(fact)


def test_an_unknown_subject_or_line_is_an_error():
    with pytest.raises(ValueError, match="about 'shifts': shift, padding"):
        FACTS.markdown("shifts")
    lost = replace(FACTS.all["pack-1e5"], measured=("peers", "pack nothing", "TRL loop"))
    with pytest.raises(LookupError, match="no line 'pack nothing'"):
        FACTS.comparison(lost)
