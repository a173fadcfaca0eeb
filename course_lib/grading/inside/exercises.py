"""Stands in for `course_lib.exercises` in the sandbox: takes answers, says nothing about them.

`check` keeps what it is handed; the grader asks for it later. No expected value is in here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ANSWERS: dict[str, Any] = {}
"""Exercise id -> what was handed in last."""

GIVEN: dict[str, dict[str, Any]] = {}


class CheckFailed(AssertionError):
    """Never raised here."""


@dataclass(frozen=True)
class Result:
    """What `check` returns here: nothing is known yet."""

    ok: bool
    id: str
    message: str = "graded later"
    checks_run: tuple[str, ...] = ()
    misconception: str | None = None
    status: str = "graded later"

    def __bool__(self) -> bool:
        return self.ok


def check(exercise_id: str, answer: Any = None) -> Result:
    """Keep the answer for the grader."""
    if isinstance(exercise_id, str):
        ANSWERS[exercise_id.strip()] = answer
    return Result(False, str(exercise_id))


def given(exercise_id: str) -> dict[str, Any]:
    """Return the data of an exercise."""
    return dict(GIVEN[exercise_id])


def hint(exercise_id: str, step: int | None = None) -> None:
    """Say nothing."""


def question(exercise_id: str) -> None:
    """Say nothing."""


def questions() -> None:
    """Say nothing."""


def exercises(chapter: int | None = None) -> tuple[()]:
    """Return no exercises."""
    return ()
