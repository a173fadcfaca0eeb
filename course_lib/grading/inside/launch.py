"""Starts the waiting process where the user of a submission can read Python and its packages.

An interpreter below `/root`, say, is out of reach for any other user. Where the grader runs as root
and may mount, such folders are bound to a place that all can read, and Python is started from
there. Where it may not, the submission keeps the grader's user.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from course_lib.grading.inside import confine

START = (
    "import sys; sys.path[:] = {path!r}; sys.dont_write_bytecode = True\n"
    "from course_lib.grading.inside import zygote; zygote.main({number}, {modules!r}, {own_user})"
)


def main(folder: str, path: Sequence[str], number: int, modules: Sequence[str]) -> None:
    """Become the waiting process; does not return."""
    own_user, found, program = True, list(path), sys.executable
    if os.geteuid() == 0:
        try:
            found, program = _reachable(Path(folder), found)
        except OSError:
            own_user = False
    code = START.format(path=found, number=number, modules=list(modules), own_user=own_user)
    os.set_inheritable(number, True)
    os.execv(program, [program, "-I", "-S", "-B", "-c", code])


def _reachable(folder: Path, path: list[str]) -> tuple[list[str], str]:
    """Return the path and the program in places that everybody can read."""
    program = os.path.realpath(sys.executable)
    closed = [p for p in path if os.path.exists(p) and not _open_to_all(Path(p))]
    if not closed and _open_to_all(Path(program)):
        return path, program
    confine.own_mounts()
    prefix, places = os.path.realpath(sys.base_prefix), {}
    for number, source in enumerate([prefix, *(p for p in closed if not _within(p, prefix))]):
        places[source] = folder / f"library{number}"
        places[source].mkdir(exist_ok=True)
        confine.bind(source, str(places[source]))
    return [_moved(p, places) for p in path], _moved(program, places)


def _open_to_all(path: Path) -> bool:
    real = path.resolve()
    return all(place.stat().st_mode & 0o001 for place in (real, *real.parents) if place.is_dir())


def _within(path: str, folder: str) -> bool:
    return Path(path).resolve().is_relative_to(folder)


def _moved(path: str, places: dict[str, Path]) -> str:
    for source, place in places.items():
        if _within(path, source):
            return str(place / Path(path).resolve().relative_to(source))
    return path
