"""One small lab and one grading command for all tests of the grader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course_lib.__main__ import main
from tests.grading.notebooks import write_lab


class Graded:
    """What a run of the command left: its exit code, folder and gradebook."""

    def __init__(self, code: int, out: Path) -> None:
        self.code, self.out = code, out
        self.book = json.loads((out / "gradebook.json").read_text("utf8"))
        self.rows = {row["name"]: row for row in self.book["submissions"]}

    def points(self, name: str) -> dict[str, int]:
        return {e: one["points"] for e, one in self.rows[name]["exercises"].items()}


def grade(folder: Path, lab: Path, out: Path, *options: str) -> Graded:
    arguments = ["grade", str(folder), "--lab", str(lab), "--out", str(out), "--quiet"]
    return Graded(main([*arguments, "--jobs", "2", *options]), out)


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    return write_lab(tmp_path_factory.mktemp("lab"))
