"""Honest submissions: right, wrong, half done, and in every shape that tools leave them."""

from __future__ import annotations

import json

import pytest

from course_lib.__main__ import main
from tests.grading.conftest import grade
from tests.grading.notebooks import RIGHT, SETUP, WRONG, answers, notebook, with_check

ALL = {"1.1": 1, "2.1": 1, "2.2": 1, "5.1": 1}


def bare(cells):
    """A notebook of format 4 without anything that is not needed."""
    made = [{"cell_type": "code", "source": c.splitlines(keepends=True)} for c in cells]
    return json.dumps({"cells": made})


def version_3(cells):
    made = [{"cell_type": "code", "input": c, "language": "python"} for c in cells]
    return json.dumps({"worksheets": [{"cells": made}], "nbformat": 3, "nbformat_minor": 0})


SHAPES = {
    "plain": notebook(answers(RIGHT)).encode(),
    "bare": bare(answers(RIGHT)).encode(),
    "version_3": version_3(answers(RIGHT)).encode(),
    "mark": b"\xef\xbb\xbf" + notebook(answers(RIGHT)).encode(),
    "windows": notebook([c.replace("\n", "\r\n") for c in answers(RIGHT)]).encode(),
    "other_kernel": notebook(
        answers(RIGHT), metadata={"kernelspec": {"name": "conda-env-x-py", "language": "R"}}
    ).encode(),
    "reversed": notebook([SETUP, *reversed(answers(RIGHT)[1:])]).encode(),
    "copied": notebook([*answers(RIGHT), *answers(RIGHT)[1:3]]).encode(),
    "without_checks": notebook([SETUP, *RIGHT.values()]).encode(),
    "magics": notebook(
        answers(RIGHT, ["%matplotlib inline\n!pip install nothing\nx = 1", "%%html\n<b>"],
                ["%%time\nassert x == 1"])
    ).encode(),
    "names_reused": notebook(answers(RIGHT, after=["targets = pairs = shift = 'gone'"])).encode(),
    "answered_below": notebook(answers({}, after=list(RIGHT.values()))).encode(),
    "a cell that fails": notebook(answers(RIGHT, ["1 / 0", "def broken(:"])).encode(),
}  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory, lab):
    folder = tmp_path_factory.mktemp("class")
    for name, data in SHAPES.items():
        (folder / f"{name}.ipynb").write_bytes(data)
    others = {
        "student": answers(),
        "wrong": answers(WRONG),
        "half": answers(WRONG | {"2.2": RIGHT["2.2"]}),
        "deleted": [SETUP, with_check("2.1", RIGHT["2.1"])],
        "no_colon": answers(RIGHT | {"5.1": "def position_ids(lengths, total)\n    return 1"}),
        "endless": answers(RIGHT | {"5.1": "def position_ids(a, b):\n    while True: pass"}),
        "raises": answers(RIGHT | {"5.1": "def position_ids(a, b):\n    raise KeyError('<i>')"}),
        "library": answers(
            RIGHT | {"2.2": "import course_lib\nshift = lambda a, b: course_lib.shift(a, b)"}
        ),
    }
    for name, cells in others.items():
        (folder / f"{name}.ipynb").write_text(notebook(cells))
    (folder / "Ada_123_file").mkdir()
    (folder / "Ada_123_file" / "lab.ipynb").write_text(notebook(answers(RIGHT)))
    return grade(folder, lab, tmp_path_factory.mktemp("out"), "--timeout", "20")


@pytest.mark.parametrize("name", [*SHAPES, "Ada_123_file/lab"])
def test_every_shape_of_a_right_notebook_gets_full_marks(graded, name):
    assert graded.points(name) == ALL, graded.rows[name]


def test_nothing_wrong_means_exit_code_0(graded):
    assert graded.code == 0, {n: r["notes"] for n, r in graded.rows.items()}


def test_an_untouched_notebook_gets_nothing(graded):
    row = graded.rows["student"]
    assert row["score"] == 0
    assert {one["status"] for one in row["exercises"].values()} == {"not attempted yet"}


def test_misconceptions_are_named_and_right_answers_counted(graded):
    assert graded.points("wrong") == dict.fromkeys(ALL, 0)
    assert graded.points("half") == dict.fromkeys(ALL, 0) | {"2.2": 1}
    named = {e: one["misconception"] for e, one in graded.rows["wrong"]["exercises"].items()}
    assert named["1.1"] == "counts_real_tokens" and all(named.values()), named


def test_missing_answers_are_not_attempted(graded):
    assert graded.points("deleted") == dict.fromkeys(ALL, 0) | {"2.1": 1}


def test_an_answer_that_is_not_there_is_told_with_the_cell_that_should_have_made_it(graded):
    one = graded.rows["deleted"]["exercises"]["5.1"]
    assert one["note"] == "there is no position_ids after the notebook has run"
    one = graded.rows["no_colon"]["exercises"]["5.1"]
    assert one["note"].startswith("there is no position_ids")
    assert "code cell 5 raised SyntaxError" in one["note"]
    assert graded.rows["student"]["exercises"]["5.1"]["note"] == "", "a stub is there"
    table = (graded.out / "gradebook.csv").read_text("utf8")
    assert "not attempted yet: there is no position_ids after" in table


