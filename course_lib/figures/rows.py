"""A row of a batch as strips of cells: tokens, ids, documents, positions, labels, what counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from course_lib.batch import Batch
from course_lib.figures.canvas import SMALL, VALUE, Canvas, mark_symbol, text_width
from course_lib.figures.row_data import FIELDS, REASONS, Row, read_row
from course_lib.figures.style import document_role
from course_lib.figures.wording import plural, table
from course_lib.vocabulary import IGNORE_INDEX, VOCAB_SIZE, token_name

Marks = Mapping[tuple, str] | None

_SHORT = dict(zip(REASONS, ("✓", "start", "bound.", "prompt", "pad"), strict=True))
_STRIP_OF = {"input_ids": "id", "document_ids": "document", "position_ids": "position"}


def packed_row(
    batch: Batch | Any, row: int = 0, *, marks: Marks = None, ax: Axes | None = None
) -> Axes:
    """Draw one row [T] of a batch as strips of cells, a thick line where a document begins.

    `batch` is a `Batch`, a `ShiftedBatch` (B′) or anybody's mapping. Hatched cells are padding or
    -100. `marks` {(row, slot): text} frames a slot, {(row, slot, "labels"): text} one cell of it.

    >>> from course_lib import pack_documents
    >>> ax = packed_row(pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4))
    >>> [t.get_text() for t in ax.texts][-5:]
    ['✓', '✓', '✓', '✓', 'pad']
    """
    view, found = read_row(batch, row), _marks_of(marks, row)
    strips = _strips(view)
    widths = [_column_width(view, t) for t in range(len(view.labels))]
    left = max(text_width(name, SMALL) for name, *_ in strips) + 0.35
    lefts = [left + sum(widths[:t]) for t in range(len(widths) + 1)]
    tops = _tops(strips)
    sheet = Canvas(lefts[-1] + 0.3, tops[-1] + 0.35, ax)
    for (name, words, fills), top in zip(strips, tops, strict=False):
        sheet.text(left - 0.15, top + 0.5, name, "muted", size=SMALL, align="right")
        for t, (word, fill) in enumerate(zip(words, fills, strict=True)):
            _strip_cell(sheet, (lefts[t], top, widths[t]), word, fill, f"{name} {t}")
    for t in view.starts[1:]:
        sheet.line((lefts[t],) * 2, (tops[1] - 0.12, tops[-1] + 0.12), label="boundary")
    _draw_marks(sheet, found, strips, lefts, tops, widths)
    return sheet.ax


def packed_row_text(batch: Batch | Any, row: int = 0, *, marks: Marks = None) -> str:
    """Say what `packed_row` draws, one line for each slot.

    >>> from course_lib import pad_documents
    >>> print(packed_row_text(pad_documents([[1, 2]], length=3)))
    row 0: 3 slots, 1 document, 1 target
    slot  token  id  doc  pos  label
       0  a       1    0    0      1  row start
       1  b       2    0    1      2  target
       2  <pad>   0   -1   -1   -100  padding
    """
    view, found = read_row(batch, row), _marks_of(marks, row)
    slots = range(len(view.labels))
    head = (
        f"row {row}: {plural(len(slots), 'slot')}, "
        f"{plural(sum(r >= 0 for r in set(view.document_ids)), 'document')}, "
        f"{plural(view.reasons.count('target'), 'target')}"
    )
    lines = [("slot", "token", "id", "doc", "pos", view.last, "")]
    for t in slots:
        flags = "".join(_flag_text(words) for (slot, _), words in found.items() if slot == t)
        numbers = (view.input_ids[t], view.document_ids[t], view.position_ids[t], view.labels[t])
        name = token_name(numbers[0]) if _has_name(numbers[0]) else ""
        lines.append((str(t), name, *map(str, numbers), view.reasons[t] + flags))
    return f"{head}\n{table(lines, left=[1, 6])}"


def _has_name(token_id: int) -> bool:
    return 0 <= token_id < VOCAB_SIZE


def _strips(view: Row) -> list[tuple[str, list[str], list[str]]]:
    """Return (name, words, fills) of each strip, from top to bottom."""
    tints = [document_role(d) for d in view.document_ids]
    marked = [t if label != IGNORE_INDEX else "ignored" for t, label in zip(tints, view.labels,
                                                                          strict=True)]  # fmt: skip
    counts = [t if r == "target" else "none" for t, r in zip(tints, view.reasons, strict=True)]
    slots = list(map(str, range(len(tints))))
    strips = [("slot", slots, ["none"] * len(slots))]
    if any(map(_has_name, view.input_ids)):
        strips.append(("token", [token_name(i) for i in view.input_ids], tints))
    return strips + [
        ("id", list(map(str, view.input_ids)), tints),
        ("document", list(map(str, view.document_ids)), tints),
        ("position", list(map(str, view.position_ids)), tints),
        (view.last, list(map(str, view.labels)), marked),
        ("counts?", [_SHORT[r] for r in view.reasons], counts),
    ]


def _column_width(view: Row, slot: int) -> float:
    """Return the width of a column: one cell, or what its longest word needs."""
    words = (token_name(view.input_ids[slot]), str(view.labels[slot]), _SHORT[view.reasons[slot]])
    return max(1.0, *(text_width(word, SMALL) + 0.1 for word in words))


def _tops(strips: list) -> list[float]:
    """Return where each strip begins, and where the last one ends."""
    tops, y = [], 0.1
    for name, *_ in strips:
        y += {"document": 0.22, "label": 0.22, "target": 0.22}.get(name, 0)
        tops.append(y)
        y += 0.7 if name == "slot" else 1
    return [*tops, y]


def _strip_cell(
    sheet: Canvas, box: tuple[float, float, float], word: str, fill: str, label: str
) -> None:
    x, y, width = box
    if label.startswith("slot"):
        sheet.text(x + width / 2, y + 0.4, word, "muted", size=SMALL)
    elif fill == "none":
        sheet.cell(x, y, word, "off", ink="muted", width=width, label=label, size=SMALL)
    else:
        size = SMALL if len(word) > 3 else VALUE
        sheet.cell(x, y, word, fill, width=width, label=label, size=size, hatched=fill == "ignored")


def _marks_of(marks: Marks, row: int) -> dict[tuple[int, str], str]:
    """Return the marks of this row as {(slot, field): text}; field "" is the whole slot."""
    found = {}
    for key, words in (marks or {}).items():
        if len(key) not in (2, 3) or (len(key) == 3 and key[2] not in FIELDS):
            raise ValueError(
                f"mark {key!r} must be (row, slot) or (row, slot, field), "
                f"field one of {', '.join(FIELDS)}."
            )
        if key[0] == row:
            found[int(key[1]), key[2] if len(key) == 3 else ""] = words
    return found


def _flag_text(words: str) -> str:
    symbol = mark_symbol(words)
    return f"  {symbol}" if symbol == words else f"  {symbol} {words}"


def _draw_marks(sheet: Canvas, found: dict, strips: list, lefts: list, tops: list,
                widths: list) -> None:  # fmt: skip
    names = [name for name, *_ in strips]
    for (slot, field), words in found.items():
        if not 0 <= slot < len(widths):
            raise ValueError(f"mark at slot {slot} lies outside the row of {len(widths)} slots.")
        symbol = mark_symbol(words)
        if field:
            strip = names.index(names[-2] if field == "labels" else _STRIP_OF[field])
            sheet.flag(lefts[slot], tops[strip], symbol, width=widths[slot])
        else:
            height = tops[-1] - tops[1]
            sheet.flag(lefts[slot], tops[1], symbol, width=widths[slot], height=height)
