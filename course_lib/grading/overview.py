"""The page for whoever teaches: where a class fails, on which misconception, who and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from course_lib.exercises.misconceptions import MISCONCEPTIONS
from course_lib.grading.gradebook import Row, counts, misconceptions, summary
from course_lib.grading.labs import Lab
from course_lib.grading.pages import page
from course_lib.grading.plot import bars, share
from course_lib.grading.sandbox import PROTECTIONS


def overview(lab: Lab, table: Sequence[Row], protections: Sequence[str]) -> str:
    """Return the page for the class."""
    found = counts(lab, table)
    mean = sum(row.record["score"] for row in table) / len(table)
    body = [
        f"<p>{escape(summary(table))}; {mean:.1f} of {len(lab.answers)} points on average. The "
        'same as tables: <a href="gradebook.csv">gradebook.csv</a>, '
        '<a href="gradebook.json">gradebook.json</a>.</p>',
        "<h2>Where people fail</h2>",
        bars(found),
        _counts_table(lab, found),
        "<h2>On which misconception</h2>",
        _misconception_table(misconceptions(table)),
        "<h2>Submissions</h2>",
        _rows_table(table),
        "<h2>What the sandbox kept away</h2>",
        _sandbox(protections),
    ]
    return page(f"{lab.name}: overview", body)


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table; the cells of `lines` are HTML."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    rows = "\n".join(
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{c}</td>" for c in rest) + "</tr>"
        for first, *rest in lines
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(head[0])}s">'
        f"<table><thead><tr>{top}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _text(words: str) -> str:
    """Return words in a cell that stays wide enough to read on a phone."""
    return f'<div class="text">{escape(words)}</div>' if words else ""


def _counts_table(lab: Lab, found: dict[str, Counter[str]]) -> str:
    states = ("correct", "wrong", "not attempted", "not graded")
    lines = [
        [_text(f"{e.id} {e.title}"), *(str(found[e.id][state]) for state in states)]
        for e in lab.exercises
    ]
    return _table(["Exercise", *states], lines)


def _misconception_table(found: Counter[tuple[str, str]]) -> str:
    if not found:
        return "<p>None was recognised.</p>"
    most = max(found.values())
    lines = [
        [escape(name), escape(exercise), _bar(count, most), _text(MISCONCEPTIONS[name].text)]
        for (exercise, name), count in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    ]
    return _table(["Misconception", "exercise", "submissions", "what it is"], lines)


def _bar(count: int, most: int) -> str:
    return f"{count} {share(count, most)}"


def _rows_table(table: Sequence[Row]) -> str:
    lines = [
        [
            f'<a href="{escape(row.page)}">{escape(row.name)}</a>',
            f"{row.record['score']} of {row.record['of']}",
            escape(row.record["status"]),
            _text("; ".join(row.record["notes"])),
        ]
        for row in table
    ]
    return _table(["Submission", "score", "status", "notes"], lines)


def _sandbox(protections: Sequence[str]) -> str:
    told = {name: "yes" if name in protections else "<strong>no</strong>" for name in PROTECTIONS}
    missing = "<p>This system does not allow all of it. See the chapter for instructors.</p>"
    whole = set(PROTECTIONS) <= set(protections)
    return _table(["Protection", "in effect"], told.items()) + ("" if whole else missing)
