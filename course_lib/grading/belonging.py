"""Which lab a notebook looks like, where it is not the one that is graded.

A notebook names its exercises wherever it calls `check`. That is read from its text, since cells
of another lab may fail here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from course_lib.exercises.registry import all_exercises
from course_lib.grading.labs import Lab, released

_CHECKED = re.compile(r"\bcheck\(\s*[rf]?[\"']([^\"'\n]{1,12})[\"']")
_MOST_NAMED = 4


def checked(cells: Iterable[str]) -> list[str]:
    """Return the ids of the exercises that cells call `check` for, in their order.

    >>> checked(['check("2.2", shift)', "check('no such', 1)"])
    ['2.2']
    """
    found = [name.strip() for cell in cells for name in _CHECKED.findall(cell)]
    return [name for name in dict.fromkeys(found) if name in all_exercises()]


def looks_like(lab: Lab, cells: Sequence[str]) -> tuple[str, str] | None:
    """Return a lab's name ("" if it is none) and a sentence, if `lab` is not what cells are of.

    None where they call `check` for one of its exercises.
    """
    ids = checked(cells)
    if set(ids) & set(lab.answers):
        return None
    none = f"no exercise of {lab.name} is in it"
    if not ids:
        return "", f"{none}, and none of another lab"
    titles = [f"{e} {all_exercises()[e].title}" for e in ids[:_MOST_NAMED]]
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    name = _home(tuple(ids))
    looks = f"it looks like {name}" if name else "it looks like another lab"
    return name, f"{none}; {looks}: {', '.join(titles)}{more}"


@cache
def _home(ids: tuple[str, ...]) -> str:
    """The released notebook that asks most of these exercises, "" where none is at hand."""
    asks = {lab.name: len(set(ids) & set(lab.answers)) for lab in released()}
    best = max(asks, key=lambda name: asks[name], default="")
    return best if asks.get(best) else ""
