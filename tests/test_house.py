"""The house stands: rooms import downwards only, and importing the package stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import course_lib

PACKAGE = Path(course_lib.__file__).parent
FLOORS = {
    "inputs": 1, "vocabulary": 1, "boundaries": 1.5, "prose": 1,
    "masks": 2, "targets": 2, "loss": 2,
    "exchange": 2.5, "systems": 2, "head": 2.5, "turns": 2.5,
    "attention": 3, "batch": 3, "parallel": 3,
    "padding": 4, "packing": 4, "decoder": 4, "languages": 4, "setups": 4,
    "figures": 4.5, "audit": 4.5,
    "training": 5, "probes": 5, "exercises": 5, "widgets": 5,
    "bench": 6, "grading": 6, "__main__": 7,
    "contents": 7,
}  # fmt: skip
"""A half floor lies between two: its rooms use the floor below and serve the one above."""


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_rooms(path: Path) -> set[str]:
    """Rooms of the package that `path` imports when it runs (not only for type checkers)."""
    tree = ast.parse(path.read_text("utf8"))
    guarded = [
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    ]
    rooms = set()
    for node in ast.walk(tree):
        if node in guarded:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            module = node.module or ""
            parts = [f"{module}.{alias.name}" for alias in node.names]
            names = parts if module == "course_lib" else [module]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("course_lib.")}
    return rooms


SOURCES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_room_imports_only_from_floors_below(path: Path) -> None:
    room = room_of(path)
    assert room in FLOORS, f"{room} has no floor: add it to FLOORS and to the table of the house"
    for other in imported_rooms(path) - {room}:
        home = course_lib._HOME.get(other, other)
        if home == room:
            continue
        assert FLOORS[home] < FLOORS[room], f"{room} (floor {FLOORS[room]}) imports {home}"


def test_every_floor_has_its_room() -> None:
    later = {"grading", "parallel"}
    there = {room_of(path) for path in SOURCES}
    assert set(FLOORS) - there <= later | {"bench"}


def test_import_is_lazy() -> None:
    code = (
        "import sys, course_lib\n"
        "heavy = {'torch', 'numpy', 'matplotlib', 'ipywidgets', 'anywidget'} & set(sys.modules)\n"
        "print(sorted(heavy))\n"
        "course_lib.pad_documents([[1]])\n"
        "print(sorted({'matplotlib', 'ipywidgets', 'anywidget'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"], done.stdout


def test_every_public_name_loads_and_has_a_docstring() -> None:
    for name in course_lib.__all__:
        value = getattr(course_lib, name)
        if callable(value):
            assert value.__doc__, f"course_lib.{name} has no docstring"


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'pad_docs'"):
        _ = course_lib.pad_docs
