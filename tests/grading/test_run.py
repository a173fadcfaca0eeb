"""A run over a class: resumed after a stop, unchanged by a second run, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from course_lib.__main__ import main
from course_lib.grading.labs import read_lab
from course_lib.grading.limits import Limits
from course_lib.grading.sandbox import PROTECTIONS, Sandbox
from course_lib.grading.store import Store
from tests.grading.conftest import Graded, grade
from tests.grading.notebooks import RIGHT, STUBS, WRONG, answers, notebook


def fill(folder: Path, count: int) -> None:
    """Write `count` submissions: right, wrong, half done, broken, in turn."""
    for i in range(count):
        kinds = [RIGHT, WRONG, {"2.2": RIGHT["2.2"]}, STUBS]
        data = notebook(answers(kinds[i % 4], [f"number = {i}"])).encode()
        data = data if i % 6 != 5 else data[:-50]
        (folder / f"s{i:02}.ipynb").write_bytes(data)


def snapshot(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def twice(tmp_path_factory, lab):
    """Six files graded, then six more, then all again: the three states of the folder."""
    folder, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("out")
    fill(folder, 6)
    grade(folder, lab, out)
    first = snapshot(out)
    fill(folder, 12)
    result = grade(folder, lab, out)
    second = snapshot(out)
    times = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
    grade(folder, lab, out)
    again = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
    return first, second, snapshot(out), result, times == again


def test_all_are_there_with_their_scores(twice):
    scores = [row["score"] for row in twice[3].rows.values()]
    assert scores == [4, 0, 1, 0, 4, 0, 1, 0, 4, 0, 1, 0]
    broken = [name for name, row in twice[3].rows.items() if row["status"] == "unreadable"]
    assert broken == ["s05", "s11"] and twice[3].code == 1


def test_a_second_run_changes_no_byte_and_writes_no_file(twice):
    assert twice[1] == twice[2] and twice[4]


def test_what_was_graded_is_not_graded_again(twice):
    records = {name for name in twice[0] if name.startswith("records/")}
    assert len(records) == 7 and all(twice[1][name] == twice[0][name] for name in records)


def test_a_stopped_run_goes_on_and_leaves_nothing_behind(tmp_path, lab):
    folder, out = tmp_path / "class", tmp_path / "out"
    folder.mkdir()
    fill(folder, 12)
    endless = notebook(answers(RIGHT, ["while True: sum(range(9))"]))
    (folder / "s04.ipynb").write_text(endless)
    command = [sys.executable, "-m", "course_lib", "grade", str(folder), "--lab", str(lab)]
    run = subprocess.Popen(
        [*command, "--out", str(out), "--jobs", "1", "--timeout", "9"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    while run.poll() is None and len(list(out.glob("records/*.json"))) < 3:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    assert run.wait(20) == 130, "an interrupt ends what runs, it does not wait for its limits"
    assert not list(tmp_path.glob("course-grading-*"))
    done = {p.name: p.read_bytes() for p in out.glob("records/*.json")}
    assert 3 <= len(done) < 12 and not (out / "gradebook.csv").exists()
    result = grade(folder, lab, out, "--timeout", "9")
    assert len(result.rows) == 12 and result.rows["s04"]["score"] == 4
    assert all((out / "records" / name).read_bytes() == data for name, data in done.items())


@pytest.mark.parametrize("place", ["results", "deep/results"])
def test_results_inside_the_folder_are_no_submissions(tmp_path, lab, capsys, place):
    fill(tmp_path, 1)
    first = snapshot(grade(tmp_path, lab, tmp_path / place).out)
    again = grade(tmp_path, lab, tmp_path / place)
    assert list(again.rows) == ["s00"] and again.code == 0 and snapshot(again.out) == first
    line = f"{tmp_path / place} lies in the folder of submissions; nothing in it is taken for one"
    assert capsys.readouterr().out.count(line) == 2


def test_results_of_an_earlier_run_are_no_submissions(tmp_path, lab, capsys):
    fill(tmp_path, 1)
    grade(tmp_path, lab, tmp_path / "before")
    (tmp_path / "before" / "odd.ipynb").write_text("{}")
    capsys.readouterr()
    assert list(grade(tmp_path, lab, tmp_path / "now").rows) == ["s00"]
    said = capsys.readouterr().out
    assert all(f"{tmp_path / name} lies in the folder" in said for name in ("before", "now"))


def test_a_folder_beside_the_results_is_still_told(tmp_path, lab):
    fill(tmp_path, 1)
    (tmp_path / "rita").mkdir()
    (tmp_path / "paul").mkdir()
    (tmp_path / "paul" / "essay.pdf").write_bytes(b"%PDF")
    result = grade(tmp_path, lab, tmp_path / "paul" / "results")
    assert list(result.rows) == ["paul", "rita", "s00"]


def test_what_is_no_ordinary_file_is_not_waited_for(tmp_path, lab, capsys):
    (tmp_path / "class").mkdir()
    os.mkfifo(tmp_path / "class" / "pipe\x1b[31m.ipynb")
    (tmp_path / "class" / "short.ipynb").write_bytes(b"!\x1b[31m\xff")
    result = grade(tmp_path / "class", lab, tmp_path / "out")
    notes = [row["notes"] for row in result.rows.values()]
    assert notes == [["no ordinary file"], ["[31m\ufffd"]]
    said = capsys.readouterr().out
    assert "  pipe [31m: unreadable: no ordinary file" in said and "\x1b" not in said


def test_a_file_that_changes_while_it_is_graded_is_named(tmp_path, lab, capsys, monkeypatch):
    (tmp_path / "class").mkdir()
    fill(tmp_path / "class", 1)
    monkeypatch.setattr("course_lib.grading.command.grade_files", lambda *_: None)
    places = [str(tmp_path / "class"), "--lab", str(lab), "--out", str(tmp_path / "out")]
    assert main(["grade", *places]) == 2
    error = capsys.readouterr().err
    assert "s00.ipynb changed while it was graded" in error and error.count("\n") == 1


def test_what_the_system_does_not_allow_is_said(tmp_path, lab, capsys, monkeypatch):
    poor = partial(Sandbox, refused=["no network", "no other processes", "mounts"])
    monkeypatch.setattr("course_lib.grading.run.Sandbox", poor)
    (tmp_path / "class").mkdir()
    fill(tmp_path / "class", 1)
    for _ in range(2):  # a run that grades nothing says what was in effect when it was graded
        places = [str(tmp_path / "class"), "--lab", str(lab), "--out", str(tmp_path / "out")]
        assert main(["grade", *places, "--jobs", "1"]) == 0
        result = Graded(0, tmp_path / "out")
        assert {"no network", "no other processes"} <= set(result.book["sandbox_lacks"])
        assert set(result.book["sandbox"]) | set(result.book["sandbox_lacks"]) == set(PROTECTIONS)
        said = capsys.readouterr().out
        assert "this system does not allow: " in said and "no network" in said
    page = (tmp_path / "out" / "overview.html").read_text("utf8")
    assert '<th scope="row">no network</th><td><strong>no</strong></td>' in page


def test_a_piece_of_a_record_is_no_record(tmp_path, lab):
    store = Store(tmp_path, read_lab(lab), Limits())
    store.save("x", {"exercises": {}})
    assert store.load("x") == {"exercises": {}}
    (tmp_path / "x.json").write_text('{"exerc')
    assert store.load("x") is None and store.load("y") is None


def test_a_key_depends_on_file_lab_and_limits(tmp_path, lab):
    stores = [Store(tmp_path, read_lab(lab), limits) for limits in (Limits(), Limits(seconds=5))]
    keys = {store.key(data) for store in stores for data in (b"a", b"b")}
    assert len(keys) == 4
