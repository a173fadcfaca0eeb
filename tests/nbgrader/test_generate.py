"""nbgrader makes a student version of every lab that has no solution and can be run."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from course_lib.grading.inside.cells import python_of
from tools import nbgrader
from tools.leaks import MARKERS, solution_texts, squeezed
from tools.sources import ROOT, Course

COURSE = Course()
PROGRAM = ROOT / ".venv-nbgrader" / "bin" / "nbgrader"
LABS = [name.partition("/")[2] for name in COURSE.pages if name.startswith("labs/")]


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    assert PROGRAM.is_file(), "nbgrader is not there: make .venv-nbgrader/.ready"
    folder = tmp_path_factory.mktemp("nbgrader")
    for path in nbgrader.write(COURSE, folder):  # one assignment, since each call takes seconds
        (folder / "source" / "all").mkdir(exist_ok=True)
        path.rename(folder / "source" / "all" / path.name)
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader calls alembic
    done = subprocess.run(
        [PROGRAM, "generate_assignment", "all", "--create", "--force"],
        cwd=folder, capture_output=True, text=True, env=os.environ | {"PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def code(path):
    cells = json.loads(path.read_text("utf8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]


@pytest.mark.parametrize("lab", LABS)
def test_the_student_version_has_no_solution_and_every_stub(generated, lab):
    source = code(generated / "source" / "all" / f"{lab}.ipynb")
    made = code(generated / "release" / "all" / f"{lab}.ipynb")
    assert len(made) == len(source)
    assert any(MARKERS[0] in cell for cell in source)
    text = "\n".join(made)
    assert not [marker for marker in MARKERS if marker in text]
    short = squeezed(text)
    wanted = {t for t, what in solution_texts(COURSE).items() if what.endswith(lab)}
    assert wanted and not [t for t in wanted if t in short]
    for cell in [*made, *source]:
        compile(python_of(cell), lab, "exec")
    assert text.count("# your answer") >= 1
