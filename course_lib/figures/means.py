"""The same token losses under three denominators: targets, sequences, slots."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes
from torch import Tensor

from course_lib.figures.canvas import SMALL, Canvas, text_width
from course_lib.figures.style import document_role
from course_lib.figures.wording import number, plural, table
from course_lib.loss import LossSum, reduce_losses

BAR = 5.6
"""Length of the longest bar, in cells."""
MOST_ROWS, MOST_COLUMNS, MOST_MEANS = 8, 16, 4


def denominators(
    losses: Tensor, target_mask: Tensor, document_ids: Tensor | None = None, *,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw the same token losses [B, T-1] under three denominators: token, sequence, slot.

    `target_mask` [B, T-1] says which count, `document_ids` [B, T] which document a slot belongs to
    (without it a sequence is a row). Small tensors are drawn as cells above the bars.

    >>> ax = denominators(torch.tensor([[1.0, 3.0]]), torch.tensor([[True, True]]))
    >>> [t.get_text() for t in ax.texts][-1]
    '4 / 2 = 2.000'
    """
    means = _means(losses, target_mask, document_ids)
    left = text_width("sequence mean", SMALL) + 0.35
    cells = losses.shape[0] <= MOST_ROWS and losses.shape[1] <= MOST_COLUMNS
    head = (losses.shape[0] + 0.4) if cells else 0.0
    width = max(left + BAR + 0.6, left + losses.shape[1] * cells + 0.3)
    sheet = Canvas(width, head + len(means) * 1.75 + 0.2, ax)
    if cells:
        _draw_losses(sheet, left, losses, target_mask, document_ids)
    unit = BAR / max(value for _, value, _ in means)
    for i, (name, value, sum_of) in enumerate(means):
        y = head + 0.2 + i * 1.75
        sheet.text(left - 0.15, y + 0.4, name, size=SMALL, align="right")
        sheet.bar(left, y, value * unit, "doc0", 1, name, hatched=name.startswith("slot"))
        sheet.text(left, y + 1.12, f"{sum_of} = {number(value)}", size=SMALL, align="left")
    return sheet.ax


def denominators_text(
    losses: Tensor, target_mask: Tensor, document_ids: Tensor | None = None
) -> str:
    """Say what `denominators` draws, one line for each mean.

    >>> print(denominators_text(torch.tensor([[1.0, 3.0]]), torch.tensor([[True, True]])))
    2 targets with a loss of 4 in sum
    token mean     4 / 2    2.000
    sequence mean  (2) / 1  2.000
    slot mean      4 / 2    2.000
    """
    pair = LossSum.of(losses, target_mask)
    lines = [
        (name, words, number(v)) for name, v, words in _means(losses, target_mask, document_ids)
    ]
    head = f"{plural(pair.count, 'target')} with a loss of {_short(pair.total)} in sum"
    return f"{head}\n{table(lines, left=[0, 1])}"


def _means(
    losses: Tensor, target_mask: Tensor, document_ids: Tensor | None
) -> list[tuple[str, float, str]]:
    """Return (name, mean, how it came about) for each denominator."""
    pair = LossSum.of(losses, target_mask)
    values = {
        by: float(reduce_losses(losses.detach(), target_mask, by, document_ids))
        for by in ("token", "sequence", "slot")
    }
    slots = losses.numel() if document_ids is None else document_ids.numel()
    each = _sequence_means(losses.detach(), target_mask, document_ids)
    words = f"({' + '.join(map(_short, each))}) / {len(each)}"
    if len(each) > MOST_MEANS:
        words = f"mean of {len(each)} means"
    return [
        ("token mean", values["token"], f"{_short(pair.total)} / {pair.count}"),
        ("sequence mean", values["sequence"], words),
        ("slot mean", values["slot"], f"{_short(pair.total)} / {slots}"),
    ]


def _sequence_means(
    losses: Tensor, target_mask: Tensor, document_ids: Tensor | None
) -> list[float]:
    owners = _owners(losses, document_ids)
    found = torch.unique(owners[target_mask]).tolist()
    return [float(losses[target_mask & (owners == one)].double().mean()) for one in found]


def _owners(losses: Tensor, document_ids: Tensor | None) -> Tensor:
    """Return the number of the sequence of each target [B, T-1], counted within the batch."""
    rows = torch.arange(len(losses))[:, None].expand(losses.shape)
    if document_ids is None:
        return rows
    owner = document_ids[:, -losses.shape[1] :]
    return rows * (int(document_ids.max()) + 1) + owner


def _draw_losses(
    sheet: Canvas, left: float, losses: Tensor, target_mask: Tensor, document_ids: Tensor | None
) -> None:
    owners = _owners(losses, document_ids).tolist()
    for row, values in enumerate(losses.tolist()):
        sheet.text(left - 0.15, row + 0.6, f"losses, row {row}", "muted", size=SMALL, align="right")
        for t, value in enumerate(values):
            counts = bool(target_mask[row, t])
            fill = document_role(owners[row][t]) if counts else "ignored"
            sheet.cell(left + t, row + 0.1, _cell_words(value), fill, hatched=not counts,
                       label=f"loss {row},{t}", size=SMALL)  # fmt: skip


def _short(value: float | Tensor) -> str:
    """Return a sum in words: whole if it is whole."""
    value = float(value)
    return str(round(value)) if abs(value - round(value)) < 1e-6 else number(value)


def _cell_words(value: float) -> str:
    return str(round(value)) if value == round(value) else f"{value:.2f}"
