"""Colab's list becomes our requirements: its versions, our packages, and nothing else."""

from __future__ import annotations

import re

import pytest

from tools import colab

LIST = """\
# Do not modify this file directly
ipykernel==6.17.1
ipywidgets==7.7.1
jupyter-client==7.4.9
numpy==2.2.0
google-colab @ file:///colabtools/dist/google_colab-1.0.0.tar.gz
torch @ https://download.pytorch.org/whl/cu128/torch-2.12.0.whl
pandas==2.2.2
tornado==6.5.9+local
"""


@pytest.fixture
def ours(tmp_path, monkeypatch):
    path = tmp_path / "requirements-colab.txt"
    path.write_text("# why\nipywidgets==7.7.1\njupyter_client==7.4.8\nnumpy==2.1.3\n"
                    "tornado==6.5.7\nnbval==0.11.0\n")
    monkeypatch.setattr(colab, "OURS", path)
    return path


def test_our_packages_get_colabs_versions_and_no_other_line_changes(ours, tmp_path, capsys):
    (tmp_path / "list").write_text(LIST)
    assert colab.main(["--list", str(tmp_path / "list")]) == 0
    assert ours.read_text() == ("# why\nipywidgets==7.7.1\njupyter_client==7.4.9\nnumpy==2.2.0\n"
                                "tornado==6.5.9\nnbval==0.11.0\n")
    assert capsys.readouterr().out.splitlines() == [
        "jupyter_client 7.4.8 -> 7.4.9", "numpy 2.1.3 -> 2.2.0", "tornado 6.5.7 -> 6.5.9"]
    assert colab.main(["--list", str(tmp_path / "list")]) == 0
    assert "already" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "<html>moved</html>", "numpy==2.0\n", "404: Not Found"])
def test_something_else_than_colabs_list_changes_nothing(ours, tmp_path, capsys, text):
    before = ours.read_text()
    (tmp_path / "list").write_text(text)
    assert colab.main(["--list", str(tmp_path / "list")]) == 2
    assert ours.read_text() == before
    assert "not Colab's list: it has no ipywidgets" in capsys.readouterr().err


def test_no_network_is_one_line_and_changes_nothing(ours, capsys):
    before = ours.read_text()
    assert colab.main(["--list", "http://nowhere.invalid/pip-freeze.txt"]) == 2
    assert ours.read_text() == before
    error = capsys.readouterr().err
    assert error.startswith("requirements-colab.txt stays as it is") and error.count("\n") == 1


def test_every_line_of_our_requirements_is_one_that_the_tool_understands():
    for line in colab.OURS.read_text("utf8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.]+", line), line
