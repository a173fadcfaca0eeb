"""An exercise: what it asks, what a right answer looks like, and the checks that it must pass.

Nothing here prints, calls the answer or knows where it runs. A check lists its `Call`s and judges
their `Outcome`s; `grading` can thus make the calls in another process and judge in its own.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from course_lib.exercises.calling import Outcome
from course_lib.exercises.forms import Difference, Form, alike
from course_lib.exercises.plain import plain

DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True, eq=False)
class Call:
    """One question put to an answer: the arguments of a function, () for a value."""

    args: tuple[Any, ...] = ()
    count_steps: bool = False


@dataclass(frozen=True)
class Failure:
    """Why an answer is refused: a sentence, what differs, and the misconception if it is known."""

    problem: str
    args: tuple[Any, ...] = ()
    difference: Difference | None = None
    misconception: str | None = None
    note: str = ""


Done = Sequence[tuple[Call, Outcome]]


class Check(Protocol):
    """A named group of calls."""

    name: str

    def calls(self, rng: random.Random) -> Iterable[Call]:
        """Return the calls; `rng` makes the random ones."""

    def judge(self, exercise: Exercise, done: Done) -> Failure | None:
        """Return what is wrong with the last of the calls that are done."""


@dataclass(frozen=True)
class Exercise:
    """One exercise; `stub` is the code that the learner starts from, and names what it takes.

    - returns        the form of an answer (of what it returns, if it is a function)
    - reference      gives the expected value for the arguments of a call
    - misconceptions id -> what an answer with this misconception gives for the same arguments
    - own            library functions that do it already, such as "masks.document_mask"
    - given          the data that the prompt speaks of
    - explain        a reason for a difference, from the arguments and the place
    """

    id: str
    title: str
    objective: str
    minutes: int
    difficulty: str
    chapter: int
    idea: str
    prompt: str
    stub: str
    hints: tuple[str, ...]
    returns: Form
    reference: Callable[..., Any]
    checks: tuple[Check, ...]
    misconceptions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    given: Callable[[], dict[str, Any]] = dict
    explain: Callable[..., str] | None = None

    @property
    def takes(self) -> tuple[str, ...] | None:
        """Names of the parameters, None if the answer is a value."""
        node = ast.parse(self.stub).body[0]
        if not isinstance(node, ast.FunctionDef):
            return None
        return tuple(arg.arg for arg in node.args.args)

    @property
    def name(self) -> str:
        """The name that the stub binds."""
        node = ast.parse(self.stub).body[0]
        if isinstance(node, ast.FunctionDef):
            return node.name
        assert isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        return node.targets[0].id

    def expected(self, args: tuple[Any, ...]) -> Any:
        """Return the expected answer to a call as plain data."""
        return plain(self.reference(*args))

    def misconception_of(self, done: Done) -> str | None:
        """Return the id of the first misconception that gives what the answer gave, every time.

        None where the numbers are right, and only their type is not.
        """
        if all(alike(self.expected(call.args), outcome.value) for call, outcome in done):
            return None
        for name, wrong in self.misconceptions.items():
            if all(self._like(plain(wrong(*call.args)), outcome.value) for call, outcome in done):
                return name
        return None

    def _like(self, wrong: Any, value: Any) -> bool:
        """Whether the form takes them for equal, or finds no form in what are the same numbers."""
        return self.returns.compare(wrong, value) is None or alike(wrong, value)
