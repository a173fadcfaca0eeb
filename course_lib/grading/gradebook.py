"""The gradebook of a class, as data, JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.exercises.verdicts import CORRECT, NOT_ATTEMPTED
from course_lib.grading.collecting import File
from course_lib.grading.labs import Lab
from course_lib.grading.records import GRADED, NOT_GRADED
from course_lib.grading.sandbox import PROTECTIONS


@dataclass(frozen=True)
class Row:
    """A submission's name, its record, and the name of its feedback page."""

    name: str
    record: dict[str, Any]
    page: str

    @property
    def failed(self) -> bool:
        """Whether it could not be read, or did not live to its end."""
        return self.record["status"] != GRADED


def rows(files: Sequence[File], records: Sequence[dict[str, Any]]) -> list[Row]:
    """Return one row for each file, each with a page name of its own."""
    used: Counter[str] = Counter()
    found = []
    for file, record in zip(files, records, strict=True):
        plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in file.name)[:100]
        used[plain.lower()] += 1
        number = used[plain.lower()]
        page = f"{plain}.html" if number == 1 else f"{plain}-{number}.html"
        found.append(Row(file.name, record, f"feedback/{page}"))
    return found


def summary(table: Sequence[Row]) -> str:
    """Return how many submissions there are, and how many of them are in which state."""
    states = Counter(row.record["status"] for row in table)
    graded = states.pop(GRADED, 0)
    parts = [f"{graded} graded", *(f"{n} {state}" for state, n in states.items())]
    many = "1 submission" if len(table) == 1 else f"{len(table)} submissions"
    return f"{many}: {', '.join(parts)}" if states else f"{many}, all graded"


def as_json(lab: Lab, table: Sequence[Row], protections: Sequence[str]) -> dict[str, Any]:
    """Return the gradebook as data: what was asked, what the sandbox kept away, and every row."""
    return {
        "lab": lab.name,
        "exercises": [{"id": e.id, "title": e.title} for e in lab.exercises],
        "sandbox": list(protections),
        "sandbox_lacks": [name for name in PROTECTIONS if name not in protections],
        "submissions": [{"name": row.name, "feedback": row.page, **row.record} for row in table],
    }


def as_csv(lab: Lab, table: Sequence[Row]) -> str:
    """Return one line a submission: score, points and reason of each exercise, seconds, notes."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    ids = list(lab.answers)
    head = ["submission", "status", "score", "of", *ids]
    writer.writerow([*head, *(f"{e} reason" for e in ids), "seconds", "notes"])
    for row in table:
        record = row.record
        exercises = [record["exercises"][e] for e in ids]
        cells = [row.name, record["status"], record["score"], record["of"]]
        cells += [one["points"] for one in exercises]
        cells += [_reason(one) for one in exercises]
        writer.writerow([_safe(c) for c in [*cells, record["seconds"], "; ".join(record["notes"])]])
    return out.getvalue()


def _reason(one: dict[str, Any]) -> str:
    if one["status"] == NOT_ATTEMPTED and one["note"]:
        return f"{one['status']}: {one['note']}"
    if one["status"] in (CORRECT, NOT_ATTEMPTED, NOT_GRADED):
        return one["status"]
    named = f" [{one['misconception']}]" if one["misconception"] else ""
    return one["reason"] + named


def _safe(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    text = str(cell)
    return f"'{text}" if isinstance(cell, str) and text[:1] in tuple("=+-@\t") else cell


def counts(lab: Lab, table: Sequence[Row]) -> dict[str, Counter[str]]:
    """Return exercise id -> how many are correct, wrong, not attempted and not graded."""
    names = {CORRECT: "correct", NOT_ATTEMPTED: "not attempted", NOT_GRADED: "not graded"}
    found: dict[str, Counter[str]] = {e: Counter() for e in lab.answers}
    for row in table:
        for exercise, one in row.record["exercises"].items():
            found[exercise][names.get(one["status"], "wrong")] += 1
    return found


def misconceptions(table: Sequence[Row]) -> Counter[tuple[str, str]]:
    """Return (exercise, misconception) -> how many submissions show it."""
    return Counter(
        (exercise, one["misconception"])
        for row in table
        for exercise, one in row.record["exercises"].items()
        if one["misconception"]
    )
