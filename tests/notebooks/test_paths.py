"""The three paths of the welcome page take as long as it says, by the minutes of their pages."""

import re

import pytest

from tools.sources import Course

PAGES = Course().pages
WELCOME = "book/01_welcome"
CHAPTERS = [f"book/{name}" for name in (
    "02_shift", "03_padding", "04_targets", "05_packing", "06_denominators", "07_failure_modes",
    "08_audit",
)]  # fmt: skip
LABS = sorted(name for name in PAGES if name.startswith("labs/"))
MINUTES = re.compile(r"\*\*Time:\*\*[^\n]*?(\d+) minutes")
WORKED = re.compile(r"\*\*Time:\*\*[^\n]*?, (\d+) with")


def minutes(name, pattern=MINUTES):
    found = pattern.search(PAGES[name].text)
    assert found, f"{name} does not say how long it takes"
    return int(found[1])


@pytest.mark.parametrize(
    ("path", "hours", "needed"),
    [
        ("read", r"3 hours", lambda: sum(map(minutes, [WELCOME, *CHAPTERS[:5]])) + 5),
        ("work", r"2 days", lambda: sum(minutes(n, WORKED) for n in CHAPTERS)
         + sum(map(minutes, [*LABS, "book/14_exit_check"]))),
        ("audit", r"1 hour", lambda: sum(map(minutes, [WELCOME, "book/08_audit"]))),
    ],
)  # fmt: skip
def test_a_path_takes_about_as_long_as_the_welcome_page_says(path, hours, needed):
    row = re.search(rf"\| {path} \| {hours} \|", PAGES[WELCOME].text)
    assert row, f"the welcome page has no path {path!r} of {hours}"
    said = {"3 hours": 180, "2 days": 2 * 8 * 60, "1 hour": 60}[hours]
    assert 0.7 * said <= needed() <= said, f"{path}: {needed()} minutes, said {said}"
