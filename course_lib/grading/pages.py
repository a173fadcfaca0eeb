"""The pages for people: feedback for one submission, and an overview of the class.

Plain HTML with its style inside: readable without JavaScript, without the network, in the dark and
on paper. Every word of a submission is escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from course_lib.exercises.misconceptions import MISCONCEPTIONS
from course_lib.exercises.verdicts import CORRECT
from course_lib.grading.gradebook import Row, counts, misconceptions
from course_lib.grading.labs import Lab
from course_lib.grading.plot import bars

STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --good: #56d364; --bad: #ff8f85; } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { padding: .3rem .8rem .3rem 0; text-align: left;
  border-bottom: 1px solid var(--line); vertical-align: top; }
pre { overflow-x: auto; border-left: 3px solid var(--line); padding: .5rem 1rem; }
.wide { overflow-x: auto; } .good { color: var(--good); } .bad { color: var(--bad); }
svg { max-width: 100%; height: auto; }
"""


def _page(title: str, body: Iterable[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    )


def feedback(lab: Lab, row: Row) -> str:
    """Return the page for one submission."""
    record = row.record
    body = [f"<p>Score: <strong>{record['score']} of {record['of']}</strong>.</p>"]
    if record["notes"]:
        items = "".join(f"<li>{escape(note)}</li>" for note in record["notes"])
        body.append(f"<h2>What happened when your notebook was run</h2>\n<ul>{items}</ul>")
    for exercise in lab.exercises:
        one = record["exercises"][exercise.id]
        good = one["status"] == CORRECT
        mark, kind = ("&#10003;", "good") if good else ("&#10007;", "bad")
        body.append(
            f'<h2><span class="{kind}" aria-hidden="true">{mark}</span> '
            f"{escape(exercise.id)} {escape(exercise.title)}: {escape(one['status'])}</h2>"
        )
        if one["note"]:
            body.append(f"<p>{escape(one['note'])}.</p>")
        if one["message"] and not good:
            told = one["message"].partition("\n")[2] or one["reason"]
            body.append(f'<pre tabindex="0">{escape(told)}</pre>')
    return _page(f"{lab.name}: {row.name}", body)


def overview(lab: Lab, table: Sequence[Row], protections: Sequence[str]) -> str:
    """Return the page for the class."""
    found = counts(lab, table)
    failed = [row for row in table if row.failed]
    mean = sum(row.record["score"] for row in table) / len(table)
    body = [
        f"<p>{len(table)} submissions, {mean:.1f} of {len(lab.answers)} points on average, "
        f"{len(failed)} that could not be graded in full.</p>",
        "<h2>Where people fail</h2>",
        bars(found),
        _counts_table(lab, found),
        "<h2>On which misconception</h2>",
        _misconception_table(lab, misconceptions(table)),
        "<h2>Submissions</h2>",
        _rows_table(lab, table),
        "<h2>What the sandbox kept away</h2>",
        _sandbox(protections),
    ]
    return _page(f"{lab.name}: overview", body)


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


def _counts_table(lab: Lab, found: dict[str, Counter[str]]) -> str:
    states = ("correct", "wrong", "not attempted", "not graded")
    lines = [
        [f"{escape(e.id)} {escape(e.title)}", *(str(found[e.id][state]) for state in states)]
        for e in lab.exercises
    ]
    return _table(["Exercise", *states], lines)


def _misconception_table(lab: Lab, found: Counter[tuple[str, str]]) -> str:
    if not found:
        return "<p>None was recognised.</p>"
    lines = [
        [escape(name), escape(exercise), str(count), escape(MISCONCEPTIONS[name].text)]
        for (exercise, name), count in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    ]
    return _table(["Misconception", "exercise", "submissions", "what it is"], lines)


def _rows_table(lab: Lab, table: Sequence[Row]) -> str:
    lines = [
        [
            f'<a href="{escape(row.page)}">{escape(row.name)}</a>',
            f"{row.record['score']} of {row.record['of']}",
            escape(row.record["status"]),
            escape("; ".join(row.record["notes"])),
        ]
        for row in table
    ]
    return _table(["Submission", "score", "status", "notes"], lines)


def _sandbox(protections: Sequence[str]) -> str:
    wanted = ("own user", "no network", "no other processes", "read-only file system",
              "limited disk", "grader hidden")  # fmt: skip
    lines = [[name, "yes" if name in protections else "<strong>no</strong>"] for name in wanted]
    note = "" if set(wanted) <= set(protections) else (
        "<p>This system does not allow all of it. See the chapter for instructors.</p>"
    )
    return _table(["Protection", "in effect"], lines) + note
