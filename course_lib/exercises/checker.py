"""`check` and `hint`: what a learner calls in a notebook.

What these checks cannot do: they run in the learner's own process and their code can be read, and
so can the library's functions that do the same as an answer. They teach; they do not prove who
wrote what. A grade comes from `course_lib.grading`, which compares in a process of its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from course_lib.exercises import show
from course_lib.exercises.calling import call
from course_lib.exercises.exercise import Exercise, Failure
from course_lib.exercises.messages import message
from course_lib.exercises.plain import plain, type_name
from course_lib.exercises.recognise import is_stub, own_function
from course_lib.exercises.registry import find
from course_lib.exercises.signatures import misfit
from course_lib.exercises.verdicts import (
    CORRECT,
    NOT_ATTEMPTED,
    OWN,
    UNKNOWN,
    WRONG,
    Verdict,
    verdict,
)


class CheckFailed(AssertionError):
    """Raised by `check` under COURSE_CHECK=strict for anything but a correct answer."""


@dataclass(frozen=True)
class Result:
    """What `check` found; true where the answer is correct.

    - status         "correct", "not yet", "not attempted yet", "not yours", "no such exercise"
    - checks_run     names of the checks that ran, the failed one last
    - misconception  id of the misconception that gives the same answer, or None
    """

    ok: bool
    id: str
    message: str
    checks_run: tuple[str, ...] = ()
    misconception: str | None = None
    status: str = WRONG

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"Result({self.id}: {self.status})"

    def _ipython_display_(self) -> None:
        """Show nothing: `check` has printed the message already."""


def check(exercise_id: str, answer: Any = None) -> Result:
    """Check an answer, print what was found, and return it as a `Result`.

    Never raises for a wrong answer or an odd one; with COURSE_CHECK=strict in the environment it
    raises `CheckFailed` for every answer that is not correct.

    >>> check("1.1", ...)
    1.1 Read the preview: not attempted yet
    Result(1.1: not attempted yet)
    """
    result = result_of(exercise_id, answer)
    print(result.message)
    if not result.ok and os.environ.get("COURSE_CHECK") == "strict":
        raise CheckFailed(result.message)
    return result


def result_of(exercise_id: str, answer: Any = None) -> Result:
    """Return what `check` returns, and print nothing."""
    exercise = find(exercise_id)
    if isinstance(exercise, str):
        text = "\n".join(show.wrap(exercise))
        return Result(False, str(exercise_id), text, status=UNKNOWN)
    judged = _verdict(exercise, answer)
    return Result(
        ok=judged.status == CORRECT,
        id=exercise.id,
        message=message(exercise, judged),
        checks_run=judged.checks_run,
        misconception=judged.failure.misconception if judged.failure else None,
        status=judged.status,
    )


def _verdict(exercise: Exercise, answer: Any) -> Verdict:
    if is_stub(answer):
        return Verdict(NOT_ATTEMPTED)
    if exercise.takes is None:
        return _of_value(exercise, answer)
    if not callable(answer):
        problem = (
            f"this exercise wants a function, {exercise.name}({', '.join(exercise.takes)}); you "
            f"gave {type_name(plain(answer))}. Pass {exercise.name} itself, without calling it"
        )
        return Verdict(WRONG, failure=Failure(problem))
    own = own_function(answer, exercise.own)
    if own:
        problem = f"that is the library's own {own}. Write yours without it"
        return Verdict(OWN, failure=Failure(problem))
    odd = misfit(answer, exercise.takes)
    if odd:
        return Verdict(WRONG, failure=Failure(odd))
    return verdict(exercise, lambda c: call(answer, c.args, count_steps=c.count_steps))


def _of_value(exercise: Exercise, answer: Any) -> Verdict:
    if callable(answer):
        problem = "this exercise wants a value, and you gave a function. Pass what it returns"
        return Verdict(WRONG, failure=Failure(problem))
    outcome = call(lambda: answer, ())
    return verdict(exercise, lambda _: outcome)


_hints_given: dict[str, int] = {}


def hint(exercise_id: str, step: int | None = None) -> None:
    """Print the next step of the ladder of hints, or a certain one (from 1).

    >>> hint("2.1", 2)
    Hint 2 of 3: how many positions have a token to their right?
    """
    exercise = find(exercise_id)
    if isinstance(exercise, str):
        print(exercise)
        return
    number = _hints_given.get(exercise.id, 0) + 1 if step is None else step
    number = max(1, min(int(number), len(exercise.hints)))
    _hints_given[exercise.id] = number
    head = f"Hint {number} of {len(exercise.hints)}: "
    print("\n".join(show.wrap(head + exercise.hints[number - 1])))
