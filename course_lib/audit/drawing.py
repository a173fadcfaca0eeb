"""A report as HTML: a table of findings beside the rows at fault, with the faulty cells marked.

Plain HTML with text beside colour: a marked cell carries a sign that is read out, headers have a
scope, and no colour is needed to understand it.
"""

from __future__ import annotations

from html import escape

from course_lib.audit.report import Report, Strip, places_text, short

MARK = "⚠"
WIDTH = 24  # cells of a row that are drawn
WIDE = "max-width:36rem;overflow-x:auto"
SIDE_BY_SIDE = "display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start"


def report_html(report: Report) -> str:
    """Return the report as one HTML fragment, self-contained and without scripts."""
    beside = [_findings_table(report)] if report.findings else []
    beside += [_strip_table(strip) for strip in report.strips]
    parts = [f"<p><strong>{escape(report.summary())}</strong></p>"]
    if beside:
        inside = "".join(f'<div style="{WIDE}">{part}</div>' for part in beside)
        parts.append(f'<div style="{SIDE_BY_SIDE}">{inside}</div>')
    if report.not_checked:
        items = "".join(f"<li>{escape(str(n))}</li>" for n in report.not_checked)
        parts.append(f"<details><summary>not checked</summary><ul>{items}</ul></details>")
    return f"<div>{''.join(parts)}</div>"


def _findings_table(report: Report) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in ("finding", "where", "what"))
    body = []
    for f in report.findings:
        values = [(k, getattr(f, k)) for k in ("expected", "found")]
        lines = [f.sentence, *(f"{k}: {short(v, 60)}" for k, v in values if v is not None)]
        lines += [f"way out: {f.way_out}", f.chapter]
        what = "<br>".join(escape(line) for line in lines)
        left = 'style="text-align:left;vertical-align:top"'
        body.append(
            f'<tr><th scope="row" {left}>{f.severity}<br>{escape(f.code)}</th>'
            f"<td {left}>{escape(places_text(f.where, f.count, 6))}</td><td {left}>{what}</td></tr>"
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
