"""One row of the table: a system, its version, and a cell for each question.

A cell has a few words (`short`), a sentence (`text`) and, where something was observed, what was
seen (`seen`): integers that the system returned. In a row that was read, `case` names the case in
`tests/cases` that was run out of the system's own file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from course_lib.inputs import choice

COLUMNS = {
    "shift": "Where is the shift?",
    "marks": "How are documents marked?",
    "boundary": "A, B or B′?",
    "positions": "Positions",
    "padding": "Padding",
    "attention": "Who sees whom?",
    "denominator": "The mean is over what?",
    "packing": "How are rows filled?",
    "switch": "What to set",
    "trap": "The trap",
}
"""The questions of the table, in order."""

CONVENTIONS = ("A", "B", "B′")


@dataclass(frozen=True)
class Cell:
    """An answer: in a few words, in a sentence, and what was seen."""

    short: str
    text: str
    seen: str = ""
    case: str = ""


@dataclass(frozen=True)
class System:
    """One system.

    - name, what      the system, and the part of it that the row is about
    - version         a released version, or a commit
    - how             "run": computed from the installed library; "read": from its sources
    - source          the address of what was run or read
    - conventions     those of A, B, B′ that it can be set to, the default first; may be empty
    - cells           column → Cell
    """

    name: str
    what: str
    version: str
    how: str
    source: str
    conventions: tuple[str, ...]
    cells: Mapping[str, Cell]

    def __post_init__(self) -> None:
        choice(self.how, "how", ("run", "read"))
        for letter in self.conventions:
            choice(letter, "conventions", CONVENTIONS)
        if list(self.cells) != list(COLUMNS):
            raise ValueError(
                f"{self.name} must answer {', '.join(COLUMNS)}; it has {', '.join(self.cells)}."
            )

    @property
    def key(self) -> str:
        """Name and part in one line.

        >>> load()[0].key.split(":")[0]
        'transformers'
        """
        return f"{self.name}: {self.what}" if self.what else self.name

    @property
    def release(self) -> str:
        """The version alone: a number, or nine digits of the commit.

        >>> named("torchtitan").release
        'b5bcd76c6'
        """
        return self.version.replace("@", " ").split()[-1]

    @property
    def observed(self) -> int:
        """Number of cells with something seen."""
        return sum(bool(cell.seen) for cell in self.cells.values())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, empty fields of cells left out."""
        cells = {
            name: {k: v for k, v in asdict(cell).items() if v} for name, cell in self.cells.items()
        }
        return {**asdict(self), "conventions": list(self.conventions), "cells": cells}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> System:
        """Return the system whose `to_dict` gave `data`.

        >>> first = load()[0]
        >>> System.from_dict(first.to_dict()) == first
        True
        """
        cells = {name: Cell(**cell) for name, cell in data["cells"].items()}
        return cls(**{**data, "conventions": tuple(data["conventions"]), "cells": cells})


def load(how: str | None = None) -> tuple[System, ...]:
    """Return all systems, those that were run first; `how` ("run", "read") takes one half.

    >>> {s.how for s in load("read")}
    {'read'}
    """
    return tuple(_read(how))


def _read(how: str | None) -> Iterator[System]:
    for name in ("run", "read") if how is None else (choice(how, "how", ("run", "read")),):
        text = (resources.files(__package__) / "data" / f"{name}.json").read_text("utf8")
        yield from map(System.from_dict, json.loads(text))


def named(name: str) -> System:
    """Return the one system whose name and part contain `name`, whatever the case of letters.

    Raises ValueError, with the names that there are, where none or several do.

    >>> named("flattening").conventions
    ('B',)
    """
    found = [s for s in load() if name.lower() in s.key.lower()]
    if len(found) != 1:
        keys = [s.key for s in (found or load())]
        raise ValueError(f"{len(found)} systems are called {name!r}. There are: {'; '.join(keys)}.")
    return found[0]
