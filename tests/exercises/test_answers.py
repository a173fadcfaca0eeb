"""Every check is held to its answers: right ones pass, wrong ones are told what they are."""

import importlib
import random
from functools import cache
from pathlib import Path

import pytest
import torch

from course_lib.exercises.checker import result_of
from course_lib.exercises.checks import Edges
from course_lib.exercises.misconceptions import MISCONCEPTIONS
from course_lib.exercises.plain import plain
from course_lib.exercises.recognise import _resolve
from course_lib.exercises.registry import CHAPTERS, all_exercises
from tests.exercises.wrong import Wrong

HERE = Path(__file__).parent
FILES = sorted(path.stem for path in (HERE / "answers").glob("*.py"))
EXERCISES = all_exercises()
RIGHT: dict[str, list] = {}
WRONG: dict[str, list[Wrong]] = {}
for file in FILES:
    module = importlib.import_module(f"tests.exercises.answers.{file}")
    RIGHT |= module.RIGHT
    WRONG |= module.WRONG


@cache
def told(exercise_id, number):
    """The result for a wrong answer."""
    return result_of(exercise_id, WRONG[exercise_id][number].answer)


def cases(table):
    numbered = [(k, i, answer) for k, row in table.items() for i, answer in enumerate(row)]
    return [pytest.param(k, answer, id=f"{k}-{i}") for k, i, answer in numbered]


def test_each_exercise_has_its_answers():
    assert set(RIGHT) == set(WRONG) == set(EXERCISES), "an answers file in tests/ was forgotten"
    assert min(map(len, RIGHT.values())) >= 3
    assert min(map(len, WRONG.values())) >= 6


@pytest.mark.parametrize("exercise_id, answer", cases(RIGHT))
def test_right_answer_is_accepted_by_every_check(exercise_id, answer):
    result = result_of(exercise_id, answer)
    assert result.ok, result.message
    assert result.checks_run == tuple(check.name for check in EXERCISES[exercise_id].checks)
    assert all(name in " ".join(result.message.split()) for name in result.checks_run)


@pytest.mark.parametrize(
    "exercise_id, number", [(k, i) for k, row in WRONG.items() for i in range(len(row))]
)
def test_wrong_answer_is_refused_with_its_own_words(exercise_id, number):
    wrong, result = WRONG[exercise_id][number], told(exercise_id, number)
    assert wrong.told(result), f"{result.message}\n\n{result}, {result.misconception}"
    assert not result.ok
    assert wrong.says or wrong.misconception
    assert "Traceback" not in result.message and "course_lib/" not in result.message


@pytest.mark.parametrize("exercise_id", WRONG)
def test_no_two_wrong_answers_are_told_the_same(exercise_id):
    messages = [told(exercise_id, i).message for i in range(len(WRONG[exercise_id]))]
    assert len(set(messages)) == len(messages)


@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_each_misconception_is_met_by_an_answer(exercise_id):
    met = {wrong.misconception for wrong in WRONG[exercise_id]}
    assert set(EXERCISES[exercise_id].misconceptions) <= met


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_untouched_stub_is_not_attempted(exercise):
    names: dict = {}
    exec(exercise.stub, names)
    result = result_of(exercise.id, names[exercise.name])
    assert result.status == "not attempted yet" and not result.ok
    assert result.message == f"{exercise.id} {exercise.title}: not attempted yet"


@pytest.mark.parametrize(
    "exercise_id, name", [(e.id, name) for e in EXERCISES.values() for name in e.own]
)
def test_own_function_of_the_library_is_recognised(exercise_id, name):
    own = _resolve(name)
    for answer in (own, lambda *args: own(*args)):
        result = result_of(exercise_id, answer)
        assert result.status == "not yours" and f"course_lib.{name}" in result.message


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_metadata_is_complete(exercise):
    assert exercise.objective.endswith(".") and exercise.prompt[-1] in ".?"
    assert exercise.idea.endswith(".") and len(exercise.hints) >= 3
    assert exercise.difficulty in ("easy", "medium", "hard") and 1 <= exercise.minutes <= 30
    assert exercise.chapter in CHAPTERS
    assert set(exercise.misconceptions) <= set(MISCONCEPTIONS)
    assert len({check.name for check in exercise.checks}) == len(exercise.checks)
    assert max(map(len, exercise.stub.splitlines())) <= 60


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_both_ends_of_what_is_allowed_are_asked_for(exercise):
    ends = [check for check in exercise.checks if isinstance(check, Edges)]
    assert bool(ends) == (exercise.takes is not None)
    for check in ends:
        calls = list(check.calls(random.Random(0)))
        assert len(calls) == len(check.smallest()) + check.count >= 2
        assert all(max(map(size_of, call.args)) > 16 for call in calls[len(check.smallest()) :])


def size_of(argument):
    """The longest side of an argument."""
    if isinstance(argument, torch.Tensor):
        return max(argument.shape)
    return len(argument) if isinstance(argument, list) else 0


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_each_wrong_model_answers_every_question(exercise):
    for check in exercise.checks:
        for call in check.calls(random.Random(7)):
            for name, wrong in exercise.misconceptions.items():
                assert plain(wrong(*call.args)) is not None, name


def test_no_misconception_is_unused():
    used = {name for e in EXERCISES.values() for name in e.misconceptions} | {"changes_input"}
    assert used == set(MISCONCEPTIONS)
