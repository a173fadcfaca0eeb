"""The table of exercises, their questions and their data."""

import re

import pytest

from course_lib.exercises import exercises, given, question, questions
from course_lib.exercises.chapter14 import LETTERS
from course_lib.exercises.questions import QUESTIONS
from course_lib.exercises.registry import _near, all_exercises, find, in_order


def test_table_lists_all_and_a_chapter():
    table = exercises()
    assert len(table) == len(all_exercises()) >= 24
    assert [e.id for e in exercises(2)][:3] == ["2.1", "2.2", "2.3"]
    assert {e.chapter for e in exercises(2)} == {2} and len(exercises(2)) < len(table)
    lines = repr(table).splitlines()
    assert len(lines) == len(table) and lines[0].split()[0] == "1.1"
    html = table._repr_html_()
    assert html.count("<tr>") == len(table) + 1 and "wraps_around" in html
    for name in ("id", "title", "objective", "minutes", "difficulty", "chapter", "misconceptions"):
        assert f'<th scope="col">{name}</th>' in html


def test_ids_stand_in_the_order_of_the_book():
    def place(exercise_id):
        lab, chapter, number = re.fullmatch(r"(L?)(\d+)\.(\d+)", exercise_id).groups()
        return bool(lab), int(chapter), int(number)

    ids = list(all_exercises())
    assert ids == sorted(ids, key=place)


def test_every_exercise_but_the_labs_stands_in_its_chapter():
    for exercise in exercises():
        if not exercise.id.startswith("L"):
            assert exercise.chapter == int(exercise.id.split(".")[0])


@pytest.mark.parametrize("exercise_id", all_exercises())
def test_question_prints_prompt_data_and_stub(exercise_id, capsys):
    question(exercise_id)
    out = capsys.readouterr().out
    exercise = find(exercise_id)
    assert out.startswith(f"{exercise_id} {exercise.title} ({exercise.minutes} minutes")
    assert out.rstrip().endswith(exercise.stub.rstrip())
    assert all(f"  {name} = " in out for name in given(exercise_id))


def test_given_is_made_afresh():
    given("1.1")["documents"][0].append(9)
    assert given("1.1")["documents"] == [[1, 2, 3], [1, 1]]
    with pytest.raises(ValueError, match="There is no exercise '0.0'"):
        given("0.0")


def test_an_id_can_be_given_only_once():
    one, two = find("1.1"), find("2.1")
    assert list(in_order([two, one])) == ["1.1", "2.1"]
    with pytest.raises(ValueError, match="'1.1': 'Read the preview' and 'Read the preview'"):
        in_order([one, two, one])


def test_unknown_question_is_told(capsys):
    question("0.0")
    assert "There is no exercise" in capsys.readouterr().out


def test_near_ids_are_near():
    assert find("5.9").count("5.") > 3
    assert "Near it: 5.1, 5.2" in find("5.something else")
    assert "Near it: 1.1" in find("zzz") and "Near it: 1.1" in find(None)
    assert find("l2.9") == find("L2.9").replace("L2.9", "l2.9")
    assert find("5.4").id == "5.4"


def test_the_nearest_chapters_are_named_where_a_chapter_has_no_exercise():
    known = ["1.1", "7.1", "7.5", "10.1", "10.2", "L7.1", "L9.1"]
    assert _near("9.9", known) == ["10.1", "10.2", "7.1", "7.5", "1.1", "L9.1", "L7.1"]
    assert _near("L8.1", known)[:2] == ["L7.1", "L9.1"]
    assert _near("7.9", known) == ["7.1", "7.5"] and _near("L7", known) == ["L7.1"]
    assert _near("no number", known) == known and _near("9.9", known * 2)[7:] == ["7.5"]


def test_each_exit_question_has_one_right_option():
    for one in QUESTIONS:
        values = [option.value for option in one.options]
        assert len(set(values)) == len(values) == len(LETTERS) and values.count(one.right()) == 1
    letters = [one.letter for one in QUESTIONS]
    assert max(letters.count(letter) for letter in LETTERS) <= 3


def test_questions_are_printed_with_their_options(capsys):
    questions()
    out = capsys.readouterr().out
    assert out.count("   a) ") == out.count("   d) ") == len(QUESTIONS)
