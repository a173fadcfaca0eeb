"""Searches what is to be published for solutions: in every file, archive, page and metadata.

A leak is a marker of a solution, the text of one, or the whole expected answer of an exercise that
asks for a value. Text is compared without white space and quotes, so that JSON, HTML and another
indentation hide nothing.
"""

from __future__ import annotations

import html
import io
import json
import re
import textwrap
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext

from course_lib.exercises.plain import Array, plain
from course_lib.exercises.registry import all_exercises
from tools import solutions
from tools.sources import Course

_BRACKETS = str.maketrans("()", "[]")
SHORTEST = 24
"""Shorter texts, without white space, stand anywhere by chance."""

THIN = 10
"""A line of fewer characters, such as `return {`, says too little to be half of a pair."""

SHORTEST_TEXT = 8
"""The same for an answer that is itself a text, such as one letter for each question."""

MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "### STUB")


def squeezed(text: str) -> str:
    """Return a text without white space, quotes and backslashes, with one kind of bracket.

    >>> squeezed('a = "b"\\\\n')
    'a=bn'
    """
    return re.sub(r"[\s\"'\\]+", "", text).translate(_BRACKETS)


def solution_texts(course: Course) -> dict[str, str]:
    """Return squeezed text -> the lab it solves: each solution, and each pair of its lines.

    A pair of lines that the lab itself shows elsewhere is no secret.
    """
    found: dict[str, str] = {}
    for page in course.pages.values():
        cells = [c.source for c in jupytext.reads(page.text, fmt="md:myst").cells
                 if c.cell_type == "code"]  # fmt: skip
        public = squeezed("\n".join(solutions.student(cell, page) for cell in cells))
        for lines in (lines for cell in cells for lines in _blocks(cell)):
            pieces = [text for text in _pairs(lines) if text not in public]
            whole = squeezed("".join(lines))
            pieces += [whole] * (len(whole) >= SHORTEST)
            found |= dict.fromkeys(pieces, f"a solution of {page.name}")
    return found


def _blocks(source: str) -> Iterator[list[str]]:
    inside = re.split(rf"^.*{solutions.BEGIN}.*$", source, flags=re.M)[1:]
    for part in inside:
        text = re.split(rf"^.*{solutions.END}.*$", part, flags=re.M)[0]
        lines = textwrap.dedent(text).splitlines()
        yield [x for x in lines if x.strip() and not x.lstrip().startswith(solutions.STUB)]


def _pairs(lines: list[str]) -> Iterator[str]:
    """Yield each pair of lines, squeezed, together with the thin lines around and between them."""
    for start in range(len(lines)):
        thick = 0
        for end, line in enumerate(lines[start:], start + 1):
            thick += len(squeezed(line)) >= THIN
            text = squeezed("".join(lines[start:end]))
            if thick == 2 and len(text) >= SHORTEST:
                yield text
                break


def expected_texts() -> dict[str, str]:
    """Return squeezed text -> exercise, for exercises that ask for a value."""
    found = {}
    for exercise in all_exercises().values():
        if exercise.takes is None:
            value = _lists(plain(exercise.reference()))
            text = squeezed(repr(value))
            if len(text) >= (SHORTEST_TEXT if isinstance(value, str) else SHORTEST):
                found[text] = f"the answer to {exercise.id}"
    return found


def _lists(value: Any) -> Any:
    if isinstance(value, Array):
        return value.values.tolist()
    if isinstance(value, dict):
        return {key: _lists(item) for key, item in value.items()}
    return [_lists(item) for item in value] if isinstance(value, list | tuple) else value


def texts_of(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield (where, text): a file, each member of an archive, the texts of a notebook or page."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from texts_of(f"{name}!{member}", archive.read(member))
        return
    text = data.decode("utf8", "ignore")
    yield name, text
    if name.endswith(".ipynb"):
        yield f"{name} (as read)", "\n".join(_strings(json.loads(text)))
    elif name.endswith((".html", ".svg", ".xml")):
        yield f"{name} (as read)", html.unescape(re.sub(r"<[^>]*>", "", text))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        together = all(isinstance(item, str) for item in value)
        yield from ["".join(value)] if together else (s for v in value for s in _strings(v))
    elif isinstance(value, dict):
        yield from (s for pair in value.items() for v in pair for s in _strings(v))


def search(folder: Path, course: Course) -> list[str]:
    """Return one line for each leak below a folder."""
    wanted = solution_texts(course) | expected_texts()
    leaks = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        for where, text in texts_of(path.relative_to(folder).as_posix(), path.read_bytes()):
            short = squeezed(text)
            found = [f"the marker {m!r}" for m in MARKERS if m in text]
            found += [what for text, what in wanted.items() if text in short]
            leaks += [f"{where}: {what}" for what in dict.fromkeys(found)]
    return leaks
