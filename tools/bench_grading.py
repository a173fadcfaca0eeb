"""A class of generated submissions, graded beside executing the bare notebook with nbclient.

    python -m tools.bench_grading                  200 submissions of lab 01, two at a time
    python -m tools.bench_grading --count 40 --lab labs/04_denominators.ipynb

Right, half done, untouched and crashing submissions in turn, some endless or broken. Prints the
mean seconds for a submission, the time of nbclient for the released notebook in the same run, and
how the memory of the grader grew.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from course_lib.__main__ import main as course
from course_lib.grading.labs import find_lab
from tools.notebooks import read
from tools.sources import ROOT, Course

BREAKS = {4: "1 / 0", 11: "import os\nos._exit(0)", 17: "while True: pass"}


def submissions(lab: str, folder: Path, count: int) -> None:
    """Write `count` notebooks of a lab into a folder."""
    released = nbformat.read(ROOT / f"{lab}.ipynb", as_version=4)
    solved = read(Course().pages[lab], solved=True)
    stubs = [c for c in released.cells if c.cell_type == "code"][1:]
    right = [c for c in solved.cells if c.cell_type == "code"]
    for i in range(count):
        pairs = enumerate(zip(right, stubs, strict=True))
        cells = [r if (i >> (n % 5)) & 1 else s for n, (r, s) in pairs]
        extra = nbformat.v4.new_code_cell(f"student = {i}\n{BREAKS.get(i % 50, '')}")
        text = nbformat.writes(nbformat.v4.new_notebook(cells=[*cells, extra]))
        cut = len(text) // 2 if i % 25 == 24 else len(text)
        (folder / f"student{i:03}.ipynb").write_text(text[:cut])


def bare_seconds(path: Path) -> float:
    """Execute the released notebook with nbclient, as Jupyter would."""
    notebook = nbformat.read(path, as_version=4)
    start = time.monotonic()
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return time.monotonic() - start


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(lab: str, count: int, jobs: int) -> dict[str, float]:
    """Grade in two halves, so that growth shows, with the bare notebook before and after."""
    path = ROOT / f"{lab}.ipynb"
    bare = [bare_seconds(path)]
    with tempfile.TemporaryDirectory() as place:
        folder, out = Path(place, "class"), Path(place, "out")
        arguments = ["grade", str(folder), "--lab", str(path), "--out", str(out), "--quiet",
                     "--jobs", str(jobs), "--timeout", "30"]  # fmt: skip
        folder.mkdir()
        memory, seconds = [], 0.0
        for many in (count // 2, count):
            submissions(lab, folder, many)
            start = time.monotonic()
            course(arguments)
            seconds += time.monotonic() - start
            memory.append(peak_mb())
        book = json.loads((out / "gradebook.json").read_text("utf8"))["submissions"]
    bare.append(bare_seconds(path))
    return {
        "submissions": len(book),
        "full marks": sum(row["score"] == row["of"] for row in book),
        "unreadable": sum(row["status"] == "unreadable" for row in book),
        "seconds a submission, wall": round(seconds / count, 3),
        "seconds in the sandbox": round(sum(row["seconds"] for row in book) / count, 3),
        "bare notebook with nbclient, seconds": round(min(bare), 2),
        "grader's peak MB, half and whole": [round(m) for m in memory],
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_grading", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", default="01", help="number or released notebook")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    lab = find_lab(args.lab)
    result = measure(f"labs/{lab.name}", args.count, args.jobs)
    print(json.dumps(result, indent=1))
    return 0 if result["submissions"] == args.count else 1


if __name__ == "__main__":
    sys.exit(main())
