"""The rows of a batch, one tensor under the other, as blocks of cells [B, T]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from torch import Tensor

from course_lib.batch import Batch
from course_lib.figures.canvas import SMALL, VALUE, Canvas, text_width
from course_lib.figures.style import document_role
from course_lib.figures.wording import plural, table
from course_lib.inputs import choice
from course_lib.vocabulary import IGNORE_INDEX, VOCAB_SIZE, token_name

FIELDS = (
    "tokens", "input_ids", "attention_mask", "position_ids", "document_ids", "labels", "targets",
)  # fmt: skip
"""What can be shown: the tensors of a batch, the names of its tokens, and its shifted labels."""
MOST_ROWS, MOST_SLOTS = 12, 32


def batch_rows(
    batch: Batch | Mapping[str, Any],
    fields: Sequence[str] = ("tokens", "input_ids", "attention_mask", "labels"),
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the rows of a batch [B, T], one block of cells for each of `fields`.

    `fields`: any of `FIELDS`; "targets" are `labels[:, 1:]`, drawn under the labels they come from.
    Padding and -100 are hatched. Raises ValueError for a batch too large to read.

    >>> from course_lib import pad_documents
    >>> ax = batch_rows(pad_documents([[1, 2], [3]]), ["labels"])
    >>> [t.get_text() for t in ax.texts]
    ['labels [2, 2]', 'row 0', '1', '2', 'row 1', '3', '-100']
    """
    batch = _checked(batch, fields)
    rows, width = batch.input_ids.shape
    columns = [_column_width(batch, fields, t) for t in range(width)]
    left = text_width(f"row {rows - 1}", SMALL) + 0.35
    lefts = [left + sum(columns[:t]) for t in range(width + 1)]
    sheet = Canvas(max(lefts[-1] + 0.3, 5), len(fields) * (rows + 0.95) + 0.15, ax)
    for i, name in enumerate(fields):
        top = i * (rows + 0.95) + 0.8
        sheet.text(left, top - 0.32, _title(batch, name), "muted", size=SMALL, align="left")
        for row in range(rows):
            _draw_row(sheet, batch, name, row, top + row, lefts, columns)
    return sheet.ax


def batch_rows_text(
    batch: Batch | Mapping[str, Any],
    fields: Sequence[str] = ("tokens", "input_ids", "attention_mask", "labels"),
) -> str:
    """Say what `batch_rows` draws, one line for each row of each block.

    >>> from course_lib import pad_documents
    >>> print(batch_rows_text(pad_documents([[1, 2], [3]]), ["labels"]))
    batch: 2 rows × 2 slots, 1 target
    labels [2, 2]
      row 0  1     2
      row 1  3  -100
    """
    batch = _checked(batch, fields)
    rows, width = batch.input_ids.shape
    parts = [f"batch: {plural(rows, 'row')} × {plural(width, 'slot')}, "
             f"{plural(batch.num_targets, 'target')}"]  # fmt: skip
    for name in fields:
        lines = [[f"  row {row}", *_words(batch, name)[row]] for row in range(rows)]
        parts += [_title(batch, name), table(lines, left=[0])]
    return "\n".join(parts)


def _checked(batch: Any, fields: Sequence[str]) -> Batch:
    if isinstance(batch, Mapping):
        batch = Batch.from_dict(batch)
    if not isinstance(batch, Batch):
        raise TypeError(f"expected a Batch, got {type(batch).__name__}. See Batch.from_dict.")
    for name in [fields] if isinstance(fields, str) else fields:
        choice(name, "fields", FIELDS)
    rows, width = batch.input_ids.shape
    if rows > MOST_ROWS or width > MOST_SLOTS:
        raise ValueError(
            f"a batch of {rows} × {width} slots cannot be read; at most {MOST_ROWS} × {MOST_SLOTS} "
            "are drawn. Show a single row with packed_row."
        )
    return batch


def _tensor(batch: Batch, name: str) -> Tensor:
    if name == "targets":
        return batch.labels[:, 1:]
    return batch.input_ids if name == "tokens" else getattr(batch, name)


def _title(batch: Batch, name: str) -> str:
    title = "targets = labels[:, 1:]" if name == "targets" else name
    return f"{title} {list(_tensor(batch, name).shape)}"


def _words(batch: Batch, name: str) -> list[list[str]]:
    write = token_name if name == "tokens" else str
    return [[write(value) for value in row] for row in _tensor(batch, name).tolist()]


def _column_width(batch: Batch, fields: Sequence[str], slot: int) -> float:
    words = [
        row[slot] for name in fields if name != "targets" for row in _words(batch, name)
    ]  # fmt: skip
    return max(1.0, *(text_width(word, SMALL) + 0.1 for word in [*words, "-100"]))


def _draw_row(
    sheet: Canvas, batch: Batch, name: str, row: int, y: float, lefts: list[float],
    columns: list[float],
) -> None:  # fmt: skip
    sheet.text(lefts[0] - 0.15, y + 0.5, f"row {row}", "muted", size=SMALL, align="right")
    words, values = _words(batch, name)[row], _tensor(batch, name)[row].tolist()
    first = 1 if name == "targets" else 0  # a target stands under the label that it is
    for t, (word, value) in enumerate(zip(words, values, strict=True), start=first):
        document = int(batch.document_ids[row, t])
        ignored = value == IGNORE_INDEX or document < 0
        fill = "ignored" if ignored else document_role(document + row)
        if document > 0 and document != int(batch.document_ids[row, t - 1]):
            sheet.line((lefts[t],) * 2, (y + 0.03, y + 0.97), label="boundary")
        known = name != "tokens" or 0 <= value < VOCAB_SIZE
        sheet.cell(
            lefts[t], y, word if known else str(value), fill, width=columns[t], hatched=ignored,
            label=f"{name} {row},{t}", size=VALUE if len(word) < 4 else SMALL,
        )  # fmt: skip
