"""Make every notebook from its source: `python -m tools.notebooks`.

A page `book/NN_name.md` or `labs/NN_name.md` becomes `NN_name.ipynb` beside it: plain Markdown,
stubs instead of solutions, a set-up cell first, executed, outputs stored, cell ids that depend on
the cell's source alone, nothing in it that changes from run to run.

    python -m tools.notebooks                     all of them, in place
    python -m tools.notebooks book/02_shift.md    these only
    python -m tools.notebooks --out FOLDER        all of them, below FOLDER
    python -m tools.notebooks --solved FOLDER     the labs with their solutions, below FOLDER
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from tools import kept, solutions
from tools.plain_markdown import Converter
from tools.sources import Course, Page, SourceError

GLUE_MIME = "application/papermill.record/text/plain"
VOLATILE_MIMES = {"application/vnd.jupyter.widget-view+json"}  # a random model id
ANSI = re.compile(r"\x1b\[[0-9;]*m")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SETUP = '''\
# @title Set-up: run this cell first
import importlib.metadata
import importlib.util
import subprocess
import sys

if "google.colab" in sys.modules and importlib.util.find_spec("course_lib") is None:
    package = "git+{repository}@{branch}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", package]
    subprocess.run(pip, check=True)
for name in ("numpy", "torch"):
    if name in sys.modules:
        loaded = sys.modules[name].__version__.split("+")[0]
        installed = importlib.metadata.version(name).split("+")[0]
        if loaded != installed:
            print(f"{{name}} {{loaded}} is loaded but {{installed}} is installed: "
                  "restart the runtime, then run this cell again.")'''
PAGE_NOTE = "*The same chapter as a page, with its interactive parts: [{title}]({url}).*"


def setup_source(course: Course) -> str:
    """The cell that installs course_lib under Colab, and nothing anywhere else."""
    return SETUP.format(repository=course.repository, branch=course.branch)


def read(page: Page, *, solved: bool = False) -> NotebookNode:
    """The page as a notebook of its source cells; a lab's solutions are kept or become stubs."""
    nb = jupytext.reads(page.text, fmt="md:myst")
    for cell in nb.cells:
        tags = cell.metadata.get("tags", [])
        cell.metadata = NotebookNode({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            cell.source = (solutions.solved(cell.source) if solved
                           else solutions.student(cell.source, page))
    return nb


def execute(nb: NotebookNode, *, strict: bool = False) -> NotebookNode:
    """Run all cells in a fresh kernel and an empty folder; any exception ends it."""
    env = dict(os.environ, COURSE_GLUE="1", OMP_NUM_THREADS="1", PYTHONHASHSEED="0")
    for name in ("COURSE_FIGURES", "COURSE_CHECK"):
        env.pop(name, None)
    if strict:
        env["COURSE_CHECK"] = "strict"
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            nb, timeout=120, kernel_name="python3", force_raise_errors=True,
            record_timing=False, coalesce_streams=True, resources={"metadata": {"path": folder}},
        )
        client.execute(env=env)
    return nb


def take_values(nb: NotebookNode) -> dict[str, str]:
    """Remove what the cells glued from their outputs and return it: name -> text."""
    values: dict[str, str] = {}
    for cell in nb.cells:
        kept = []
        for output in cell.get("outputs", []):
            if GLUE_MIME in output.get("data", {}):
                name = output.metadata["scrapbook"]["name"]
                values[name] = ast.literal_eval(output.data[GLUE_MIME])
            else:
                kept.append(output)
        if cell.cell_type == "code":
            cell.outputs = kept
    return values


def tidy(nb: NotebookNode) -> NotebookNode:
    """Stable ids and no metadata that changes from run to run."""
    nb.metadata = nbformat.from_dict(METADATA)
    nb.nbformat, nb.nbformat_minor = 4, 5
    seen: Counter[str] = Counter()
    for cell in nb.cells:
        tags = cell.metadata.get("tags")
        form = {"cellView": "form"} if cell.source.startswith("# @title") else {}
        cell.metadata = nbformat.from_dict(form | ({"tags": tags} if tags else {}))
        key = f"{cell.cell_type}:{cell.source}"
        seen[key] += 1
        cell["id"] = hashlib.sha256(f"{seen[key]}:{key}".encode()).hexdigest()[:8]
        for output in cell.get("outputs", []):
            for mime in VOLATILE_MIMES & set(output.get("data", {})):
                del output.data[mime]
    nbformat.validate(nb)
    return nb


def make(
    course: Course, page: Page, *, solved: bool = False, keep: Path | None = None,
    outputs: bool = True,
) -> NotebookNode:
    """The finished notebook of one page; `keep` is a folder of executed ones (`tools/kept.py`).

    Without `outputs` only the cells' sources are right, and a page whose text shows no computed
    value is not run.
    """
    nb = read(page, solved=solved)
    setup = nbformat.v4.new_code_cell(setup_source(course))
    setup.metadata["tags"] = ["remove-cell"]
    nb.cells.insert(0, setup)
    run = partial(execute, strict=solved)
    if outputs or "{glue" in page.text:
        nb = kept.executed(nb, run, keep) if keep else run(nb)
    convert = Converter(course, page, take_values(nb)).convert
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            cell.source = convert(cell.source)
    nb.cells = [c for c in nb.cells if c.source.strip()]
    if not page.is_lab:
        note = PAGE_NOTE.format(title=page.title, url=course.page_url(page.name))
        nb.cells.insert(1, nbformat.v4.new_markdown_cell(note))
    return tidy(nb)


def _make_one(
    root: Path, name: str, out: Path, solved: bool, keep: Path | None, outputs: bool
) -> tuple[str, str]:
    """('path written', '') or ('', 'why not'): plain texts, since this runs in a worker."""
    course = Course(root)
    try:
        nb = make(course, course.pages[name], solved=solved, keep=keep, outputs=outputs)
    except (SourceError, CellExecutionError) as error:
        return "", f"{name}.md: {ANSI.sub('', str(error))}"
    target = out / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nb, target)
    return str(target), ""


