"""From an exercise and a way to ask an answer, to a verdict; values in, a verdict out.

`ask` turns a `Call` into an `Outcome`. `checker` asks the learner's function in this process;
whoever grades asks it elsewhere and hands in what came back.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from course_lib.exercises.calling import Outcome
from course_lib.exercises.exercise import Call, Exercise, Failure
from course_lib.exercises.plain import unfinished

CORRECT, WRONG, NOT_ATTEMPTED = "correct", "not yet", "not attempted yet"
OWN, UNKNOWN = "not yours", "no such exercise"


@dataclass(frozen=True)
class Verdict:
    """One of the states above, the checks that ran, and the failure if there is one."""

    status: str
    checks_run: tuple[str, ...] = ()
    failure: Failure | None = None


def verdict(exercise: Exercise, ask: Callable[[Call], Outcome], seed: int = 0) -> Verdict:
    """Return the verdict on the answer behind `ask`; stops at the first check that fails.

    `seed` chooses the random cases, so that a grader's differ from those of a notebook.
    """
    ran: list[str] = []
    history: list[tuple[Call, Outcome]] = []
    for check in exercise.checks:
        ran.append(check.name)
        done: list[tuple[Call, Outcome]] = []
        calls = iter(check.calls(random.Random(f"{exercise.id} {check.name} {seed}")))
        for call in calls:
            outcome = ask(call)
            if outcome.not_attempted or _left_open(exercise, outcome):
                return Verdict(NOT_ATTEMPTED)
            done.append((call, outcome))
            failure = check.judge(exercise, done)
            if failure is not None:
                named = _diagnosed(exercise, failure, [*history, *done], calls, ask)
                return Verdict(WRONG, tuple(ran), named)
        history += done
    return Verdict(CORRECT, tuple(ran))


def _diagnosed(
    exercise: Exercise, failure: Failure, history: list, rest: Iterator[Call], ask: Callable
) -> Failure:
    """Name the misconception that explains all outcomes, those of the check's other calls too."""
    if failure.difference is None:
        return failure
    for call in rest:
        outcome = ask(call)
        if outcome.kind != "value":
            break
        history.append((call, outcome))
    return replace(failure, misconception=exercise.misconception_of(history))


def _left_open(exercise: Exercise, outcome: Outcome) -> bool:
    """Whether an Ellipsis or None stands in the value.

    A function that returns None has forgotten its return; that is told as such, later.
    """
    if outcome.value is None:
        return outcome.kind == "value" and exercise.takes is None
    return unfinished(outcome.value)
