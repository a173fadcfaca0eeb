"""The tiles of a document mask: which are skipped, which are full, which are looked at by cell."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes
from torch import Tensor

from course_lib.attention import document_tiles
from course_lib.figures.canvas import SMALL, Canvas
from course_lib.figures.wording import plural, table
from course_lib.inputs import as_int
from course_lib.masks import document_mask

LEFT, TOP = 1.1, 0.75
KINDS = ("skipped", "partial", "full")


def attention_tiles(document_ids: Tensor, tile: int, *, ax: Axes | None = None) -> Axes:
    """Draw the document mask of one row [T] in tiles of `tile` × `tile` cells.

    A skipped tile is hatched and empty, a full one is one filled square, and a partial one shows
    its cells. T must be a multiple of `tile`; raises ValueError where it is not.

    >>> ax = attention_tiles(torch.tensor([0, 0, 1, 1]), 2)
    >>> sum(p.get_label() == "skipped" for p in ax.patches)
    2
    """
    ids, kinds = _kinds(document_ids, tile)
    mask, size = document_mask(ids), len(ids)
    sheet = Canvas(LEFT + size + 0.2, TOP + size + 0.2, ax)
    for at in range(size):
        sheet.text(LEFT + at + 0.5, TOP - 0.3, str(at), "muted", size=SMALL)
        sheet.text(LEFT - 0.3, TOP + at + 0.5, str(at), "muted", size=SMALL)
    for i, row in enumerate(kinds):
        for j, kind in enumerate(row):
            x, y = LEFT + j * tile, TOP + i * tile
            if kind == "partial":
                _cells(sheet, mask[i * tile :, j * tile :][:tile, :tile], x, y)
                sheet.outline(x, y, "edge", width=tile, height=tile, label="partial")
            else:
                fill, ink = ("on", "on_ink") if kind == "full" else ("ignored", None)
                sheet.cell(x, y, "full" if kind == "full" else "", fill, ink=ink, width=tile,
                           height=tile, hatched=kind == "skipped", label=kind)  # fmt: skip
    return sheet.ax


def attention_tiles_text(document_ids: Tensor, tile: int) -> str:
    """Say what `attention_tiles` draws: the kind of each tile, and how many there are of each.

    >>> print(attention_tiles_text(torch.tensor([0, 0, 1, 1]), 2))
    4 slots in tiles of 2 × 2: 2 skipped, 2 partial, 0 full
    queries  keys 0-1      2-3
        0-1   partial  skipped
        2-3   skipped  partial
    """
    ids, kinds = _kinds(document_ids, tile)
    spans = [f"{i * tile}-{(i + 1) * tile - 1}" for i in range(len(kinds))]
    flat = [kind for row in kinds for kind in row]
    counts = ", ".join(f"{flat.count(kind)} {kind}" for kind in KINDS)
    head = ("queries", f"keys {spans[0]}", *spans[1:])
    lines = [head, *((span, *row) for span, row in zip(spans, kinds, strict=True))]
    return f"{plural(len(ids), 'slot')} in tiles of {tile} × {tile}: {counts}\n{table(lines)}"


def _kinds(document_ids: Tensor, tile: int) -> tuple[Tensor, list[list[str]]]:
    """Return the ids [T] and the kind of each tile, row by row."""
    ids = torch.as_tensor(document_ids)
    size = as_int(tile, "tile", at_least=1)
    if ids.ndim != 1 or len(ids) % size:
        raise ValueError(
            f"document_ids has shape {tuple(ids.shape)}, but one row of a multiple of {size} slots "
            "is drawn: take one row of a batch, and a tile that divides it."
        )
    partial, full = document_tiles(ids[None], size)
    number = partial[0].int() + 2 * full[0].int()
    return ids, [[KINDS[n] for n in row] for row in number.tolist()]


def _cells(sheet: Canvas, cells: Tensor, x: float, y: float) -> None:
    for q, row in enumerate(cells.tolist()):
        for k, value in enumerate(row):
            fill, ink = ("weight", "ink") if value else ("off", "muted")
            sheet.cell(x + k, y + q, str(int(value)), fill, ink=ink, label="cell")
