"""What an audit says: `Finding`, `NotChecked`, and the `Report` that holds them.

A report reads in a terminal (`str`, 80 columns), in a notebook (`_repr_html_`) and by a program
(`to_json`). It decides nothing: rules do, and the registry says how grave each code is.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

SEVERITIES = ("error", "warn", "info")
WORDS = {"error": ("error", "errors"), "warn": ("warning", "warnings"), "info": ("note", "notes")}

Place = tuple[int, ...] | int | str
"""(row, index) in the field at fault, a number of a document or a row, or the name of a field."""


class AuditError(ValueError):
    """Raised by `Report.raise_for_errors`; its text is the report."""


@dataclass(frozen=True)
class Finding:
    """One fault, with all its places.

    `expected` and `found` are plain values, as many as there are places where that makes sense.
    """

    code: str
    severity: str
    where: tuple[Place, ...]
    sentence: str
    title: str
    way_out: str
    chapter: str
    expected: Any = None
    found: Any = None
    count: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; places of several numbers become lists."""
        plain = asdict(self)
        plain["where"] = [list(p) if isinstance(p, tuple) else p for p in self.where]
        return plain

    def __str__(self) -> str:
        lines = _wrap(f"{self.severity:<5} {self.code}", places_text(self.where, self.count))
        lines += textwrap.wrap(self.sentence, 80, initial_indent="  ", subsequent_indent="  ")
        for name in ("expected", "found"):
            value = getattr(self, name)
            if value is not None:
                lines += _wrap(f"  {name:<9}", short(value))
        lines += _wrap("  way out  ", self.way_out)
        return "\n".join([*lines, f"  chapter   {self.chapter}"])


@dataclass(frozen=True)
class NotChecked:
    """Something that could not be known from what was given, and what would be needed."""

    what: str
    needs: str

    def __str__(self) -> str:
        return f"{self.what}: needs {self.needs}"


@dataclass(frozen=True)
class Strip:
    """One row of the batch as cells, for drawing: names of lines, their values, faulty columns."""

    row: int
    first: int
    lines: dict[str, list[str]]
    marked: dict[str, list[int]]


@dataclass
class Report:
    """Findings, gravest first, what was not checked, and the number of targets.

    >>> Report("1 row").ok
    True
    """

    subject: str
    findings: list[Finding] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    strips: list[Strip] = field(default_factory=list, repr=False)
    targets: int = 0

    @property
    def ok(self) -> bool:
        """True when no finding is an error; warnings and notes may still be there."""
        return not self.of("error")

    @property
    def codes(self) -> list[str]:
        """The code of each finding, gravest first, each once."""
        return list(dict.fromkeys(f.code for f in self.findings))

    def of(self, severity: str) -> list[Finding]:
        """Return the findings of one severity: "error", "warn" or "info"."""
        return [f for f in self.findings if f.severity == severity]

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings and keep the gravest first; equals keep their order."""
        self.findings.extend(findings)
        self.findings.sort(key=lambda f: SEVERITIES.index(f.severity))

    def raise_for_errors(self) -> Report:
        """Raise `AuditError` with the whole text if there is an error, else return the report."""
        if not self.ok:
            raise AuditError(str(self))
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "subject": self.subject,
            "ok": self.ok,
            "targets": self.targets,
            "findings": [f.to_dict() for f in self.findings],
            "not_checked": [asdict(n) for n in self.not_checked],
        }

    def to_json(self, indent: int | None = None) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, default=str)

    def summary(self) -> str:
        """Return one line: how many findings of each severity, in what.

        >>> Report("1 row").summary()
        '1 row: nothing found'
        """
        counts = [(s, len(self.of(s))) for s in SEVERITIES]
        said = [f"{n} {WORDS[s][n != 1]}" for s, n in counts if n]
        return f"{self.subject}: {', '.join(said) or 'nothing found'}"

    def __str__(self) -> str:
        parts = ["\n".join(textwrap.wrap(self.summary(), 80))]
        parts += [str(f) for f in self.findings]
        if self.not_checked:
            lines = ["not checked"]
            for n in self.not_checked:
                lines += textwrap.wrap(
                    str(n), 80, initial_indent="  - ", subsequent_indent="    "
                )
            parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"<Report {self.summary()}; codes {self.codes}>"

    def _repr_html_(self) -> str:
        from course_lib.audit.drawing import report_html

        return report_html(self)


def places_text(places: Iterable[Place], count: int | None = None, limit: int = 8) -> str:
    """Return places as text, at most `limit` of them.

    >>> places_text([(0, 3), (0, 4)])
    '(0, 3) (0, 4)'
    """
    places = list(places)
    said = " ".join(str(p) for p in places[:limit])
    more = max(len(places), count or 0) - min(len(places), limit)
    return f"{said} and {more} more" if more > 0 else said


def short(value: Any, width: int = 120) -> str:
    """Return a value as text of at most `width` characters."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= width else text[: width - 2] + " …"


def _wrap(head: str, text: str) -> list[str]:
    pad = " " * min(len(head) + 1, 12)
    return textwrap.wrap(f"{head} {text}", 80, subsequent_indent=pad, drop_whitespace=True)
