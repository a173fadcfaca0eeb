"""What is published holds no solution, and a solution put anywhere in it is found."""

from __future__ import annotations

import json
import shutil
import zipfile

import jupytext
import pytest

from course_lib.exercises.registry import all_exercises
from tools import leaks, release
from tools.sources import Course, SourceError

COURSE = Course()
PAGE = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# Lab 1: small

```{code-cell} ipython3
def answer(secret_numbers):
    ### BEGIN SOLUTION
    kept = [n for n in secret_numbers if n % 3 == 0]
    return sum(kept) / len(kept)
    ### END SOLUTION
```
"""


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The whole course, released without its site."""
    out = tmp_path_factory.mktemp("published") / "release"
    notebooks = [name for name in COURSE.pages if (COURSE.root / f"{name}.ipynb").is_file()]
    course = Course(COURSE.root)
    course.__dict__["pages"] = {name: COURSE.pages[name] for name in notebooks}
    assert any(name.startswith("labs/") for name in notebooks)
    release.release(course, out, with_site=False)
    return out


def test_the_release_holds_notebooks_and_package(released):
    wheels = list((released / "dist").glob("*.whl"))
    assert len(wheels) == 1 and list((released / "labs").glob("*.ipynb"))
    names = zipfile.ZipFile(wheels[0]).namelist()
    assert "course_lib/exercises/__init__.py" in names
    assert "course_lib/grading/inside/worker.py" in names
    assert any(name.startswith("course_lib/widgets/esm/") for name in names)
    assert not [n for n in names if n.startswith(("tests", "tools", "labs", "book"))]


def test_nothing_that_is_released_holds_a_solution(released):
    assert leaks.search(released, COURSE) == []
    assert len(leaks.solution_texts(COURSE)) > 20 and len(leaks.expected_texts()) >= 3


def test_no_source_is_in_the_release(released):
    assert {p.suffix for p in released.rglob("*") if p.is_file()} <= {".ipynb", ".whl"}


@pytest.fixture
def small(tmp_path):
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs" / "01_small.md").write_text(PAGE)
    return Course(tmp_path)


def code_of(page):
    cells = jupytext.reads(page.text, fmt="md:myst").cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def leaked(folder, course):
    return [line.rpartition(": ")[2] for line in leaks.search(folder, course)]


