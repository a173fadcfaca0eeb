"""Sources and notebooks say the same: all are made again and compared."""

import nbformat
import pytest

from tools.notebooks import make_all
from tools.sources import ROOT, Course

COURSE = Course()
KEPT = ROOT / "_build" / "executed"


@pytest.fixture(scope="module")
def made_again(tmp_path_factory):
    folder = tmp_path_factory.mktemp("again")
    assert make_all(COURSE, list(COURSE.pages), folder, keep=KEPT, outputs=False) == []
    return folder


@pytest.mark.parametrize("name", list(COURSE.pages))
def test_the_committed_notebook_is_what_its_source_gives(made_again, name):
    again = nbformat.read(made_again / f"{name}.ipynb", as_version=4)
    committed = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    sources = [[(c.id, c.cell_type, c.metadata, c.source) for c in nb.cells]
               for nb in (again, committed)]
    assert sources[0] == sources[1], f"run: make notebooks P={name}.md"
