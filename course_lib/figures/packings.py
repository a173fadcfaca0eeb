"""A packing of lengths as rows of bars: which documents share a row, and what stays empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from course_lib.figures.canvas import SMALL, Canvas, text_width
from course_lib.figures.style import document_role
from course_lib.figures.wording import plural, table
from course_lib.inputs import as_int

if TYPE_CHECKING:
    from course_lib.packing import Packing

BAR = 8.4
"""Length of a full row, in cells."""


def packing_rows(packing: Packing, rows: int = 12, *, ax: Axes | None = None) -> Axes:
    """Draw the first `rows` rows of a `Packing`: a bar for each document, hatched where empty.

    A bar carries the number of its document, and its tokens in brackets where they fit.

    >>> from course_lib import pack_lengths
    >>> ax = packing_rows(pack_lengths([4, 3, 2], 6))
    >>> [t.get_text() for t in ax.texts]
    ['row 0', '0 (4)', '2 (2)', '6/6', 'row 1', '1 (3)', '3/6']
    """
    shown = min(as_int(rows, "rows", at_least=1), len(packing))
    left = text_width(f"row {shown - 1}", SMALL) + 0.35
    full = _fill_words(packing, packing.capacity)
    more = shown < len(packing)
    sheet = Canvas(left + BAR + text_width(full, SMALL) + 0.4, shown * 1.1 + 0.2 + 0.6 * more, ax)
    unit = BAR / packing.capacity
    for row in range(shown):
        y = 0.15 + row * 1.1
        sheet.text(left - 0.15, y + 0.45, f"row {row}", "muted", size=SMALL, align="right")
        for piece in _pieces(packing, row):
            _draw_piece(sheet, packing, piece, left, y, unit)
        fill = int(packing.fills[row])
        if fill < packing.capacity:
            sheet.cell(left + fill * unit, y, "", "ignored", hatched=True, height=0.9,
                       width=(packing.capacity - fill) * unit, label=f"empty {row}")  # fmt: skip
        sheet.text(left + BAR + 0.15, y + 0.45, _fill_words(packing, fill), size=SMALL,
                   align="left")  # fmt: skip
    if more:
        rest = plural(len(packing) - shown, "more row")
        sheet.text(left, shown * 1.1 + 0.4, f"… {rest}", "muted", size=SMALL, align="left")
    return sheet.ax


def packing_rows_text(packing: Packing, rows: int = 12) -> str:
    """Say what `packing_rows` draws, one line for each row: document (tokens), ….

    >>> from course_lib import pack_lengths
    >>> print(packing_rows_text(pack_lengths([4, 3, 2], 6)))
    best_fit_decreasing: 2 rows of 6, 75.00% used
    row 0  6/6  0 (4), 2 (2)
    row 1  3/6  1 (3)
    """
    shown = min(as_int(rows, "rows", at_least=1), len(packing))
    lines = []
    for row in range(shown):
        words = (_words(packing, piece) for piece in _pieces(packing, row))
        fill = f"{int(packing.fills[row])}/{packing.capacity}"
        lines.append((f"row {row}", fill, ", ".join(words)))
    head = (
        f"{packing.strategy}: {plural(len(packing), 'row')} of {packing.capacity:,}, "
        f"{packing.utilization:.2%} used"
    )
    rest = [f"… {plural(len(packing) - shown, 'more row')}"] if shown < len(packing) else []
    return "\n".join([head, table(lines, left=[0, 2]), *rest])


def _pieces(packing: Packing, row: int) -> range:
    return range(int(packing.offsets[row]), int(packing.offsets[row + 1]))


def _fill_words(packing: Packing, fill: int) -> str:
    """Return the tokens of a row in words, over the capacity where that is a short number."""
    return f"{fill}/{packing.capacity}" if packing.capacity < 100 else f"{fill:,}"


def _words(packing: Packing, piece: int) -> str:
    """Return "document (tokens)"; a cut document says which of its tokens."""
    start, stop = int(packing.starts[piece]), int(packing.stops[piece])
    document = int(packing.order[piece])
    if stop - start == int(packing.lengths[document]):
        return f"{document} ({stop - start})"
    return f"{document} ({start}:{stop})"


def _draw_piece(
    sheet: Canvas, packing: Packing, piece: int, left: float, y: float, unit: float
) -> None:
    document = int(packing.order[piece])
    width = int(packing.stops[piece] - packing.starts[piece]) * unit
    words = _words(packing, piece)
    if text_width(words, SMALL) > width:
        words = str(document) if text_width(str(document), SMALL) <= width else ""
    sheet.cell(left + int(packing.token_offsets[piece]) * unit, y, words, document_role(document),
               width=width, height=0.9, label=f"document {document}", size=SMALL)  # fmt: skip
