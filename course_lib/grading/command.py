"""Grade a folder of submitted notebooks of one lab.

Every notebook below FOLDER is a submission. Each runs in a process of its own, limited and cut off
as far as this system allows, and answers are compared here. RESULTS gets gradebook.csv,
gradebook.json, overview.html and a page for each submission in feedback/. A run that was stopped
goes on where it was; a second run changes nothing.

example:
  python -m course_lib grade submissions/ --lab 01 --out results/
  python -m course_lib grade submissions/ --lab labs/03_packing.ipynb --out results/ --jobs 4

exit code: 0 all graded, 1 some unreadable, of another lab or cut short, 2 unusable input
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course_lib.grading import gradebook, wire
from course_lib.grading.collecting import File, collect, results_inside
from course_lib.grading.gradebook import Row, summary
from course_lib.grading.labs import Lab, find_lab
from course_lib.grading.limits import Limits
from course_lib.grading.overview import overview
from course_lib.grading.pages import feedback
from course_lib.grading.run import content, grade_files
from course_lib.grading.sandbox import PROTECTIONS
from course_lib.grading.store import Store, dumps, write

STOPPED = 130
"""Exit code after an interrupt, as of any command."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    usual = Limits()
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, help="the submissions, or one notebook"
    )
    parser.add_argument("--lab", required=True, help="number of the lab, or its released notebook")
    parser.add_argument("--out", required=True, type=Path, metavar="RESULTS", help="folder to fill")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    parser.add_argument("--timeout", type=float, default=usual.seconds, metavar="S",
                        help=f"seconds for a submission, default {usual.seconds:g}")  # fmt: skip
    parser.add_argument("--memory", type=int, default=usual.memory_mb, metavar="MB",
                        help=f"memory for a submission, default {usual.memory_mb}")  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="the summary only: no progress bar")


def run(given: argparse.Namespace) -> int:
    """Grade, write the results, and return the exit code."""
    _refuse_odd(given)
    lab, files = find_lab(given.lab), collect(given.folder, given.out)
    for path in results_inside(given.folder, given.out):
        print(f"{path} lies in the folder of submissions; nothing in it is taken for one")
    limits = Limits(
        seconds=given.timeout,
        cell_seconds=max(1.0, given.timeout / 3),
        call_seconds=min(Limits.call_seconds, max(1.0, given.timeout / 10)),
        memory_mb=given.memory,
    )
    store = _store(given.out, lab, limits)
    hide = [given.folder if given.folder.is_dir() else given.folder.parent, given.out]
    try:
        protections = grade_files(lab, files, store, limits, given.jobs, hide, given.quiet)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return STOPPED
    table = gradebook.rows(files, [_record(store, file) for file in files])
    sandbox = _remembered(given.out, protections)
    write(given.out / "gradebook.json", dumps(gradebook.as_json(lab, table, sandbox)))
    write(given.out / "gradebook.csv", gradebook.as_csv(lab, table))
    write(given.out / "overview.html", overview(lab, table, sandbox))
    for row in table:
        write(given.out / row.page, feedback(lab, row))
    failed = [row for row in table if row.failed]
    print(f"{summary(table)}. See {given.out / 'overview.html'}")
    for row in failed:
        print(f"  {wire.clean(row.name)}: {row.record['status']}: {'; '.join(row.record['notes'])}")
    _say_likely_lab(lab, table)
    lacks = [name for name in PROTECTIONS if name not in sandbox]
    if lacks and not given.quiet:
        print(f"this system does not allow: {', '.join(lacks)} (see the chapter for instructors)")
    return 1 if failed else 0


def _refuse_odd(given: argparse.Namespace) -> None:
    """Raise ValueError, which names the option, for a value that cannot be used."""
    if given.jobs < 1:
        raise ValueError(f"--jobs {given.jobs}: at least 1 is needed.")
    for option in ("timeout", "memory"):
        value = getattr(given, option)
        if not 0 < value < math.inf:
            raise ValueError(f"--{option} {value:g}: a limit must be greater than 0, and finite.")
    place = next((p for p in (given.out, *given.out.parents) if p.exists()), given.out)
    if place.exists() and not place.is_dir():
        raise ValueError(f"--out {given.out}: {place} is a file. Name a folder; it need not exist.")


def _record(store: Store, file: File) -> dict[str, Any]:
    record = store.load(store.key(content(file.path)))
    if record is None:
        raise ValueError(f"{file.path} changed while it was graded. Give the same command again.")
    return record


def _say_likely_lab(lab: Lab, table: Sequence[Row]) -> None:
    """Ask whether another lab was meant, where that is what most submissions look like."""
    names = Counter(row.record["looks_like"] for row in table if row.record["looks_like"])
    for name, count in names.most_common(1):
        if count > len(table) / 2:
            print(f"{count} of {len(table)} look like {name}, not {lab.name}. Is --lab right?")


def _store(out: Path, lab: Lab, limits: Limits) -> Store:
    out.mkdir(parents=True, exist_ok=True)
    folder = out / "records"
    folder.mkdir(exist_ok=True, mode=0o700)
    folder.chmod(0o700)  # no submission reads another's result
    return Store(folder, lab, limits)


def _remembered(out: Path, protections: list[str] | None) -> list[str]:
    """Return the protections of the run that graded; a run that grades nothing keeps them."""
    path = out / "records" / "sandbox.txt"
    if protections is not None or not path.is_file():
        write(path, "\n".join(protections or []) + "\n")
    return [line for line in path.read_text("utf8").splitlines() if line]
