"""Every symbol that a formula of the course uses stands on the page of notation."""

import re

import pytest

from tools.sources import Course

COURSE = Course()
HERE = "book/18_notation"


def formulas(text):
    prose = re.sub(r"^```\{code-cell\}.*?^```\s*$|`[^`\n]*`", "", text, flags=re.M | re.S)
    return [a or b for a, b in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", prose, re.S)]


def symbols(text):
    """Single letters and ell of all formulas; words in them and other commands are left out."""
    found = set()
    for formula in formulas(text):
        bare = re.sub(r"\\text\{[^}]*\}", " ", formula)
        bare = re.sub(r"\\(begin|end)\{\w+\}", " ", bare)
        found |= set(re.findall(r"\\ell(?![A-Za-z])|(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])", bare))
    return found - {"e"} | ({"e"} if "$e" in text else set())


EXPLAINED = symbols(COURSE.pages[HERE].text)


@pytest.mark.parametrize("name", [name for name in COURSE.pages if name != HERE])
def test_every_symbol_of_a_page_is_explained(name):
    assert symbols(COURSE.pages[name].text) - EXPLAINED == set(), "add it to book/18_notation.md"


def test_the_pages_of_the_course_use_symbols():
    assert {"\\ell", "A", "d", "m", "s"} <= symbols(COURSE.pages["book/05_packing"].text) | symbols(
        COURSE.pages["book/06_denominators"].text
    )


def test_a_symbol_that_nobody_explained_is_found():
    text = "Let $q_i = \\frac{x}{\\text{words only}}$.\n\n$$\n\\ell + Z\n$$\n\n`$J$`\n"
    assert symbols(text) == {"q", "i", "x", "\\ell", "Z"}
    assert symbols(text) - EXPLAINED == {"q", "Z"}


def test_every_row_names_a_page_that_uses_its_symbol():
    rows = re.findall(
        r"^\| (\$.+?\$)[^|]*\|.*\((?:\.\./)?([\w/]+)\.md\) \|$", COURSE.pages[HERE].text, re.M
    )
    assert len(rows) > 20
    for cell, target in rows:
        page = COURSE.pages[target if target.startswith("labs/") else f"book/{target}"]
        in_code = set(re.findall(r"(?<=[\[ ])[A-Z](?=[,\]])", page.text))  # `[B, T, V]`
        assert symbols(cell) <= symbols(page.text) | in_code, (cell, target)
