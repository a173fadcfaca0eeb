"""Codes and rules: what can be found, and the functions that find it.

A rule is a function with the decorator `rule`; its codes are entries of `codes.CODES`. A code
without an entry is refused at import; an entry without a rule fails a test. To add a rule, see
CONTRIBUTING.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from course_lib.audit.codes import CODES, NEEDS
from course_lib.audit.report import SEVERITIES, Finding, NotChecked, Place, Report

MAX_PLACES = 1000  # places kept in one finding; `count` has the whole number


class Subject(Protocol):
    """What a rule looks at; `has` says whether something it needs is there."""

    def has(self, need: str) -> bool: ...


@dataclass(frozen=True)
class Rule:
    """A function that looks at one kind of subject and yields findings of the named codes."""

    check: Callable[[Any], Iterator[Finding]]
    codes: tuple[str, ...]
    needs: tuple[str, ...]
    on: str


RULES: list[Rule] = []


def rule(*codes: str, on: str = "batch", needs: Iterable[str] = ()) -> Callable:
    """Register a function as the rule for `codes` of the auditor `on`.

    Where `needs` (names of `codes.NEEDS`) are not all there, the rule is not run and the report
    says so. Raises KeyError for a code or a need that has no entry.
    """
    for table, names, home in ((CODES, codes, "CODES"), (NEEDS, needs, "NEEDS")):
        for name in names:
            if name not in table:
                raise KeyError(f"{name!r} has no entry in course_lib.audit.codes.{home}: add one.")

    def register(check: Callable) -> Callable:
        RULES.append(Rule(check, codes, tuple(needs), on))
        return check

    return register


def finding(
    code: str,
    where: Iterable[Place] | str,
    sentence: str,
    *,
    expected: Any = None,
    found: Any = None,
    severity: str | None = None,
) -> Finding:
    """Return a Finding with everything that the registry knows about its code."""
    entry = CODES[code]
    places = (where,) if isinstance(where, str) else tuple(where)
    return Finding(
        code=code,
        severity=severity or entry.severity,
        where=places[:MAX_PLACES],
        sentence=sentence,
        title=entry.title,
        way_out=entry.way_out,
        chapter=entry.chapter,
        expected=expected,
        found=found,
        count=len(places),
    )


def run_rules(on: str, subject: Subject, report: Report) -> Report:
    """Run every rule of the auditor `on` and note those that could not run."""
    missing: dict[str, list[str]] = {}
    for entry in RULES:
        if entry.on != on:
            continue
        lacks = [need for need in entry.needs if not subject.has(need)]
        if lacks:
            needs = " and ".join(NEEDS[need] for need in lacks)
            missing.setdefault(needs, []).extend(entry.codes)
        else:
            report.add(entry.check(subject))
    causes = {code: i for i, code in enumerate(CODES)}  # the table names causes before effects
    report.findings.sort(key=lambda f: (SEVERITIES.index(f.severity), causes[f.code]))
    report.not_checked += [
        NotChecked(", ".join(dict.fromkeys(codes)), needs) for needs, codes in missing.items()
    ]
    return report


def explain(code: str) -> str:
    """Return what a code means: title, severity, explanation, way out, chapter.

    Raises ValueError for an unknown code and names the closest ones.

    >>> explain("pad_target").splitlines()[0]
    'pad_target (error): padding is trained on'
    """
    if code not in CODES:
        import difflib

        plain = code.lower().replace("-", "").replace("_", "")
        close = [known for known in CODES if plain and plain in known.replace("_", "")]
        close += [c for c in difflib.get_close_matches(code, CODES, n=3) if c not in close]
        close = close[:3] or sorted(CODES)[:3]
        raise ValueError(f"unknown code {code!r}. Did you mean {', '.join(close)}?")
    return str(CODES[code])