TEXT = "kept = [n for n in secret_numbers if n % 3 == 0]\n    return sum(kept) / len(kept)"
HIDDEN = {
    "metadata.ipynb": json.dumps({"cells": [], "metadata": {"note": TEXT}}),
    "lines.ipynb": json.dumps({"cells": [{"source": TEXT.splitlines(keepends=True)}]}),
    "output.ipynb": json.dumps({"cells": [{"outputs": [{"text": ["x = 1\n", TEXT]}]}]}),
    "page.html": "<span>kept</span> = [n <b>for</b> n in secret_numbers if n % 3 == 0]\n"
    "return sum(kept) <i>/</i> len(kept)",
    "escaped.html": TEXT.replace("[", "&#91;"),
    "module.py": "def f():\n" + TEXT.replace("    ", "\t\t"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_solution_is_found_wherever_it_hides(small, tmp_path, name):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).write_text(HIDDEN[name])
    assert "a solution of labs/01_small" in leaked(folder, small)
    shutil.rmtree(folder)
    folder.mkdir()
    with zipfile.ZipFile(folder / "x.whl", "w") as archive:
        archive.writestr(f"course_lib/{name}", HIDDEN[name])
    assert "a solution of labs/01_small" in leaked(folder, small)


@pytest.mark.parametrize("marker", leaks.MARKERS)
def test_a_marker_is_found(small, tmp_path, marker):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.txt").write_text(f"# {marker}\n")
    assert leaked(tmp_path / "out", small) == [f"the marker {marker!r}"]


def test_an_expected_value_is_found(small, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.txt").write_text("[(0, 3),\n (1, 2), (2, 1), (3, 4)]")
    assert leaked(tmp_path / "out", small) == ["the answer to 2.1"]


def test_an_answer_in_letters_is_found(small, tmp_path):
    letters = all_exercises()["14.1"].reference()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.json").write_text(json.dumps({"key": [1, letters]}))
    assert leaked(tmp_path / "out", small) == ["the answer to 14.1"]


def test_a_thin_line_is_no_half_of_a_pair():
    lines = ["return {", "    'input_ids': batch.input_ids,", "    'labels': moved_by_one,", "}"]
    returned, inner = list(leaks._pairs(lines))
    assert returned == "return{input_ids:batch.input_ids,labels:moved_by_one,"
    assert inner == returned.removeprefix("return{")


def test_every_solution_and_every_value_is_looked_for():
    """But for values so short that they stand anywhere."""
    wanted = leaks.solution_texts(COURSE)
    blocks = {
        page.name: [lines for cell in code_of(page) for lines in leaks._blocks(cell)]
        for page in COURSE.pages.values()
    }
    assert {name for name, found in blocks.items() if found} == {n for n in blocks if "labs/" in n}
    for name, found in blocks.items():
        for lines in found:
            whole = leaks.squeezed("".join(lines))
            assert any(t in whole and f"a solution of {name}" == wanted[t] for t in wanted), lines
    values = {e.id for e in all_exercises().values() if e.takes is None}
    known = {what.removeprefix("the answer to ") for what in leaks.expected_texts().values()}
    assert values - known == {"1.1"}, "3"


def test_a_student_notebook_is_no_leak(small, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.py").write_text("def answer(secret_numbers):\n    ...  # your code here")
    assert leaked(tmp_path / "out", small) == []


@pytest.mark.parametrize("broken", [PAGE.replace("    ### END SOLUTION\n", ""),
                                    PAGE.replace("    ### BEGIN SOLUTION\n", "")])
def test_an_unbalanced_marker_stops_the_release(tmp_path, broken):
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs" / "01_small.md").write_text(broken)
    (tmp_path / "labs" / "01_small.ipynb").write_text("{}")
    with pytest.raises(SourceError, match="SOLUTION"):
        release.copy_notebooks(Course(tmp_path), tmp_path / "out")


def test_a_stale_or_missing_notebook_stops_the_release(small, tmp_path):
    with pytest.raises(release.ReleaseError, match="missing"):
        release.copy_notebooks(small, tmp_path / "out")
    cells = [{"cell_type": "code", "source": s, "metadata": {}, "outputs": [], "id": f"c{i}",
              "execution_count": 1} for i, s in enumerate(["set-up", "def answer(): old"])]
    made = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "labs" / "01_small.ipynb").write_text(json.dumps(made))
    with pytest.raises(release.ReleaseError, match="not what its source says"):
        release.copy_notebooks(small, tmp_path / "out")


def test_the_site_is_built_before_it_is_copied(monkeypatch, small, tmp_path):
    asked = []

    def build(*, if_changed):
        asked.append(if_changed)
        (tmp_path / "_build" / "html").mkdir(parents=True)
        (tmp_path / "_build" / "html" / "index.html").write_text("new")
        return 0

    monkeypatch.setattr("tools.site.build_site", build)
    release.copy_site(small, tmp_path / "out")
    assert asked == [True] and (tmp_path / "out" / "index.html").read_text() == "new"


def test_a_site_that_cannot_be_built_stops_the_release(monkeypatch, small, tmp_path):
    (tmp_path / "_build" / "html").mkdir(parents=True)
    (tmp_path / "_build" / "html" / "index.html").write_text("of other sources")
    monkeypatch.setattr("tools.site.build_site", lambda *, if_changed: 1)
    with pytest.raises(release.ReleaseError, match="could not be built"):
        release.copy_site(small, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_leak_leaves_no_release_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(release, "copy_notebooks", lambda course, out: out.mkdir())
    monkeypatch.setattr(release, "build_wheel", lambda root, out: out)
    monkeypatch.setattr(leaks, "search", lambda folder, course: ["x: the marker"])
    with pytest.raises(release.ReleaseError, match="the marker"):
        release.release(Course(), tmp_path / "release", with_site=False)
    assert list(tmp_path.iterdir()) == []
