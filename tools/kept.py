"""Executed notebooks that are kept: the same cells on the same course have the same outputs.

For a test that makes every notebook again to compare what it says: a second `make test` on the same
sources need not wait for cells that nbval runs anyway. `make notebooks` never uses it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.sources import ROOT

DEPENDS_ON = ("course_lib", "labs", "tools", "requirements.txt")
DATA = "book/*.yml"  # what pages read beside the package
MOST = 120


@cache
def course_key(root: Path = ROOT) -> str:
    """Changes with every file, but for a page's own cells, that an output can depend on."""
    digest = hashlib.sha256(sys.version.encode())
    paths = list(root.glob(DATA))
    for name in DEPENDS_ON:
        paths += [root / name, *(root / name).rglob("*")]
    for path in sorted(paths):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def executed(
    nb: NotebookNode, run: Callable[[NotebookNode], NotebookNode], folder: Path
) -> NotebookNode:
    """Return `run(nb)`, or what it returned when these cells ran before; a failure is not kept."""
    cells = [nb.metadata, *((cell.cell_type, cell.source, cell.metadata) for cell in nb.cells)]
    text = course_key() + json.dumps(cells, sort_keys=True)  # tags and kernel change outputs, too
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    path = folder / f"{key}.ipynb"
    if path.exists():
        try:
            found = nbformat.read(path, as_version=4)
        except (ValueError, AttributeError):  # damaged: it runs again and is written anew
            path.unlink()
        else:
            os.utime(path)
            return found
    done = run(nb)
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    nbformat.write(done, part)
    part.replace(path)
    for old in sorted(folder.glob("*.ipynb"), key=lambda p: p.stat().st_mtime)[:-MOST]:
        old.unlink(missing_ok=True)
    return done
