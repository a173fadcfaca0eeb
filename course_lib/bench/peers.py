"""Comparisons with other libraries, as `make bench` wrote them down, and which goals they meet.

Only the record lives here: nothing is timed, and no other library is imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from course_lib.bench.record import Report
from course_lib.inputs import choice

STORED = ("cpu", "cuda", "peers")


@dataclass(frozen=True)
class Comparison:
    """One thing measured on both sides in one run.

    - what, theirs_is   what is done, and what ours is compared with
    - ours, theirs      medians, in `unit`
    - ratio             theirs / ours ("faster": how many times faster ours is), or ours / theirs
                        ("share"); the median over interleaved pairs
    - sense             "faster" (the goal is a least) or "share" (the goal is a most)
    - goal              None where no goal was set
    """

    what: str
    theirs_is: str
    ours: float
    theirs: float
    ratio: float
    goal: float | None = None
    sense: str = "faster"
    unit: str = "ms"

    def __post_init__(self) -> None:
        choice(self.sense, "sense", ("faster", "share"))

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None where there is none.

        >>> Comparison("copying", "numpy", 3.0, 2.0, 1.5, goal=2.0, sense="share").met
        True
        """
        if self.goal is None:
            return None
        return self.ratio >= self.goal if self.sense == "faster" else self.ratio <= self.goal

    @property
    def sentence(self) -> str:
        """The ratio in words.

        >>> Comparison("copying", "numpy", 3.0, 2.0, 1.5, sense="share").sentence
        '1.5 times the time of numpy'
        """
        if self.sense == "faster":
            return f"{self.ratio:.3g} times as fast as {self.theirs_is}"
        of = "the time of " if self.unit in ("ms", "s") else ""
        return f"{self.ratio:.3g} times {of}{self.theirs_is}"

    @property
    def verdict(self) -> str:
        """The goal and whether it is met, in words.

        >>> Comparison("packing", "TRL", 1.0, 50.0, 50.0, goal=40).verdict
        'goal ≥ 40: met'
        """
        if self.goal is None:
            return ""
        sign = "≥" if self.sense == "faster" else "≤"
        return f"goal {sign} {self.goal:g}: {'met' if self.met else 'missed'}"


@dataclass(frozen=True)
class Comparisons:
    """All comparisons of one run, with the machine and the versions; prints as a table."""

    machine: str
    clock: str
    date: str
    versions: dict[str, str]
    lines: tuple[Comparison, ...]
    not_measured: dict[str, str]

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def missed(self) -> list[Comparison]:
        """The lines whose goal is not reached."""
        return [line for line in self.lines if line.met is False]

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Comparisons:
        """Return the comparisons whose `to_json` gave `data`.

        >>> made = Comparisons("m", "c", "d", {}, (Comparison("a", "b", 1.0, 2.0, 2.0),), {})
        >>> Comparisons.from_dict(json.loads(made.to_json())) == made
        True
        """
        return cls(**data | {"lines": tuple(Comparison(**line) for line in data["lines"])})

    def __str__(self) -> str:
        width = max((len(line.what) for line in self.lines), default=0)
        other = max((len(line.theirs_is) for line in self.lines), default=0)
        body = [
            f"{line.what:<{width}}  {line.theirs_is:<{other}}  {line.ours:>10,.3f}"
            f" {line.theirs:>12,.3f} {line.unit:<4} {line.ratio:>8.2f}  {line.verdict}".rstrip()
            for line in self.lines
        ]
        head = f"{'what':<{width}}  {'beside':<{other}}  {'ours':>10} {'theirs':>12} {'':<4}"
        versions = ", ".join(f"{name} {v}" for name, v in self.versions.items())
        rest = [f"not measured: {what}: {why}" for what, why in self.not_measured.items()]
        return "\n".join(
            [f"{self.machine}; {self.clock}; {self.date}", versions, "", f"{head} {'ratio':>8}",
             *body, *rest]
        )  # fmt: skip


def stored(name: str) -> Report | Comparisons | None:
    """Return the results that the book shows, or None where nobody has measured them yet.

    `name`: "cpu" or "cuda" for a `Report`, "peers" for `Comparisons`.

    >>> stored("cpu").device
    'cpu'
    """
    choice(name, "name", STORED)
    file = resources.files("course_lib.bench") / "results" / f"{name}.json"
    if not file.is_file():
        return None
    data = json.loads(file.read_text("utf8"))
    return (Comparisons if name == "peers" else Report).from_dict(data)
