"""The gate of the site: what must not pass does not pass, and stored results go stale."""

import contextlib
import functools
import subprocess

import pytest

from tests.tools.conftest import HEADER
from tools import site
from tools.course_site import course_key

GOOD = HEADER + "# A page\n\n```{code-cell} ipython3\nx = 1\n```\n"
FAULTS = {
    "raise ValueError('no')": "```{code-cell} ipython3\nraise ValueError('no')\n```\n",
    "'nothing'": "The value is {glue:text}`nothing`.\n",
    "'nowhere'": "See {ref}`nowhere`.\n",
    "math: \\frac{1": "Here $\\frac{1$ is open.\n",
}


def build(tmp_path, text: str) -> int:
    page = tmp_path / "source" / "01_page.md"
    page.parent.mkdir()
    page.write_text(text)
    return site.jupyter_book(site.scratch_book(tmp_path / "out", [page]), strict=True)


def test_a_good_page_passes(tmp_path):
    assert build(tmp_path, GOOD) == 0
    assert (tmp_path / "out/_build/html/book/01_page.html").exists()


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """Exit code and report of a build of a page with every fault at once."""
    folder = tmp_path_factory.mktemp("faulty")
    page = folder / "01_page.md"
    page.write_text("\n".join([GOOD, *FAULTS.values()]))
    book = site.scratch_book(folder / "out", [page])
    with (folder / "report").open("w") as report, contextlib.ExitStack() as stack:
        run = functools.partial(subprocess.run, stdout=report, stderr=report)
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(subprocess, "run", run)
        code = site.jupyter_book(book, strict=True)
    return code, (folder / "report").read_text()


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_fails_the_build_and_is_named(faulty, message):
    code, report = faulty
    assert code != 0
    assert message in report


def test_a_cell_that_raises_is_enough(tmp_path):
    assert build(tmp_path, GOOD + "\n" + FAULTS["raise ValueError('no')"]) != 0


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
