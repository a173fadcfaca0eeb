"""One exercise of one submission: ask for values, compare them here, return a verdict.

The comparison is that of `check`. Only where the values come from differs: they were computed in
the sandbox and arrive as data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course_lib.exercises.calling import Outcome
from course_lib.exercises.exercise import Call, Exercise, Failure
from course_lib.exercises.verdicts import CORRECT, NOT_ATTEMPTED, OWN, WRONG, Verdict, verdict
from course_lib.grading import wire
from course_lib.grading.sandbox import Ended

Ask = Callable[..., Any]
"""`ask(op, wait, **fields)`: of `sandbox.Session`."""

STATES = ("missing", "stub", "value", "function")
MISSING = {"state": "missing"}
KINDS = ("value", "raised", "endless")


def judge(
    exercise: Exercise, name: str, ask: Ask, seconds: float, seed: int = 0
) -> tuple[Verdict, str]:
    """Return the verdict on an exercise, and a note on where its answer was found.

    What was handed to `check` last counts, or what bears the name at the end, whichever is right.
    Raises Ended where the submission's process does not live to answer.
    """
    takes = list(exercise.takes) if exercise.takes is not None else None
    found = ask("find", seconds + 1, id=exercise.id, name=name, own=list(exercise.own), takes=takes)
    places = found if isinstance(found, dict) else {}
    judged: list[tuple[Verdict, str]] = []
    for which, key, note in (
        ("handed", exercise.id, ""),
        ("named", name, f"graded is {name} as it is at the end, not what check was handed"),
    ):
        told = places.get(which)
        if isinstance(told, dict) and told.get("state") in STATES:
            one = _one(exercise, told, which, key, ask, seconds, seed)
            judged.append((one, note if places.get("handed") != MISSING else ""))
            if one.status == CORRECT:
                return judged[-1]
    if all(places.get(which, MISSING) == MISSING for which in ("handed", "named")):
        return Verdict(NOT_ATTEMPTED), f"there is no {name} after the notebook has run"
    tried = [one for one in judged if one[0].status != NOT_ATTEMPTED]
    return (tried or judged or [(Verdict(NOT_ATTEMPTED), "")])[0]


def _one(
    exercise: Exercise,
    told: dict[str, Any],
    which: str,
    key: str,
    ask: Ask,
    seconds: float,
    seed: int,
) -> Verdict:
    if told["state"] in ("missing", "stub"):
        return Verdict(NOT_ATTEMPTED)
    wants = "value" if exercise.takes is None else "function"
    if told["state"] != wants:
        return _refused(exercise, wire.clean(told.get("type", "")))
    for status, field in ((OWN, "own"), (WRONG, "misfit")):
        said = wire.clean(told.get(field, ""))
        if said:
            text = f"that is the library's own {said}" if status == OWN else said
            return Verdict(status, failure=Failure(text))
    if wants == "value":
        outcome = _outcome(ask("call", seconds + 2, which=which, key=key, args=None,
                               seconds=seconds, count_steps=False))  # fmt: skip
        return verdict(exercise, lambda _: outcome, seed)

    def put(call: Call) -> Outcome:
        args = wire.encode(list(call.args))
        return _outcome(
            ask("call", seconds + 2, which=which, key=key, args=args, seconds=seconds,
                count_steps=call.count_steps),
            len(call.args),
        )  # fmt: skip

    return verdict(exercise, put, seed)


def _refused(exercise: Exercise, kind: str) -> Verdict:
    if exercise.takes is None:
        text = "this exercise wants a value, and you gave a function"
    else:
        text = (
            f"this exercise wants a function, {exercise.name}({', '.join(exercise.takes)}); you "
            f"gave {kind or 'something else'}"
        )
    return Verdict(WRONG, failure=Failure(text))


def _outcome(data: Any, arguments: int = 0) -> Outcome:
    """Return what was received as an outcome; raises Ended where it is none."""
    try:
        kind, changed, steps = data["kind"], data["changed"], data["steps"]
        whole = [steps, *changed]
        fits = kind in KINDS and all(type(n) is int and n >= 0 for n in whole)
        if not fits or any(n >= arguments for n in changed):
            raise Ended("it sent something that is no answer")
        return Outcome(
            kind,
            wire.decode(data["value"]),
            wire.clean(data["error"]),
            tuple(changed),
            steps,
            data["not_attempted"] is True,
        )
    except (KeyError, TypeError) as error:
        raise Ended("it sent something that is no answer") from error
    except wire.WireError as error:
        raise Ended(f"it sent {error}") from error
