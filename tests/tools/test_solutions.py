"""Stubs: nothing of a solution is left, the rest runs, and a wrong marker is named."""

import pytest

from tools.solutions import solved, student
from tools.sources import Page, SourceError

CASES = [
    ("def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION",
     "def f(x):\n    ...  # your code here"),
    ("### BEGIN SOLUTION\na, b = 1, 2\nc = [a]\n### END SOLUTION\nprint(a)",
     "a = ...  # your answer\nb = ...  # your answer\nc = ...  # your answer\nprint(a)"),
    ("### BEGIN SOLUTION\n### STUB: a = None  # say which\nx = 3\na = x\n### END SOLUTION",
     "a = None  # say which"),
    ("x = 1\n### BEGIN SOLUTION\ny = 2\n### END SOLUTION\n### BEGIN SOLUTION\nz = 2\n"
     "### END SOLUTION", "x = 1\ny = ...  # your answer\nz = ...  # your answer"),
]


@pytest.fixture
def page(tmp_path):
    def make(source: str) -> Page:
        (tmp_path / "labs").mkdir(exist_ok=True)
        (tmp_path / "labs/01_x.md").write_text(f"# Lab\n\n{source}\n")
        return Page(tmp_path, "labs/01_x")
    return make


@pytest.mark.parametrize(("source", "stub"), CASES)
def test_stub(page, source, stub):
    assert student(source, page(source)) == stub
    exec(compile(student(source, page(source)), "stub", "exec"), {})


@pytest.mark.parametrize(("source", "_"), CASES)
def test_solved_has_no_marker_and_runs(source, _):
    assert "###" not in solved(source)
    exec(compile(solved(source), "solved", "exec"), {})


@pytest.mark.parametrize(("source", "line", "message"), [
    ("x = 1\n### BEGIN SOLUTION\ny = 2", 4, "without ### END"),
    ("x = 1\n### END SOLUTION", 4, "without ### BEGIN"),
    ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", 3, "close the first"),
    ("# begin solution\nx = 1\n# end solution", 3, "not a marker"),
    ("### BEGIN SOLUTION\nprint(3)\n### END SOLUTION", 4, "binds no name"),
    ("### STUB: x = 1", 3, "not a marker"),
])
def test_a_wrong_marker_is_an_error_with_a_place(page, source, line, message):
    with pytest.raises(SourceError, match=rf"labs/01_x\.md:{line}: .*{message}"):
        student(source, page(source))
