"""Finished results on disk, so that a run that was stopped goes on and a re-run changes nothing.

The name of a result is a digest of all it depends on: the file's bytes, the lab, the limits, and
the package's own source, with its grader and checks. A change in any of them grades afresh.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.grading.labs import Lab
from course_lib.grading.limits import Limits

_PACKAGE = Path(__file__).parents[1]


@cache
def version() -> str:
    """Return a digest of the package's own source."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def write(path: Path, text: str) -> None:
    """Write a whole file or none of it; an equal one stays untouched."""
    data = text.encode("utf8")
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".part")
    draft.write_bytes(data)
    os.replace(draft, path)


def dumps(data: Any) -> str:
    """Return data as JSON that is the same for the same data."""
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


class Store:
    """The results below a folder."""

    def __init__(self, folder: Path, lab: Lab, limits: Limits) -> None:
        self.folder = folder
        self._base = f"{version()} {lab.name} {lab.digest} {limits}"

    def key(self, data: bytes) -> str:
        """Return the name of the result for a file's bytes."""
        return hashlib.sha256(self._base.encode() + hashlib.sha256(data).digest()).hexdigest()[:32]

    def load(self, key: str) -> dict[str, Any] | None:
        """Return a stored result, None where there is none or only a piece of one."""
        try:
            record = json.loads((self.folder / f"{key}.json").read_text("utf8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and "exercises" in record else None

    def save(self, key: str, record: dict[str, Any]) -> None:
        """Store a result."""
        write(self.folder / f"{key}.json", dumps(record))
