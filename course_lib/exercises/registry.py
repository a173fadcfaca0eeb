"""All exercises, found by themselves: every module `chapterNN` or `labNN` beside this one."""

from __future__ import annotations

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
    return unknown(exercise_id, list(known))


def unknown(exercise_id: object, known: list[str]) -> str:
    """Return a sentence that says where somebody with this id may have wanted to go.

    >>> unknown("9.9", ["7.1", "10.1", "L1.1"])
    "There is no exercise '9.9'. Near it: 10.1, 7.1, L1.1. exercises() lists them all."
    """
    wanted = str(exercise_id).strip()
    near = ", ".join(_near(wanted, known))
    return f"There is no exercise {exercise_id!r}. Near it: {near}. exercises() lists them all."


def _near(wanted: str, known: list[str]) -> list[str]:
    """Up to eight ids: those of the same chapter, else of the chapters that lie nearest."""
    found = re.match(r"(L?)(\d{1,4})\b", wanted, re.IGNORECASE)
    if found is None:
        return known[:8]
    lab, chapter = bool(found[1]), int(found[2])
    places = {name: _place(name) for name in known}
    same = [name for name in known if places[name][0] == lab and places[name][1][0] == chapter]
    apart = {name: (place[0] != lab, abs(place[1][0] - chapter)) for name, place in places.items()}
    by_distance = sorted(known, key=lambda name: apart[name])
    return (same or by_distance)[:8]
