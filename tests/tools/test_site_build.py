"""The gate of the site: what must not pass does not pass, and stored results go stale."""

import pytest

from tests.tools.conftest import HEADER
from tools import site
from tools.course_site import course_key

GOOD = HEADER + "# A page\n\n```{code-cell} ipython3\nx = 1\n```\n"
FAULTS = {
    "raises": "```{code-cell} ipython3\nraise ValueError('no')\n```\n",
    "missing-glue": "The value is {glue:text}`nothing`.\n",
    "missing-reference": "See {ref}`nowhere`.\n",
    "bad-math": "Here $\\frac{1$ is open.\n",
}


def build(tmp_path, text: str) -> int:
    page = tmp_path / "source" / "01_page.md"
    page.parent.mkdir()
    page.write_text(text)
    return site.jupyter_book(site.scratch_book(tmp_path / "out", [page]), strict=True)


def test_a_good_page_passes(tmp_path):
    assert build(tmp_path, GOOD) == 0
    assert (tmp_path / "out/_build/html/book/01_page.html").exists()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_the_build(tmp_path, fault):
    assert build(tmp_path, GOOD + "\n" + FAULTS[fault]) != 0


def test_stored_results_depend_on_course_lib_and_the_versions(tmp_path, monkeypatch):
    (tmp_path / "course_lib").mkdir()
    (tmp_path / "course_lib/a.py").write_text("x = 1")
    (tmp_path / "requirements.txt").write_text("torch==1")
    monkeypatch.setattr("tools.course_site.ROOT", tmp_path)
    keys = [course_key()]
    (tmp_path / "course_lib/a.py").write_text("x = 2")
    keys.append(course_key())
    (tmp_path / "requirements.txt").write_text("torch==2")
    keys.append(course_key())
    assert len(set(keys)) == 3 and course_key() == keys[-1]
