"""Which exercises a lab asks: read from the released notebook, nothing is listed twice."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course_lib.exercises.exercise import Exercise
from course_lib.exercises.registry import all_exercises
from course_lib.grading.inside.cells import python_of
from course_lib.grading.notebooks import code_cells

PLACES = ("labs", "release/labs", "book", "release/book")


@dataclass(frozen=True)
class Lab:
    """The lab as it was released: its name, its code cells, and exercise id -> name of the answer.

    - given    ids of exercises whose data its cells ask for
    - modules  what its cells import
    """

    name: str
    cells: tuple[str, ...]
    answers: dict[str, str]
    given: tuple[str, ...]
    modules: tuple[str, ...]

    @property
    def exercises(self) -> list[Exercise]:
        """The exercises in the order of the lab."""
        return [all_exercises()[exercise_id] for exercise_id in self.answers]

    def data(self) -> dict[str, dict]:
        """Return exercise id -> the data that its prompt speaks of."""
        return {name: all_exercises()[name].given() for name in self.given}

    @property
    def digest(self) -> str:
        """A number that changes when the lab does."""
        return hashlib.sha256("\0".join(self.cells).encode("utf8")).hexdigest()


def find_lab(wanted: str) -> Lab:
    """Return the lab with this number ("01") or the notebook at this path.

    Raises ValueError where there is none, or where it has no exercise.
    """
    path = Path(wanted)
    if path.suffix != ".ipynb":
        path = _numbered(wanted)
    if not path.is_file():
        raise ValueError(f"--lab {wanted}: there is no such notebook.")
    lab = read_lab(path)
    if not lab.answers:
        raise ValueError(f"--lab {wanted}: {path.name} has no check of an exercise.")
    return lab


def _folders(kind: str = "") -> list[Path]:
    roots = (Path.cwd(), Path(__file__).parents[2])
    return [root / place for root in roots for place in PLACES if place.endswith(kind)]


def _notebooks(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.ipynb"))


def _numbered(wanted: str) -> Path:
    found = [path for folder in _folders("labs") for path in _notebooks(folder)]
    for path in found:
        number, _, title = path.stem.partition("_")
        if wanted in (number, path.stem, title) or wanted.zfill(2) == number:
            return path
    there = ", ".join(dict.fromkeys(path.stem for path in found)) or "no labs here"
    raise ValueError(f"--lab {wanted}: no such lab ({there}). Give a number or a notebook's path.")


@cache
def released() -> tuple[Lab, ...]:
    """Return every lab and chapter that lies here as a notebook."""
    found = []
    for path in dict.fromkeys(p for folder in _folders() for p in _notebooks(folder)):
        with suppress(ValueError, SyntaxError, OSError):  # no notebook of ours
            found.append(read_lab(path))
    return tuple(lab for lab in found if lab.answers)


def read_lab(path: Path) -> Lab:
    """Return a lab from its released notebook."""
    cells = tuple(code_cells(path))
    trees = [ast.parse(python_of(source)) for source in cells]
    answers: dict[str, str] = {}
    given: list[str] = []
    for call in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name, first = _called(call), _text(call)
        if first not in all_exercises():
            continue
        if name == "check":
            bound = call.args[1] if len(call.args) > 1 else None
            own = bound.id if isinstance(bound, ast.Name) else all_exercises()[first].name
            answers.setdefault(first, own)
        given.append(first)
    modules = tuple(dict.fromkeys(m for tree in trees for m in _imported(tree)))
    return Lab(path.stem, cells, answers, tuple(dict.fromkeys(given)), modules)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _text(call: ast.Call) -> str:
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and type(first.value) is str else ""


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            if node.module.split(".")[0] == "course_lib":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
