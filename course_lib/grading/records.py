"""What is kept of a submission: its score, and for each exercise the reason, as plain data."""

from __future__ import annotations

from typing import Any

from course_lib.exercises.checker import message
from course_lib.exercises.exercise import Exercise, Failure
from course_lib.exercises.verdicts import CORRECT, Verdict
from course_lib.grading import wire
from course_lib.grading.labs import Lab

UNREADABLE, GRADED, CUT_SHORT, OTHER_LAB = "unreadable", "graded", "cut short", "not this lab"
"""States of a submission."""

NOT_GRADED = "not graded"
"""State of an exercise in a submission that cannot be read."""


def unreadable(lab: Lab, why: str) -> dict[str, Any]:
    """Return the record of a file that is no notebook."""
    return record(lab, UNREADABLE, [why], {}, 0.0)


def result(exercise: Exercise, judged: Verdict, note: str) -> dict[str, Any]:
    """Return what is kept of one exercise."""
    failure = judged.failure
    said = wire.clean(_reason(failure)) if failure else judged.status
    return {
        "points": int(judged.status == CORRECT),
        "status": judged.status,
        "reason": said,
        "misconception": failure.misconception if failure else None,
        "message": _text(exercise, judged),
        "note": note,
    }


def _reason(failure: Failure) -> str:
    """Return the problem in one line, with what was expected and given there."""
    found = failure.difference
    if found is None or not found.got:
        return failure.problem
    return f"{failure.problem}: expected {found.expected}, got {found.got}"


def _text(exercise: Exercise, judged: Verdict) -> str:
    return "\n".join(wire.printable(line) for line in message(exercise, judged).splitlines())


def record(
    lab: Lab,
    status: str,
    notes: list[str],
    judged: dict[str, Any],
    seconds: float,
    looks_like: str = "",
) -> dict[str, Any]:
    """Return the record of a submission; `looks_like` names the lab that it is of, if another."""
    none = {"points": 0, "status": NOT_GRADED, "reason": status, "misconception": None,
            "message": "", "note": ""}  # fmt: skip
    exercises = {e: judged.get(e, none) for e in lab.answers}
    return {
        "status": status,
        "looks_like": looks_like,
        "notes": notes,
        "score": sum(one["points"] for one in exercises.values()),
        "of": len(exercises),
        "seconds": round(seconds, 2),
        "exercises": exercises,
    }
