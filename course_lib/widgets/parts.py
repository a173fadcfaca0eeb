"""Parts of an exercise: what is right, what each mistake means, and how an answer is judged.

A part is plain data (it travels to the page as JSON). Toggle parts are cells that are on or off;
number parts are fields. The page judges by the same two rules as `judge` here, and a test holds the
two against each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Part = dict[str, Any]
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)")
Say = Mapping[str, Sequence[str]]


@dataclass(frozen=True, repr=False)
class Verdict:
    """What is wrong in an answer: for each part a list of (cell, reason); None = not attempted.

    >>> Verdict({"mask": []}).ok, Verdict({"mask": [(3, "in the future")]}).ok
    (True, False)
    """

    parts: dict[str, list[tuple[int, str]] | None] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True when every part was attempted and nothing is wrong."""
        return all(wrong == [] for wrong in self.parts.values())

    def __repr__(self) -> str:
        lines = []
        for name, wrong in self.parts.items():
            if wrong is None:
                lines.append(f"{name}: not attempted yet")
            elif not wrong:
                lines.append(f"{name}: correct")
            else:
                lines.append(f"{name}: {len(wrong)} wrong, first at {wrong[0][0]}: {wrong[0][1]}")
        return "\n".join(lines) or "nothing to check here"


def toggles(
    name: str, right: Sequence[int], why: Sequence[str], say: Say, *, free: Sequence[int] = (),
    **shown: Any,
) -> Part:
    """Return a part of cells that are on (1) or off (0).

    `why[i]` is the reason of cell i and `say[reason]` the pair of sentences for a cell that is on
    but should not be, and off but should be on. Cells in `free` are right either way.
    """  # fmt: skip
    used = set(why)
    return {
        "id": name, "kind": "toggle", "right": [int(r) for r in right], "why": list(why),
        "say": {code: list(pair) for code, pair in say.items() if code in used},
        "free": list(free), **shown,
    }  # fmt: skip


def numbers(
    name: str, right: Sequence[float], why: Sequence[str], *,
    traps: Mapping[int, Sequence[tuple[float, str]]] | None = None, blank: Sequence[int] = (),
    **shown: Any,
) -> Part:
    """Return a part of number fields; `traps[i]` names known wrong values and what they mean.

    Fields in `blank` may stay empty.
    """  # fmt: skip
    known = [
        [[v, text] for v, text in (traps or {}).get(i, ()) if not same(v, r)]
        for i, r in enumerate(right)
    ]
    return {
        "id": name, "kind": "number", "right": list(right), "why": list(why), "traps": known,
        "blank": list(blank), **shown,
    }  # fmt: skip


def judge(part: Part, value: Sequence[Any] | None) -> list[tuple[int, str]] | None:
    """Return (cell, reason) for each wrong cell of `value`; None where nothing was entered.

    >>> part = toggles("t", [1, 0], ["own", "future"], {"own": ["", "gap"], "future": ["late", ""]})
    >>> judge(part, [1, 1])
    [(1, 'late')]
    """
    if value is None:
        return None
    if part["kind"] == "toggle":
        given = [bool(v) for v in value]
        return [
            (i, part["say"][part["why"][i]][0 if on else 1])
            for i, (on, right) in enumerate(zip(given, part["right"], strict=True))
            if on != bool(right) and i not in part["free"]
        ]
    return [
        (i, reason) for i, text in enumerate(value) if (reason := _wrong_number(part, i, text))
    ]


def _wrong_number(part: Part, i: int, text: Any) -> str | None:
    if not str(text).strip():
        return None if i in part["blank"] else "nothing is entered here"
    number = parse(str(text))
    if number is None:
        return "this is not a number; a fraction such as 9/7 is one"
    if same(number, part["right"][i]):
        return None
    return next((why for value, why in part["traps"][i] if same(number, value)), part["why"][i])


def parse(text: str) -> float | None:
    """Return the number that a reader wrote: 1.5, 1,5, 3/2, -1 or −1; None if it is none.

    >>> parse("3/2"), parse("1,5"), parse("x")
    (1.5, 1.5, None)
    """
    clean = text.strip().replace(",", ".").replace("−", "-").replace(" ", "")
    above, slash, below = clean.partition("/")
    if not _NUMBER.fullmatch(above) or (slash and not _NUMBER.fullmatch(below)):
        return None
    if not slash:
        return float(above)
    return float(above) / float(below) if float(below) else None


def same(a: float, b: float) -> bool:
    """True if two entered values are meant to be the same: three digits after the point.

    >>> same(1.286, 9 / 7)
    True
    """
    return math.isfinite(a) and abs(a - b) <= 5.0001e-4
