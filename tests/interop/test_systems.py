"""Every row that the book shows as run is computed again from the libraries beside us."""

from __future__ import annotations

import json

import pytest

from course_lib.systems import load
from tools import systems


@pytest.mark.parametrize("number", range(len(systems.ROWS)), ids=lambda n: systems.ROWS[n].__name__)
def test_the_stored_row_is_what_the_library_does(number: int) -> None:
    stored, now = load("run")[number], systems.ROWS[number]()
    assert now.version == stored.version, f"run: make systems ({now.version} is new)"
    for column, cell in now.cells.items():
        assert cell == stored.cells[column], f"{now.key}, {column}: run make systems, and read it"
    assert now == stored


def test_no_row_is_stored_that_is_not_computed() -> None:
    assert len(load("run")) == len(systems.ROWS)
    assert systems.as_text(list(load("run"))) == systems.FILE.read_text("utf8")


def test_the_command_says_what_differs(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(systems, "ROWS", (lambda: load("run")[0],))
    changed = tmp_path / "run.json"
    monkeypatch.setattr(systems, "FILE", changed)
    assert systems.main(["--write"]) == 0
    assert systems.main([]) == 0
    data = json.loads(changed.read_text("utf8"))
    data[0]["cells"]["shift"]["short"] = "nowhere"
    changed.write_text(systems.as_text([type(load()[0]).from_dict(data[0])]), "utf8")
    capsys.readouterr()
    assert systems.main([]) == 1
    assert '-    "short": "nowhere",' in capsys.readouterr().out
