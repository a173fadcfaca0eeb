"""What lies around a submission: a copy of the package, libraries, and what is to be hidden.

In the sandbox lies a copy of the package without the exercises and without this grader. So a
submission finds no expected value in what it can import. (The package is public all the same: what
a student reads at home, nothing here can hide.)
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
KEPT = {
    "exercises": {"plain.py", "calling.py", "recognise.py", "signatures.py"},
    "grading": {"wire.py", "inside"},
}


def make_folder(modules: Iterable[str] = ()) -> Path:
    """Return a new folder for sandboxes, with the package in it; remove it after use.

    `modules` are those that the lab imports.
    """
    folder = Path(tempfile.mkdtemp(prefix="course-grading-"))
    folder.chmod(0o755)
    (folder / "package").mkdir()
    make_package(folder / "package", modules)
    return folder


def make_package(folder: Path, modules: Iterable[str] = ()) -> None:
    """Copy the package without exercises and grader, with a stand-in for the former.

    Of the exercises stay the modules that a lab itself imports, such as data to work on.
    """
    parts = [module.split(".") for module in modules if module.startswith("course_lib.exercises.")]
    wanted = {f"{part[2]}.py" for part in parts if not re.match(r"(chapter|lab)\d", part[2])}
    kept = KEPT | {"exercises": KEPT["exercises"] | wanted}

    def left_out(place: str, names: list[str]) -> set[str]:
        some = kept.get(Path(place).name) if Path(place).parent == PACKAGE else None
        return set() if some is None else set(names) - some

    shutil.copytree(PACKAGE, folder / "course_lib", ignore=left_out)
    grading, exercises = folder / "course_lib" / "grading", folder / "course_lib" / "exercises"
    (grading / "__init__.py").write_text("")
    shutil.move(grading / "inside" / "exercises.py", exercises / "__init__.py")


def library_path() -> list[str]:
    """Return this process's import path without the folders that hold the course itself."""
    folders = [os.path.abspath(p) for p in sys.path if p]
    installed = ("site-packages", "dist-packages")
    return list(dict.fromkeys(
        p for p in folders
        if not (Path(p) / "course_lib").is_dir() or Path(p).name in installed
    ))  # fmt: skip


def own_folders() -> list[Path]:
    """The folders in which solutions and expected values lie."""
    beside = [PACKAGE.parent / name for name in ("labs", "tests", "book", "release", ".git")]
    return [PACKAGE, *(p for p in beside if p.is_dir() and (PACKAGE.parent / "labs").is_dir())]


def can_hide(folders: Iterable[Path], ours: Path) -> list[Path]:
    """Those that are no parents of what the sandbox itself needs."""
    needs = [Path(p) for p in (sys.prefix, sys.base_prefix, *library_path())] + [ours]
    needs = [p.resolve() for p in needs]
    resolved = dict.fromkeys(f.resolve() for f in folders if f.is_dir())
    return [f for f in resolved if not any(need.is_relative_to(f) for need in needs)]
