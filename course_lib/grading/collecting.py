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
    """Return the submissions of a folder, in order of their names, without those in `results`.

    One notebook instead of a folder is a class of one. Raises ValueError where there is nothing.
    """
    if folder.is_file() and _is_notebook(folder):
        return [File(_name(folder, folder.parent), folder)]
    if folder.is_file():
        raise ValueError(f"{folder}: this is neither a folder of submissions nor a notebook.")
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder of submissions.")
    skip = results.resolve() if results is not None else None
    if skip == folder.resolve():
        raise ValueError(f"--out {results}: this is the folder of submissions. Name another.")
    files = [path for path in _files(folder, skip) if _is_notebook(path)]
    found = [File(_name(path, folder), path) for path in files]
    owners = {Path(file.name).parts[0] for file in found}
    for entry in sorted(folder.iterdir()):
        stem = _name(entry, folder) if _is_notebook(entry) else entry.name
        if not _hidden(entry.name) and stem not in owners and not _only_results(entry, skip):
            found.append(File(entry.name, entry))
    if not found:
        raise ValueError(f"{folder}: there is nothing in this folder.")
    return sorted(found, key=lambda file: file.name)


def results_inside(folder: Path, results: Path) -> list[Path]:
    """Return what lies in a folder of submissions and is none: results, of now or of before."""
    inside = [entry for entry in sorted(folder.glob("*")) if _are_results(entry)]
    now = [results] if folder.resolve() in results.resolve().parents else []
    return list({path.resolve(): path for path in [*now, *inside]}.values())


def _files(folder: Path, skip: Path | None) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        kept = (Path(place, name) for name in sorted(folders) if not _hidden(name))
        folders[:] = [path.name for path in kept if path.resolve() != skip]
        folders[:] = [name for name in folders if not _are_results(Path(place, name))]
        yield from (Path(place, name) for name in sorted(names) if not _hidden(name))


def _are_results(path: Path) -> bool:
    return (path / "records").is_dir() and (path / "gradebook.json").is_file()


def _only_results(entry: Path, skip: Path | None) -> bool:
    """Whether an entry is the folder of results, or holds that and no file beside it."""
    if _are_results(entry) or entry.resolve() == skip:
        return True
    within = skip is not None and skip.is_relative_to(entry.resolve())
    return within and not any(_files(entry, skip))


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def _is_notebook(path: Path) -> bool:
    return path.suffix.lower() == ".ipynb"


def _name(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).with_suffix("").as_posix()
    return name.encode("utf8", "replace").decode("utf8")