def make_all(
    course: Course, names: list[str], out: Path, *, solved: bool = False, jobs: int | None = None,
    keep: Path | None = None, outputs: bool = True,
) -> list[str]:
    """Write the notebooks of `names` below `out`; returns what failed, one text each."""
    jobs = jobs or min(len(names), os.cpu_count() or 1) or 1
    with ProcessPoolExecutor(jobs) as pool:
        count = len(names)
        done = pool.map(_make_one, [course.root] * count, names, [out] * count, [solved] * count,
                        [keep] * count, [outputs] * count)
        failures = []
        for target, failure in done:
            print(target or failure, flush=True)
            failures += [failure] * bool(failure)
    return failures


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.notebooks", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="source pages; all of them if none is named")
    parser.add_argument("--out", type=Path, help="write below this folder, not beside the source")
    parser.add_argument("--solved", type=Path, help="write the labs with solutions below here")
    parser.add_argument("--keep", type=Path, help="keep executed ones in this folder, and use them")
    parser.add_argument("--jobs", type=int, help="how many at a time; default: one per core")
    args = parser.parse_args(argv)
    course = Course()
    names = [Path(p).with_suffix("").as_posix() for p in args.pages] or list(course.pages)
    unknown = [name for name in names if name not in course.pages]
    if unknown:
        print(f"no such page: {unknown[0]}; there are {', '.join(course.pages)}", file=sys.stderr)
        return 2
    if args.solved:
        names = [name for name in names if course.pages[name].is_lab]
    out = args.solved or args.out or course.root
    failures = make_all(
        course, names, out, solved=bool(args.solved), jobs=args.jobs, keep=args.keep
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
