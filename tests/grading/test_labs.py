"""The labs themselves: solved ones get full marks, untouched ones none, mixed ones what is right.

A mixed submission is made from the answers that hold the checks to account: it contains the whole
file of right and wrong answers to a lab, and hands in one of them for each exercise.
"""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from course_lib.grading.labs import find_lab, read_lab
from tests.grading.conftest import grade
from tests.grading.notebooks import notebook
from tools.notebooks import execute, read
from tools.sources import Course

COURSE = Course()
LABS = [name for name in COURSE.pages if name.startswith("labs/")]
ANSWERS = Path(__file__).parents[1] / "exercises" / "answers"
MIXTURES = 3
WRONG = (ANSWERS.parent / "wrong.py").read_text("utf8")


def sources(name, solved):
    page = COURSE.pages[name]
    return [c.source for c in read(page, solved=solved).cells if c.cell_type == "code"]


@cache
def home(exercise):
    """The module of answers that holds those to an exercise."""
    for path in sorted(ANSWERS.glob("*.py")):
        module = importlib.import_module(f"tests.exercises.answers.{path.stem}")
        if exercise in module.RIGHT:
            return module
    raise LookupError(f"no answers to {exercise} in {ANSWERS}")


def _alone(text):
    """A file of answers with what it imports from the tests written out: they are not there."""
    return re.sub(r"^from tests\.exercises\.wrong import .*$", lambda _: WRONG, text, flags=re.M)


def mixtures(lab):
    """Name -> (cells, exercise -> points, exercise -> misconception)."""
    files = {e: Path(home(e).__file__) for e in lab.answers}
    texts = {p.stem: _alone(p.read_text("utf8")) for p in files.values()}
    start = [f"{stem} = {{}}\nexec({text!r}, {stem})" for stem, text in texts.items()]
    for k in range(MIXTURES):
        cells, points, named = ["from course_lib import check", *start], {}, {}
        for i, (exercise, name) in enumerate(lab.answers.items()):
            stem, module = files[exercise].stem, home(exercise)
            points[exercise] = (i + k) % 2
            if points[exercise]:
                answer = f'{stem}["RIGHT"]["{exercise}"][{k % len(module.RIGHT[exercise])}]'
            else:
                named[exercise] = module.WRONG[exercise][k].misconception
                answer = f'{stem}["WRONG"]["{exercise}"][{k}].answer'
            cells.append(f'{name} = {answer}\ncheck("{exercise}", {name})')
        yield f"mixed{k}", (cells, points, named)


@pytest.fixture(scope="module", params=LABS)
def graded(request, tmp_path_factory):
    path = COURSE.root / f"{request.param}.ipynb"
    lab = read_lab(path)
    folder = tmp_path_factory.mktemp("class")
    (folder / "student.ipynb").write_bytes(path.read_bytes())
    (folder / "solved.ipynb").write_text(notebook(sources(request.param, solved=True)))
    mixed = dict(mixtures(lab))
    for name, (cells, _, _) in mixed.items():
        (folder / f"{name}.ipynb").write_text(notebook(cells))
    return grade(folder, path, tmp_path_factory.mktemp("out")), mixed, lab


def test_there_is_a_lab():
    assert LABS and find_lab("01").name == "01_decoder"


def test_a_solved_lab_gets_full_marks(graded):
    row = graded[0].rows["solved"]
    assert row["score"] == row["of"] == len(graded[2].answers), row


def test_an_untouched_lab_gets_nothing(graded):
    row = graded[0].rows["student"]
    states = {one["status"] for one in row["exercises"].values()}
    assert row["score"] == 0 and states == {"not attempted yet"} and row["notes"] == [], row


def test_mixed_submissions_get_what_they_got_right(graded):
    for name, (_, points, named) in graded[1].items():
        row = graded[0].rows[name]
        assert graded[0].points(name) == points, (name, row)
        found = {e: row["exercises"][e]["misconception"] for e in named}
        assert found == named, (name, row)


def half_right_half_wrong(name, which):
    """A lab's own notebook in which some answers are right, the others wrong, in place."""
    lab = read_lab(COURSE.root / f"{name}.ipynb")
    cells = list(mixtures(lab))[which][1][0]
    made = read(COURSE.pages[name])
    handed = dict(zip(lab.answers, cells[-len(lab.answers) :], strict=True))
    for cell in made.cells:
        for exercise, answer in handed.items():
            if cell.cell_type == "code" and f'check("{exercise}"' in cell.source:
                lines = cell.source.split("\n")
                at = next(i for i, line in enumerate(lines) if f'check("{exercise}"' in line)
                cell.source = "\n".join([*lines[:at], answer, *lines[at:]])
    asked = "\n".join(cell.source for cell in made.cells)
    assert all(answer in asked for answer in handed.values())
    start = cells[: -len(lab.answers)]
    made.cells = [new_code_cell("\n".join(start)), *made.cells]
    return made


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", LABS)
def test_a_lab_with_right_and_wrong_answers_runs_to_its_end(name, which):
    """Nothing of ours raises at an answer that is wrong or missing: `execute` would."""
    made = execute(half_right_half_wrong(name, which))
    printed = "".join(out.get("text", "") for cell in made.cells for out in cell.get("outputs", []))
    points = list(mixtures(read_lab(COURSE.root / f"{name}.ipynb")))[which][1][1]
    assert printed.count(": correct\n") == 2 * sum(points.values()), "once injected, once in place"
    assert ": not yet\n" in printed or all(points.values())
