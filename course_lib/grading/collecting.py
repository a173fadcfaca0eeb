"""The files of a class: which of them is whose submission.

Each notebook below the folder is a submission, named by its path without the ending. Whoever handed
in something else, and no notebook, is listed too: an entry of the folder with no notebook in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SKIPPED = {".ipynb_checkpoints", "__pycache__", "__MACOSX"}


@dataclass(frozen=True)
class File:
    """One submission: its name in the gradebook and its file."""

    name: str
    path: Path


def collect(folder: Path, results: Path | None = None) -> list[File]:
    """Return the submissions of a folder, in order of their names, without the folder of `results`.

    Raises ValueError where there is no such folder or nothing in it.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder of submissions.")
    skip = results.resolve() if results is not None else None
    files = [path for path in _files(folder, skip) if _is_notebook(path)]
    found = [File(_name(path, folder), path) for path in files]
    owners = {Path(file.name).parts[0] for file in found}
    for entry in sorted(folder.iterdir()):
        stem = _name(entry, folder) if _is_notebook(entry) else entry.name
        if not _hidden(entry.name) and stem not in owners and entry.resolve() != skip:
            found.append(File(entry.name, entry))
    if not found:
        raise ValueError(f"{folder}: there is nothing in this folder.")
    return sorted(found, key=lambda file: file.name)


def _files(folder: Path, skip: Path | None) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        kept = (name for name in folders if Path(place, name).resolve() != skip)
        folders[:] = sorted(name for name in kept if not _hidden(name))
        yield from (Path(place, name) for name in sorted(names) if not _hidden(name))


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def _is_notebook(path: Path) -> bool:
    return path.suffix.lower() == ".ipynb"


def _name(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).with_suffix("").as_posix()
    return name.encode("utf8", "replace").decode("utf8")
