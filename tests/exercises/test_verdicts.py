"""Verdicts are made from values alone, wherever they come from."""

import random

from course_lib.exercises.calling import Outcome, call
from course_lib.exercises.exercise import Call
from course_lib.exercises.plain import plain
from course_lib.exercises.registry import find
from course_lib.exercises.verdicts import CORRECT, NOT_ATTEMPTED, WRONG, verdict


def of_value(value):
    return lambda call: Outcome("value", plain(value))


def of_function(function, asked=None):
    def ask(question):
        if asked is not None:
            asked.append(question)
        return call(function, question.args, count_steps=question.count_steps)

    return ask


def right(logits, labels):
    return logits[:, :-1], labels[:, 1:]


def test_values():
    assert verdict(find("1.1"), of_value(3)).status == CORRECT
    assert verdict(find("1.1"), of_value(5)).failure.misconception == "counts_real_tokens"
    assert verdict(find("1.1"), of_value(None)).status == NOT_ATTEMPTED
    assert verdict(find("4.3"), of_value({"targets": ...})).status == NOT_ATTEMPTED
    assert verdict(find("2.2"), of_value(None)).status == WRONG


def test_what_did_not_give_a_value():
    raised = verdict(find("1.1"), lambda call: Outcome("raised", error="raised ValueError"))
    assert raised.status == WRONG and raised.failure.problem == "your function raised ValueError"
    stub = verdict(find("2.2"), lambda call: Outcome("raised", not_attempted=True))
    assert stub.status == NOT_ATTEMPTED and stub.checks_run == ()


def test_seed_changes_the_random_cases_only():
    asked = {seed: [] for seed in (0, 1)}
    for seed, questions in asked.items():
        assert verdict(find("2.2"), of_function(right, questions), seed).status == CORRECT
    same = [
        a.args[1].tolist() == b.args[1].tolist() for a, b in zip(asked[0], asked[1], strict=True)
    ]
    assert all(same[:2]) and not all(same)
    again = []
    verdict(find("2.2"), of_function(right, again))
    assert [q.args[1].tolist() for q in again] == [q.args[1].tolist() for q in asked[0]]


def test_diagnosis_asks_on_in_the_failed_check_and_stops_at_an_error():
    asked = []

    def fails_later(logits, labels):
        if len(asked) > 1:
            raise ValueError
        return logits[:, :-1], labels[:, :-1]

    found = verdict(find("2.2"), of_function(fails_later, asked))
    assert len(asked) == 2 and found.failure.misconception == "missing_shift"
    assert found.checks_run == (find("2.2").checks[0].name,)


def test_right_numbers_of_a_wrong_type_are_no_misconception():
    asked = verdict(find("2.2"), of_function(lambda lg, lb: (lg[:, :-1], lb[:, 1:].tolist())))
    assert asked.failure.difference.malformed and asked.failure.misconception is None
    turned = verdict(find("2.2"), of_function(lambda lg, lb: (lb[:, 1:], lg[:, :-1])))
    assert turned.failure.difference.malformed
    assert turned.failure.misconception == "results_swapped"
    five = verdict(find("1.1"), of_value(5.0))
    assert five.failure.difference.malformed and five.failure.misconception == "counts_real_tokens"
    assert verdict(find("1.1"), of_value(3.0)).failure.misconception is None


def test_random_state_of_the_learner_is_left_alone():
    random.seed(1)
    before = random.getstate()
    verdict(find("2.2"), of_function(right))
    assert random.getstate() == before


def test_calls_are_plain():
    assert Call().args == () and not Call().count_steps
