"""A report as HTML: a table of findings beside the rows at fault, with the faulty cells marked.

Plain HTML with text beside colour: a marked cell carries a sign that is read out, headers have a
scope, and no colour is needed to understand it.
"""

from __future__ import annotations

from html import escape

from course_lib.audit.report import Report, Strip, places_text, short

MARK = "⚠"
WIDTH = 24  # cells of a row that are drawn


def report_html(report: Report) -> str:
    """Return the report as one HTML fragment, self-contained and without scripts."""
    parts = [f"<p><strong>{escape(report.summary())}</strong></p>"]
    if report.findings:
        parts.append(_findings_table(report))
    parts += [_strip_table(strip) for strip in report.strips]
    if report.not_checked:
        items = "".join(f"<li>{escape(str(n))}</li>" for n in report.not_checked)
        parts.append(f"<details><summary>not checked</summary><ul>{items}</ul></details>")
    style = "display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start"
    return f'<div style="{style}">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def _findings_table(report: Report) -> str:
    heads = ("severity", "code", "where", "what", "expected", "found", "way out", "chapter")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = []
    for f in report.findings:
        what = (f.sentence, "" if f.expected is None else short(f.expected, 60),
                "" if f.found is None else short(f.found, 60), f.way_out, f.chapter)
        cells = "".join(f'<td style="text-align:left">{escape(text)}</td>' for text in what)
        body.append(
            f"<tr><td>{f.severity}</td><th scope=\"row\">{escape(f.code)}</th>"
            f"<td>{escape(places_text(f.where, f.count, 6))}</td>{cells}</tr>"
        )
    return (
        f"<table><caption>Findings</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _strip_table(strip: Strip) -> str:
    count = max(map(len, strip.lines.values()))
    columns = range(strip.first, strip.first + count)
    head = "".join(f'<th scope="col">{c}</th>' for c in columns)
    body = []
    for name, values in strip.lines.items():
        marked = strip.marked.get(name, [])
        cells = "".join(_cell(v, strip.first + i in marked) for i, v in enumerate(values))
        body.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return (
        f"<table><caption>Row {strip.row}; {MARK} marks a cell at fault</caption>"
        f'<thead><tr><th scope="col">slot</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _cell(value: str, marked: bool) -> str:
    if not marked:
        return f"<td>{escape(value)}</td>"
    style = "outline:2px solid currentColor;font-weight:bold"
    return f'<td style="{style}">{escape(value)} <span title="at fault">{MARK}</span></td>'
