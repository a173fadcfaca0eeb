"""The table and its cards, as HTML that needs no script and as the text that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from course_lib.systems.record import COLUMNS, CONVENTIONS, System, load

BRIEF = ("shift", "marks", "boundary", "positions", "denominator")
"""The columns of the overview; a card has them all."""

STYLE = """<style>
.sys-box { --line: color-mix(in srgb, currentColor 22%, transparent); }
.sys-box fieldset { border: 0; padding: 0; margin: 0 0 .6rem; display: flex; flex-wrap: wrap;
  gap: .3rem 1rem; align-items: center; }
.sys-box legend { float: left; font-size: .9rem; padding: 0 .8rem 0 0; margin: 0; width: auto; }
.sys-box label { display: inline-flex; gap: .35rem; align-items: center; min-height: 28px; }
.sys-scroll { overflow-x: auto; max-width: 100%; border: 1px solid var(--line);
  border-radius: 6px; }
.sys-scroll table { border-collapse: separate; border-spacing: 0; margin: 0; font-size: .82rem;
  width: max-content; min-width: 100%; }
.sys-scroll th, .sys-scroll td { text-align: left; vertical-align: top; padding: .4rem .6rem;
  border-bottom: 1px solid var(--line); max-width: 15rem; white-space: normal; }
.sys-scroll th:first-child { position: sticky; left: 0; min-width: 8rem; max-width: 9.5rem;
  background: var(--pst-color-background, Canvas); z-index: 1;
  border-right: 1px solid var(--line); }
.sys-scroll td, .sys-scroll thead th:not(:first-child) { max-width: 7rem; min-width: 4rem; }
.sys-scroll small { display: block; font-weight: normal; font-size: .95em; opacity: .9;
  overflow-wrap: anywhere; }
.sys-card { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0;
  padding: 0 .8rem; }
.sys-card summary { cursor: pointer; padding: .5rem 0; }
.sys-card dl { margin: 0 0 .6rem; }
.sys-card dt { font-weight: bold; margin-top: .5rem; }
.sys-card dd { margin: 0; overflow-wrap: anywhere; }
.sys-card .sys-seen { display: block; font-family: monospace; font-size: .85em;
  white-space: pre-wrap; }
</style>"""


@dataclass(frozen=True)
class Overview:
    """The table: one line for each system, and a choice between A, B and B′."""

    systems: tuple[System, ...]

    def __repr__(self) -> str:
        wide = max((len(s.key) for s in self.systems), default=0)
        lines = []
        for s in self.systems:
            cells = " | ".join(s.cells[c].short for c in BRIEF)
            lines.append(f"{s.key:<{wide}}  {s.how:<4}  {cells}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        picks, rules = [], []
        for n, letter in enumerate(("all", *CONVENTIONS)):
            given = " checked" if letter == "all" else ""
            picks.append(
                f'<label><input type="radio" name="sys-pick" id="sys-pick-{n}"{given}> '
                f"{'all' if letter == 'all' else letter}</label>"
            )
            if letter != "all":
                rules.append(
                    f".sys-box:has(#sys-pick-{n}:checked) tbody tr:not(.sys-{n}) "
                    "{ display: none; }\n"
                )
        heads = "".join(f'<th scope="col">{escape(COLUMNS[c])}</th>' for c in BRIEF)
        body = "".join(self._row(s) for s in self.systems)
        return (
            STYLE.replace("</style>", "".join(rules) + "</style>")
            + '<div class="sys-box"><fieldset><legend>Show boundary</legend>'
            + "".join(picks)
            + '</fieldset><div class="sys-scroll" role="group" tabindex="0" '
            'aria-label="Table of systems"><table><thead><tr><th scope="col">System</th>'
            f"{heads}</tr></thead><tbody>{body}</tbody></table></div></div>"
        )

    @staticmethod
    def _row(s: System) -> str:
        kinds = " ".join(f"sys-{1 + CONVENTIONS.index(c)}" for c in s.conventions)
        cells = "".join(f"<td>{escape(s.cells[c].short)}</td>" for c in BRIEF)
        about = escape(" · ".join(filter(None, (s.what, f"{s.how} {s.release}"))))
        return (
            f'<tr class="{kinds}"><th scope="row">{escape(s.name)}<small>{about}</small></th>'
            f"{cells}</tr>"
        )


@dataclass(frozen=True)
class Cards:
    """Every cell of some systems, with what was seen; each card opens by itself."""

    systems: tuple[System, ...]
    opened: bool = False

    def __repr__(self) -> str:
        return "\n\n".join(map(self._text, self.systems))

    @staticmethod
    def _text(s: System) -> str:
        lines = [f"{s.key} ({s.version}, {s.how})"]
        for column, cell in s.cells.items():
            lines.append(f"  {column:<12}{cell.text}")
            lines += [f"  {'':<12}seen: {line}" for line in cell.seen.splitlines()]
        return "\n".join([*lines, f"  {s.source}"])

    def _repr_html_(self) -> str:
        body = "".join(self._card(s) for s in self.systems)
        return f'{STYLE}<div class="sys-box">{body}</div>'

    def _card(self, s: System) -> str:
        opened = " open" if self.opened else ""
        letters = ", ".join(s.conventions) or s.cells["boundary"].short
        parts = []
        for column, cell in s.cells.items():
            seen = f'<code class="sys-seen">{escape(cell.seen)}</code>' if cell.seen else ""
            parts.append(f"<dt>{escape(COLUMNS[column])}</dt><dd>{escape(cell.text)}{seen}</dd>")
        how = "run" if s.how == "run" else "read at"
        link = f'<a href="{escape(s.source)}">{escape(how)} {escape(s.version)}</a>'
        return (
            f'<details class="sys-card"{opened}><summary>{escape(s.key)} ({letters})</summary>'
            f"<dl>{''.join(parts)}</dl><p>{link}</p></details>"
        )


def overview(systems: Sequence[System] | None = None) -> Overview:
    """Return the table of all systems, or of some.

    >>> len(overview().systems) == len(load())
    True
    """
    return Overview(tuple(load() if systems is None else systems))


def cards(systems: Sequence[System] | None = None, opened: bool = False) -> Cards:
    """Return a card for each system, with all its cells.

    >>> len(cards(load("run")).systems) == len(load("run"))
    True
    """
    return Cards(tuple(load() if systems is None else systems), opened)
