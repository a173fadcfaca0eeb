"""All exercises, found by themselves: every module `chapterNN` or `labNN` beside this one."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

from course_lib.exercises.exercise import Exercise

CHAPTERS = {
    0: "this lab",
    1: "Welcome",
    2: "Shift",
    3: "Padding",
    4: "Targets",
    5: "Packing",
    6: "Loss denominators",
    7: "Failure modes",
    8: "Audit your own batch",
    9: "Packing or padding?",
    10: "From a dense mask to a kernel",
    11: "Completion-only training",
    12: "How real systems do it",
    13: "Under the hood of the decoder",
    14: "The exit check",
}
"""Titles of the chapters that a message sends a learner to; 0 is where they are."""


@cache
def all_exercises() -> dict[str, Exercise]:
    """Return id -> exercise, in the order of the book, labs last.

    >>> all_exercises()["2.2"].title
    'Write shift'
    """
    names = [m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = sorted(name for name in names if re.fullmatch(r"(chapter|lab)\d\d", name))
    files = [importlib.import_module(f"course_lib.exercises.{name}") for name in modules]
    return in_order([exercise for file in files for exercise in file.EXERCISES])


def in_order(exercises: list[Exercise]) -> dict[str, Exercise]:
    """Return id -> exercise; raises ValueError if two have the same id.

    >>> list(in_order(list(all_exercises().values())[1::-1]))
    ['1.1', '2.1']
    """
    found: dict[str, Exercise] = {}
    for exercise in sorted(exercises, key=lambda exercise: _place(exercise.id)):
        if exercise.id in found:
            raise ValueError(
                f"two exercises have the id {exercise.id!r}: {found[exercise.id].title!r} and "
                f"{exercise.title!r}. Give one of them the next free number."
            )
        found[exercise.id] = exercise
    return found


def _place(exercise_id: str) -> tuple[bool, list[int]]:
    """Where an id stands in the list: "2.10" behind "2.9", labs behind all chapters."""
    numbers = exercise_id.removeprefix("L").split(".")
    return exercise_id.startswith("L"), [int(number) for number in numbers]


def find(exercise_id: object) -> Exercise | str:
    """Return the exercise, or a sentence that names the nearest ids."""
    known = all_exercises()
    if isinstance(exercise_id, str) and exercise_id.strip() in known:
        return known[exercise_id.strip()]
    near = _near(str(exercise_id), list(known))
    return (
        f"There is no exercise {exercise_id!r}. Near it: {', '.join(near)}. "
        "exercises() lists them all."
    )


def _near(wanted: str, known: list[str]) -> list[str]:
    near = difflib.get_close_matches(wanted, known, n=4, cutoff=0.5)
    chapter = [name for name in known if name.split(".")[0] == wanted.split(".")[0].strip()]
    return list(dict.fromkeys(chapter + near))[:6] or known[:6]
