"""Which prediction is scored on which label: the shift as arrows between two strips of cells."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from torch import Tensor

from course_lib.figures.canvas import SMALL, VALUE, Canvas, text_width
from course_lib.figures.wording import plural
from course_lib.inputs import as_int, as_rows
from course_lib.vocabulary import IGNORE_INDEX, VOCAB_SIZE, token_name

LABEL_WIDTH = 1.75
GAP = 1.5
MOST = 64


@dataclass(frozen=True)
class Pair:
    """One prediction: logits at column `logit` scored on the label at column `column`."""

    logit: int
    column: int
    label: int
    following: int

    @property
    def ignored(self) -> bool:
        """The label is -100: no loss."""
        return self.label == IGNORE_INDEX

    @property
    def wrong(self) -> bool:
        """It is scored on something else than the token that follows."""
        return not self.ignored and self.label != self.following


def pairs(input_ids: list[int], labels: list[int], shift: int = 1) -> list[Pair]:
    """Return the predictions that the loss looks at, in order.

    >>> [(p.logit, p.label) for p in pairs([1, 2, 3], [1, 2, -100])]
    [(0, 2), (1, -100)]
    """
    size = len(input_ids)
    following = [*input_ids[1:], IGNORE_INDEX]
    return [Pair(t, t + shift, labels[t + shift], following[t]) for t in range(size - shift)]


def shift_alignment(
    input_ids: Tensor, labels: Tensor, *, shift: int = 1, row: int = 0, ax: Axes | None = None
) -> Axes:
    """Draw the row's tokens, their predictions and the labels, with an arrow for each loss term.

    `input_ids` and `labels` are [T], or [B, T] of which `row` is drawn. Logits at column t are
    scored on the label at column t + `shift` (the loss's own shift: 1; 0 draws a missing shift).
    Labels that somebody shifted before show as arrows to a wrong token, marked "!". An arrow to
    -100 is dashed and crossed. Raises ValueError if the shapes differ.

    >>> import torch
    >>> ax = shift_alignment(torch.tensor([1, 2, 3]), torch.tensor([1, 2, -100]))
    >>> [p.get_label() for p in ax.patches if p.get_label().startswith("arrow")]
    ['arrow 0-1', 'arrow 1-2 ignored']
    """
    ids, marks = _checked(input_ids, labels, row)
    shift = as_int(shift, "shift")
    left = text_width("logits at", SMALL) + 0.35
    widths = [max(1.0, text_width(token_name(i), SMALL) + 0.1) for i in ids]
    lefts = [left + sum(widths[:t]) for t in range(len(ids) + 1)]
    sheet = Canvas(lefts[-1] + 0.3, 4.95 + GAP, ax)
    middles = [x + w / 2 for x, w in zip(lefts, widths, strict=False)]
    logits_end, labels_top = 2.7, 2.7 + GAP
    found = pairs(ids, marks, shift)
    _draw_strips(sheet, ids, marks, found, lefts, widths, labels_top)
    for pair in found:
        start, end = (middles[pair.logit], logits_end), (middles[pair.column], labels_top)
        _draw_arrow(sheet, pair, start, end)
    return sheet.ax


def shift_alignment_text(input_ids: Tensor, labels: Tensor, *, shift: int = 1, row: int = 0) -> str:
    """Say what `shift_alignment` draws, one line for each prediction.

    >>> import torch
    >>> print(shift_alignment_text(torch.tensor([1, 2, 3]), torch.tensor([1, 2, -100])))
    shift: 3 predictions, 1 loss term
    logits 0 (a) -> label 1 (b)
    logits 1 (b) -> label 2 (-100): no loss
    logits 2 (c) -> no label follows
    label 0 (a) is dropped: nothing predicts it
    """
    ids, marks = _checked(input_ids, labels, row)
    shift = as_int(shift, "shift")
    found = pairs(ids, marks, shift)
    lines = [
        f"shift: {plural(len(ids), 'prediction')}, "
        f"{plural(sum(not p.ignored for p in found), 'loss term')}"
    ]
    names = [token_name(i) for i in ids]
    for p in found:
        note = ": no loss" if p.ignored else f" ! {_complaint(p)}" if p.wrong else ""
        lines.append(f"logits {p.logit} ({names[p.logit]}) -> "
                     f"label {p.column} ({token_name(p.label)}){note}")  # fmt: skip
    for t in range(len(found), len(ids)):
        lines.append(f"logits {t} ({names[t]}) -> no label follows")
    for t in range(min(shift, len(ids))):
        lines.append(f"label {t} ({token_name(marks[t])}) is dropped: nothing predicts it")
    return "\n".join(lines)


def _complaint(pair: Pair) -> str:
    if pair.following == IGNORE_INDEX:
        return "no token follows"
    return f"next is {token_name(pair.following)}"


def _checked(input_ids: Tensor, labels: Tensor, row: int) -> tuple[list[int], list[int]]:
    """Return one row of ids and of labels, of the same length."""
    both = []
    for value, name in ((input_ids, "input_ids"), (labels, "labels")):
        rows = as_rows(value, name, ndim=(1, 2))
        if rows.ndim == 2:
            if not 0 <= row < len(rows):
                raise ValueError(f"row must be from 0 to {len(rows) - 1}, got {row}.")
            rows = rows[row]
        both.append(rows.tolist())
    ids, marks = both
    if len(ids) != len(marks):
        raise ValueError(
            f"labels has {len(marks)} slots and input_ids {len(ids)}: labels that were shifted "
            "before are one shorter. Fill them up with -100 to draw what the loss makes of them."
        )
    if len(ids) > MOST:
        raise ValueError(f"a row of {len(ids)} slots cannot be read; at most {MOST} are drawn.")
    return ids, marks


def _draw_strips(
    sheet: Canvas, ids: list[int], labels: list[int], found: list[Pair], lefts: list[float],
    widths: list[float], labels_top: float,
) -> None:  # fmt: skip
    scored = {p.logit for p in found}
    reached = {p.column for p in found}
    for name, y in (("slot", 0.35), ("reads", 1.2), ("logits at", 2.2), ("label", labels_top + 0.5),
                    ("label id", labels_top + 1.5)):  # fmt: skip
        sheet.text(lefts[0] - 0.15, y, name, "muted", size=SMALL, align="right")
    for t, (token, label) in enumerate(zip(ids, labels, strict=True)):
        x, width = lefts[t], widths[t]
        sheet.text(x + width / 2, 0.35, str(t), "muted", size=SMALL)
        sheet.cell(x, 0.7, token_name(token), "doc0", width=width, label=f"token {t}", size=SMALL)
        used = t in scored
        sheet.cell(x, 1.7, f"t={t}", "doc4" if used else "ignored", width=width,
                   label=f"logits {t}", hatched=not used, size=SMALL)  # fmt: skip
        kept = t in reached and label != IGNORE_INDEX
        for step, words in enumerate((_label_name(label), str(label))):
            sheet.cell(x, labels_top + step, words, "doc2" if kept else "ignored", width=width,
                       label=f"label {t}", hatched=not kept,
                       size=VALUE if len(words) < 4 else SMALL)  # fmt: skip
        if not used:
            sheet.cross(x + width / 2, 3.0)
        if t not in reached:
            sheet.cross(x + width / 2, labels_top - 0.3)


def _label_name(label: int) -> str:
    return token_name(label) if 0 <= label < VOCAB_SIZE else "–"


def _draw_arrow(
    sheet: Canvas, pair: Pair, start: tuple[float, float], end: tuple[float, float]
) -> None:
    kind = " ignored" if pair.ignored else " wrong" if pair.wrong else ""
    role = "muted" if pair.ignored else "bad" if pair.wrong else "ink"
    top, tip = (start[0], start[1] + 0.1), (end[0], end[1] - 0.08)
    sheet.arrow(top, tip, role, dashed=pair.ignored,
                label=f"arrow {pair.logit}-{pair.column}{kind}")  # fmt: skip
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    if pair.ignored:
        sheet.cross(*middle, size=0.13)
    elif pair.wrong:
        sheet.text(middle[0] + 0.22, middle[1] - 0.12, "!", "bad", bold=True)
