"""The pages for people: how each looks, and the feedback for one submission.

Plain HTML with its style inside: readable without JavaScript, without the network, in the dark and
on paper. Every word of a submission is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from course_lib.exercises import show
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.verdicts import CORRECT, NOT_ATTEMPTED
from course_lib.grading.gradebook import Row
from course_lib.grading.labs import Lab
from course_lib.grading.records import CUT_SHORT, GRADED, OTHER_LAB, UNREADABLE

STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --good: #56d364; --bad: #ff8f85; } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { padding: .3rem .8rem .3rem 0; text-align: left;
  border-bottom: 1px solid var(--line); vertical-align: top; }
pre { overflow-x: auto; border-left: 3px solid var(--line); padding: .5rem 1rem;
  font-size: .85rem; }
.wide { overflow-x: auto; } .good { color: var(--good); } .bad { color: var(--bad); }
.text { min-width: 14rem; overflow-wrap: anywhere; } svg { width: 100%; max-width: 36rem; }
"""


_MARKS = {CORRECT: ("&#10003;", "good"), NOT_ATTEMPTED: ("&#8211;", "")}
"""Mark and class of a state; any other state is a wrong answer's."""

_TRIED = ("Passed: ", "Failed: ")
_ADVICE = ("Why: ", "Looks like this: ", "Reread ")
"""How the lines begin that are prose, at the start of a message and at its end."""

_RUN = "What happened when your notebook was run"
_TOLD = {
    GRADED: _RUN,
    CUT_SHORT: _RUN,
    UNREADABLE: "Why your file could not be graded",
    OTHER_LAB: "This looks like another notebook",
}
_HAND_IN = (
    "Hand in your notebook of {lab}, a file that ends in <code>.ipynb</code>. In Colab: "
    "<em>File</em>, <em>Download</em>, <em>Download .ipynb</em>."
)


def page(title: str, body: Iterable[str]) -> str:
    """Return a whole page with these parts, which are HTML."""
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
        body.append(f"<h2>{_TOLD[record['status']]}</h2>\n<ul>{items}</ul>")
    if record["status"] in (UNREADABLE, OTHER_LAB):
        body.append(f"<p>{_HAND_IN.format(lab=escape(lab.name))}</p>")
    if record["status"] != UNREADABLE:
        for exercise in lab.exercises:
            body += _exercise(exercise, record["exercises"][exercise.id], record["notes"])
    return page(f"{lab.name}: {row.name}", body)


def _exercise(exercise: Exercise, one: dict[str, Any], known: Sequence[str]) -> list[str]:
    """Return the part of a page that tells of one exercise, without what is `known` already."""
    mark, kind = _MARKS.get(one["status"], ("&#10007;", "bad"))
    body = [
        f'<h2><span class="{kind}" aria-hidden="true">{mark}</span> '
        f"{escape(exercise.id)} {escape(exercise.title)}: {escape(one['status'])}</h2>"
    ]
    if one["note"] and one["note"] not in known:
        body.append(f"<p>{escape(show.sentence(one['note']))}</p>")
    if one["status"] not in _MARKS:
        told = one["message"].partition("\n")[2] or one["reason"]
        body += _told(told.splitlines(), exercise.takes or ())
    return body


def _told(lines: Sequence[str], inputs: Sequence[str]) -> list[str]:
    """Return a message as paragraphs, with what must keep its columns between them."""
    assigned = tuple(f"  {name} = " for name in inputs)
    start = 0
    while start < len(lines) and (
        lines[start].startswith(_TRIED)
        or (start and not lines[start].startswith(assigned) and _goes_on(*lines[start - 1 :][:2]))
    ):
        start += 1
    end = next((i for i in range(start, len(lines)) if lines[i].startswith(_ADVICE)), len(lines))
    drawn = "\n".join(lines[start:end])
    return [
        *(f"<p>{escape(text)}</p>" for text in _paragraphs(lines[:start], _TRIED)),
        *([f'<pre tabindex="0">{escape(drawn)}</pre>'] if drawn else []),
        *(f"<p>{escape(text)}</p>" for text in _paragraphs(lines[end:], _ADVICE)),
    ]


def _goes_on(line: str, after: str) -> bool:
    """Whether a sentence that was broken into lines goes on: its next word had no room."""
    first = after.split()[:1]
    return after.startswith("  ") and len(line) + 1 + len("".join(first)) > show.WIDTH


def _paragraphs(lines: Sequence[str], starts: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for line in lines:
        if line.startswith(starts) or not found:
            found.append(line)
        else:
            found[-1] += f" {line.strip()}"
    return found
