"""The message of a check: what passed, what failed, where, why, and what to reread.

The expected value is shown beside the learner's where an answer is a function, since another call
asks for another value. Where the answer is a value, at most its first wrong place is told.
"""

from __future__ import annotations

from course_lib.exercises import show
from course_lib.exercises.exercise import Exercise, Failure
from course_lib.exercises.forms import Difference
from course_lib.exercises.misconceptions import MISCONCEPTIONS
from course_lib.exercises.registry import CHAPTERS
from course_lib.exercises.verdicts import Verdict


def message(exercise: Exercise, judged: Verdict) -> str:
    """Return the text that `check` prints."""
    lines = [f"{exercise.id} {exercise.title}: {judged.status}"]
    passed = judged.checks_run[:-1] if judged.failure else judged.checks_run
    if passed:
        lines += show.wrap(f"Passed: {'; '.join(passed)}.", "  ")
    if judged.failure is None:
        return "\n".join(lines)
    if judged.checks_run:
        lines += show.wrap(f"Failed: {judged.checks_run[-1]}", "  ")
    return "\n".join(lines + _failure(exercise, judged.failure))


def _failure(exercise: Exercise, failure: Failure) -> list[str]:
    lines = show.inputs(exercise.takes or (), failure.args) if failure.args else []
    place = failure.difference.problem if failure.difference else ""
    if failure.problem != place:
        lines += show.wrap(show.sentence(failure.problem))
    if failure.difference is not None:
        whole = failure.difference.malformed and not failure.difference.got
        lines += show.wrap(show.sentence(place) if whole else place)
        a_function = exercise.takes is not None
        told = a_function or _tells_little(failure.difference)
        lines += show.difference(failure.difference, told, a_function)
    if failure.note:
        lines += show.wrap(f"Why: {failure.note}")
    known = MISCONCEPTIONS.get(failure.misconception or "")
    if known is not None:
        own = known.chapter in (0, exercise.chapter)
        more = "" if own else f" See {_chapter(known.chapter)}."
        lines += show.wrap(f"Looks like this: {known.text}{more}")
    return lines + show.wrap(f"Reread {_chapter(exercise.chapter)}: {exercise.idea}")


def _chapter(number: int) -> str:
    return f"chapter {number}, {CHAPTERS[number]}" if number else CHAPTERS[number]


def _tells_little(found: Difference) -> bool:
    """Whether what was expected may be told: not where it is the whole answer."""
    return found.malformed or found.index != ()
