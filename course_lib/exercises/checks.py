"""The kinds of checks: exact cases, properties, seeded random cases, edges, and "no loop"."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from course_lib.exercises.calling import Outcome
from course_lib.exercises.exercise import Call, Done, Exercise, Failure
from course_lib.exercises.plain import kind_name

Args = tuple[Any, ...]


@dataclass(frozen=True)
class Exact:
    """Cases small enough to be followed by hand; `cases` makes them afresh."""

    name: str
    cases: Callable[[], Sequence[Args]] = lambda: [()]

    def calls(self, rng: random.Random) -> Iterable[Call]:
        return [Call(args) for args in self.cases()]

    def judge(self, exercise: Exercise, done: Done) -> Failure | None:
        return compare(exercise, *done[-1])


@dataclass(frozen=True)
class Random:
    """`count` cases from a seeded generator."""

    name: str
    case: Callable[[random.Random], Args]
    count: int = 20

    def calls(self, rng: random.Random) -> Iterable[Call]:
        return [Call(self.case(rng)) for _ in range(self.count)]

    def judge(self, exercise: Exercise, done: Done) -> Failure | None:
        return compare(exercise, *done[-1])


@dataclass(frozen=True)
class Edges:
    """Both ends of what an exercise allows: the smallest cases, then `count` large random ones.

    A rule that holds up to some small number only (four rows, ids up to 3, positions below 5)
    passes small random cases. The large ones have more than 16 of everything that can be counted.
    """

    name: str
    smallest: Callable[[], Sequence[Args]]
    large: Callable[[random.Random], Args]
    count: int = 2

    def calls(self, rng: random.Random) -> Iterable[Call]:
        large = [self.large(rng) for _ in range(self.count)]
        return [Call(args) for args in [*self.smallest(), *large]]

    def judge(self, exercise: Exercise, done: Done) -> Failure | None:
        return compare(exercise, *done[-1])


@dataclass(frozen=True)
class Property:
    """Something that holds for every right answer; `broken` says in a sentence how it does not.

    `broken(value, *args)` gets plain data that has the right type, shape and dtype.
    """

    name: str
    case: Callable[[random.Random], Args]
    broken: Callable[..., str]
    count: int = 12

    def calls(self, rng: random.Random) -> Iterable[Call]:
        return [Call(self.case(rng)) for _ in range(self.count)]

    def judge(self, exercise: Exercise, done: Done) -> Failure | None:
        call, outcome = done[-1]
        found = compare(exercise, call, outcome)
        if found is not None and (found.difference is None or found.difference.malformed):
            return found
        sentence = self.broken(outcome.value, *call.args)
        if not sentence:
            return None
        return replace(found or Failure("", call.args), problem=sentence)


@dataclass(frozen=True)
class NoLoop:
    """Python steps must not grow with the size: `case(size)` is called at two sizes."""

    name: str
    case: Callable[[int], Args]
    sizes: tuple[int, int] = (8, 72)

    def calls(self, rng: random.Random) -> Iterable[Call]:
        return [Call(self.case(size), count_steps=True) for size in self.sizes]

    def judge(self, exercise: Exercise, done: Done) -> Failure | None:
        found = compare(exercise, *done[-1])
        if found is not None or len(done) < 2:
            return found
        small, large = (outcome.steps for _, outcome in done)
        if large - small < self.sizes[1] - self.sizes[0]:
            return None
        return Failure(
            f"the result is right, but Python took {small} steps for {self.sizes[0]} positions and "
            f"{large} for {self.sizes[1]}: there is a loop over positions"
        )


def compare(exercise: Exercise, call: Call, outcome: Outcome) -> Failure | None:
    """Return what is wrong with one outcome, compared with the exercise's reference."""
    if outcome.kind != "value":
        told = types_of(exercise.takes or (), call.args, outcome.error)
        return Failure(f"your function {outcome.error}", call.args, note=told)
    if outcome.value is None:
        return Failure("your function returned None. Is there a `return` missing?", call.args)
    difference = exercise.returns.compare(exercise.expected(call.args), outcome.value)
    if difference is not None:
        reason = exercise.explain(call.args, difference) if exercise.explain else ""
        return Failure(difference.problem, call.args, difference, note=reason)
    if outcome.changed:
        names = ", ".join((exercise.takes or ())[i] for i in outcome.changed)
        return Failure(
            f"the result is right, but your function changed its argument {names} in place, "
            "and the caller still needs it",
            call.args,
            misconception="changes_input",
        )
    return None


def types_of(names: Sequence[str], args: Args, error: str) -> str:
    """Say what the arguments were where an answer raised over a type: those that its line names.

    All of them where the line names none; nothing for an exception that no type causes.

    >>> types_of(["lengths", "T"], ([2, 1], 4), "raised TypeError: no, in the line `lengths[:, 1]`")
    'lengths was a list of int.'
    """
    if not re.match(r"raised (TypeError|AttributeError)\b", error):
        return ""
    line = error.partition(", in the line `")[2]
    pairs = list(zip(names, args, strict=False))
    named = [(n, a) for n, a in pairs if re.search(rf"\b{n}\b", line)]
    return "; ".join(f"{n} was {kind_name(a)}" for n, a in named or pairs) + "."
