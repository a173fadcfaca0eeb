"""Notebooks made from a small course: executed, stable, safe to give away."""

import importlib.util
import subprocess
import sys
import types

import nbformat
import pytest

from tools import notebooks
from tools.notebooks import make, make_all, setup_source
from tools.sources import Course


@pytest.fixture(scope="module")
def made(course, tmp_path_factory):
    out = tmp_path_factory.mktemp("made")
    assert make_all(course, list(course.pages), out) == []
    return out


def cells(folder, name):
    return nbformat.read(folder / f"{name}.ipynb", as_version=4).cells


def test_the_same_source_gives_the_same_bytes(course, made, tmp_path):
    assert make_all(course, ["book/01_first", "labs/01_lab"], tmp_path) == []
    for name in ("book/01_first", "labs/01_lab"):
        assert (tmp_path / f"{name}.ipynb").read_bytes() == (made / f"{name}.ipynb").read_bytes()


def test_glued_values_stand_in_the_text_and_nowhere_else(made):
    setup, note, title, code, text = cells(made, "book/01_first")
    assert text.source == "The mean is 1.286; it says hello there."
    assert [o.output_type for o in code.outputs] == ["stream"] and "papermill" not in str(code)


def test_cell_ids_follow_the_source_and_not_the_place(course, made, tmp_path):
    root = tmp_path / "moved"
    (root / "book").mkdir(parents=True)
    text = course.pages["book/01_first"].text.replace(
        "```{code-cell}", "```{code-cell} ipython3\nprint(1)\n```\n\n```{code-cell}", 1)
    for name in ("_config.yml", "book/02_second.md"):
        (root / name).write_text((course.root / name).read_text())
    (root / "book/01_first.md").write_text(text)
    again = make(Course(root), Course(root).pages["book/01_first"])
    assert {c.id for c in cells(made, "book/01_first")} < {c.id for c in again.cells}


def test_students_get_stubs_that_run_and_the_solved_lab_is_strict(course, made, tmp_path):
    assert make_all(course, ["labs/01_lab"], tmp_path, solved=True) == []
    student, solved = cells(made, "labs/01_lab"), cells(tmp_path, "labs/01_lab")
    assert student[-1].outputs[0].text == "Ellipsis None\n"
    assert solved[-1].outputs[0].text == "42 strict\n"
    assert "2 * x" not in str(student)


def test_a_cell_that_raises_writes_no_notebook(course, tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "_config.yml").write_text((course.root / "_config.yml").read_text())
    text = course.pages["book/01_first"].text.replace('print("shown")', "1 / 0")
    (tmp_path / "book/01_first.md").write_text(text.replace("{ref}`the rule <rule>`", "it"))
    (failure,) = make_all(Course(tmp_path), ["book/01_first"], tmp_path)
    assert "book/01_first.md" in failure and "ZeroDivisionError" in failure
    assert not (tmp_path / "book/01_first.ipynb").exists()


class TestSetUpCell:
    """The first cell of every notebook, under Colab and elsewhere."""

    @pytest.fixture
    def run(self, course, monkeypatch):
        calls = []
        monkeypatch.setattr(subprocess, "run", lambda *a, **k: calls.append(a[0]))

        def go():
            exec(setup_source(course), {})
            return calls
        return go

    def test_it_installs_nothing_outside_of_colab(self, run):
        assert run() == []

    def test_under_colab_it_installs_the_package_and_no_dependency(self, run, monkeypatch):
        monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        ((python, *command),) = run()
        assert python == sys.executable
        assert command == ["-m", "pip", "install", "--quiet", "--no-deps",
                           "git+https://github.com/shift-pad-pack/shift-pad-pack@main"]

    def test_under_colab_it_installs_once(self, run, monkeypatch):
        monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
        assert run() == []

    @pytest.mark.parametrize("name", ["numpy", "torch"])
    def test_a_replaced_library_asks_for_a_restart(self, run, monkeypatch, capsys, name):
        fake = types.ModuleType(name)
        fake.__version__ = "0.0.1"
        monkeypatch.setitem(sys.modules, name, fake)
        run()
        assert f"{name} 0.0.1 is loaded but" in capsys.readouterr().out

    def test_matching_libraries_say_nothing(self, run, capsys):
        import torch  # noqa: F401  (loaded, with a local version such as +cpu)

        run()
        assert capsys.readouterr().out == ""


def test_without_outputs_the_sources_are_the_same_and_only_glued_pages_are_run(
    course, made, tmp_path, monkeypatch
):
    ran = []
    real = notebooks.execute
    monkeypatch.setattr(notebooks, "execute",
                        lambda nb, **how: ran.append(nb.cells[1].source) or real(nb, **how))
    for name, page in course.pages.items():
        again = make(course, page, outputs=False)
        assert [(c.id, c.source) for c in again.cells] == [
            (c.id, c.source) for c in cells(made, name)]
    assert len(ran) == sum("{glue" in page.text for page in course.pages.values()) < len(
        course.pages)