def test_what_was_not_attempted_has_a_neutral_mark_and_is_said_once(graded):
    page = (graded.out / graded.rows["student"]["feedback"]).read_text("utf8")
    assert page.count("not attempted yet") == page.count("&#8211;") == len(ALL)
    assert "&#10007;" not in page and "<pre" not in page
    page = (graded.out / graded.rows["half"]["feedback"]).read_text("utf8")
    assert (page.count("&#10003;"), page.count("&#10007;"), page.count("&#8211;")) == (1, 3, 0)


def test_advice_stands_in_paragraphs_and_values_keep_their_columns(graded):
    page = (graded.out / graded.rows["wrong"]["feedback"]).read_text("utf8")
    said = page.partition("2.2 Write shift")[2].partition("<h2>")[0]
    assert "<p>Failed: " in said and "<p>Looks like this: " in said and "<p>Reread " in said
    drawn = said.partition("<pre")[2].partition("</pre>")[0]
    assert "logits = " in drawn and "Reread" not in drawn


def test_a_fault_costs_its_own_exercise_only(graded):
    for name, said in (("endless", "did not end"), ("raises", "raised KeyError")):
        assert graded.points(name) == ALL | {"5.1": 0}
        assert said in graded.rows[name]["exercises"]["5.1"]["reason"]


def test_the_librarys_own_function_is_no_answer(graded):
    assert graded.points("library") == ALL | {"2.2": 0}
    assert "course_lib.loss.shift" in graded.rows["library"]["exercises"]["2.2"]["reason"]


def test_a_failing_cell_is_told_with_its_number(graded):
    notes = graded.rows["a cell that fails"]["notes"]
    assert notes[0].startswith("code cell 2 raised ZeroDivisionError"), notes
    assert notes[1].startswith("code cell 3 raised SyntaxError"), notes


def test_pages_and_tables_are_written(graded):
    page = (graded.out / graded.rows["raises"]["feedback"]).read_text("utf8")
    assert "3 of 4" in page and "&lt;i&gt;" in page and "<i>" not in page and "<script" not in page
    overview = (graded.out / "overview.html").read_text("utf8")
    assert "<svg" in overview and "counts_real_tokens" in overview and "<script" not in overview
    assert 'href="gradebook.csv"' in overview
    lines = (graded.out / "gradebook.csv").read_text("utf8").splitlines()
    assert len(lines) == 1 + len(graded.rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "--lab", "LAB", "--out", "OUT"], "no such folder"),
        ([".", "--lab", "nowhere.ipynb", "--out", "OUT"], "there is no such notebook"),
        ([".", "--lab", "77", "--out", "OUT"], "no such lab"),
        ([".", "--lab", "LAB", "--out", "OUT", "--jobs", "0"], "at least 1"),
        ([".", "--lab", "LAB", "--out", "OUT", "--memory", "0"], "--memory 0: a limit must be"),
        ([".", "--lab", "LAB", "--out", "OUT", "--timeout", "-1"], "--timeout -1: a limit must be"),
        ([".", "--lab", "LAB", "--out", "OUT", "--timeout", "nan"], "must be greater than 0"),
        ([".", "--lab", "LAB", "--out", "OUT", "--timeout", "inf"], "and finite"),
        ([".", "--lab", "LAB", "--out", "."], "is the folder of submissions"),
        ([".", "--lab", "LAB", "--out", "LAB"], "is a file. Name a folder"),
        ([".", "--lab", "LAB", "--out", "LAB/results"], "is a file. Name a folder"),
        (["ESSAY", "--lab", "LAB", "--out", "OUT"], "neither a folder of submissions nor"),
    ],
)
def test_unusable_input_is_one_line_and_exit_code_2(tmp_path, lab, capsys, arguments, said):
    (tmp_path / "essay.pdf").write_bytes(b"%PDF")
    names = {"LAB": lab, "OUT": tmp_path / "out", "ESSAY": tmp_path / "essay.pdf",
             "LAB/results": lab / "results"}  # fmt: skip
    filled = [str(names.get(a, a)) for a in arguments]
    assert main(["grade", *filled]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_empty_folder_is_unusable(tmp_path, lab, capsys):
    (tmp_path / "empty").mkdir()
    arguments = ["grade", str(tmp_path / "empty"), "--lab", str(lab), "--out", str(tmp_path / "o")]
    assert main(arguments) == 2
    assert "nothing in this folder" in capsys.readouterr().err


def test_one_notebook_is_a_class_of_one(tmp_path, lab, capsys):
    (tmp_path / "ada.ipynb").write_text(notebook(answers(RIGHT)))
    (tmp_path / "ben.ipynb").write_text(notebook(answers(WRONG)))
    graded = grade(tmp_path / "ada.ipynb", lab, tmp_path / "out")
    assert list(graded.rows) == ["ada"] and graded.points("ada") == ALL and graded.code == 0
    said = capsys.readouterr().out
    assert said.startswith("1 submission, all graded. See ") and "overview.html" in said


def test_help_shows_an_example(capsys):
    with pytest.raises(SystemExit):
        main(["grade", "--help"])
    assert "example:" in capsys.readouterr().out
