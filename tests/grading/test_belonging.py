"""A notebook of another lab is told as that, on its page, in the gradebook and on the console."""

from __future__ import annotations

import csv
from html import unescape

import pytest

from course_lib.exercises.registry import all_exercises
from course_lib.grading.belonging import checked, looks_like
from course_lib.grading.labs import find_lab, read_lab
from tests.grading.conftest import grade
from tests.grading.notebooks import RIGHT, SETUP, STUBS, WRONG, answers, notebook

FOURTH = [SETUP, 'drift = 1\ncheck("L4.1", drift)', "weights = ...\ncheck('L4.2', weights)"]
SAID = "looks like 04_denominators"
CLASS = {
    "right": answers(RIGHT),
    "stub": answers(),
    "fourth": FOURTH,
    "fourth_broken": [*FOURTH, "def broken(:\n    check('L4.1', 1)"],
    "fourth_with_our_name": [*FOURTH, "targets = 5"],
    "fourth_and_ours": [*FOURTH, *answers({"1.1": RIGHT["1.1"]})],
    "ours_by_name_only": [*FOURTH, RIGHT["1.1"]],
    "wrong_by_name_only": [SETUP, *WRONG.values()],
    "homework": ["x = 1"],
    "no_cells": [],
}
OTHERS = {"fourth", "fourth_broken", "fourth_with_our_name"}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, lab):
    folder = tmp_path_factory.mktemp("class")
    for name, cells in CLASS.items():
        (folder / f"{name}.ipynb").write_text(notebook(cells))
    return grade(folder, lab, tmp_path_factory.mktemp("out"))


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_the_lab_and_its_exercises_are_named_everywhere(graded, name):
    row = graded.rows[name]
    assert (row["status"], row["looks_like"]) == ("not this lab", "04_denominators")
    title = all_exercises()["L4.1"].title
    assert row["score"] == 0
    assert SAID in row["notes"][0] and f"L4.1 {title}" in row["notes"][0]
    page = unescape((graded.out / row["feedback"]).read_text("utf8"))
    assert page.count(SAID) == 1 and title in page and "Hand in your notebook of 01_small" in page
    with (graded.out / "gradebook.csv").open(encoding="utf8") as file:
        line = next(line for line in csv.DictReader(file) if line["submission"] == name)
    assert all(SAID in line[f"{exercise} reason"] for exercise in STUBS)


def test_what_is_of_no_lab_is_told_too(graded):
    for name in ("homework", "no_cells"):
        row = graded.rows[name]
        assert (row["status"], row["looks_like"]) == ("not this lab", ""), name
        assert "and none of another lab" in row["notes"][0]


def test_whatever_answers_this_lab_belongs_to_it(graded):
    ours = set(CLASS) - OTHERS - {"homework", "no_cells"}
    assert {graded.rows[name]["status"] for name in ours} == {"graded"}
    scores = {name: graded.rows[name]["score"] for name in ours}
    assert scores == {"right": 4, "stub": 0, "fourth_and_ours": 1, "ours_by_name_only": 1,
                      "wrong_by_name_only": 0}  # fmt: skip


def test_another_lab_makes_the_exit_code_1(graded):
    assert graded.code == 1


def test_the_console_asks_whether_the_lab_is_right(tmp_path, lab, capsys):
    (tmp_path / "class").mkdir()
    for name, cells in {"a": FOURTH, "b": [*FOURTH, "x = 1"], "c": answers(RIGHT)}.items():
        (tmp_path / "class" / f"{name}.ipynb").write_text(notebook(cells))
    grade(tmp_path / "class", lab, tmp_path / "out")
    said = capsys.readouterr().out
    assert "3 submissions: 1 graded, 2 not this lab." in said
    assert f"  a: not this lab: no exercise of 01_small is in it; it {SAID}" in said
    assert "2 of 3 look like 04_denominators, not 01_small. Is --lab right?" in said


def test_one_stray_notebook_puts_no_lab_in_doubt(graded, tmp_path, lab, capsys):
    (tmp_path / "class").mkdir()
    for name, cells in {"a": FOURTH, "b": answers(RIGHT), "c": answers()}.items():
        (tmp_path / "class" / f"{name}.ipynb").write_text(notebook(cells))
    grade(tmp_path / "class", lab, tmp_path / "out")
    assert "Is --lab right" not in capsys.readouterr().out


def test_calls_of_check_are_found_in_text(lab):
    cells = ['check("2.2", shift)', "x = check( 'L4.1' , 1)", "check('9.9', 1); recheck('1.1', 1)"]
    assert checked(cells) == ["2.2", "L4.1"]
    assert looks_like(read_lab(lab), cells) is None, "2.2 is an exercise of this lab"


def test_a_lab_that_is_not_at_hand_is_told_by_its_exercises(monkeypatch, lab):
    monkeypatch.setattr("course_lib.grading.belonging.released", tuple)
    name, why = looks_like(read_lab(lab), ["check('6.1', x)"])
    assert name == "" and "another lab: 6.1" in why


@pytest.mark.parametrize("number", ["01", "02", "03", "04", "05", "06", "07"])
def test_every_lab_is_known_by_its_own_cells(number):
    other, itself = find_lab("01" if number != "01" else "02"), find_lab(number)
    assert looks_like(itself, itself.cells) is None
    assert looks_like(other, itself.cells)[0] == itself.name
