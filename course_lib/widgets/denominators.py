"""One set of losses under five means: what moves when rows, padding or micro-batches change?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor

from course_lib.boundaries import PADDING, document_ids_from_lengths
from course_lib.loss import LossSum, reduce_losses
from course_lib.targets import mask_boundaries
from course_lib.vocabulary import IGNORE_INDEX
from course_lib.widgets.base import CourseWidget
from course_lib.widgets.parts import toggles
from course_lib.widgets.row import table

MEANS = (
    ("token mean", "one sum over one count"),
    ("document mean", "the sequence mean: each document's own mean first"),
    ("row mean", "the same, with rows in the place of documents"),
    ("slot mean", "one sum over all predictions, scored or not"),
    ("mean of micro-batch means", "each micro-batch divides before they are averaged"),
)
ACTIONS = ("move a document", "pad the rows", "split in micro-batches")
PADS = (0, 1, 2)


class Denominators(CourseWidget):
    """The same losses under five means; move, pad, split, and predict which of them can move.

    `losses[d]` are the losses of the targets of document d, in nats; a document has one token more
    than targets, because its first is none (convention B, so that packing changes no target).
    At most three documents. Raises ValueError for none, for more, and for one without losses.

    >>> Denominators([[1, 3], [1, 1, 1, 1, 1]]).data["start"]["values"][0]
    ['9 / 7', '1.286']
    """

    module = "denominators"

    def __init__(self, losses: Sequence[Sequence[float]] = ((1, 3), (1, 1, 1, 1, 1))) -> None:
        documents = [list(map(float, d)) for d in losses]
        if not 2 <= len(documents) <= 3 or not all(documents):
            raise ValueError(
                f"losses must hold two or three documents with at least one loss each, "
                f"got {[len(d) for d in documents]}."
            )
        count = len(documents)
        states = {
            _key(rows, pad, split): means(documents, rows, pad, split)
            for rows in product(range(count), repeat=count)
            for pad, split in product(PADS, (0, 1))
        }
        values = sorted({v for found in states.values() for v in found})
        start = tuple(range(count))
        data = {
            "title": "Which mean moves?",
            "question": "The losses stay as they are; only where they stand changes. Move, pad and "
            "split, and watch the five means. Then mark each mean that an action can move.",
            "losses": documents, "pads": list(PADS), "means": MEANS,
            "values": values,
            "states": {k: [values.index(v) for v in found] for k, found in states.items()},
            "start": {"rows": start, "values": states[_key(start, 0, 0)]},
            "parts": [_prediction(states, count)],
        }  # fmt: skip
        super().__init__(data, _on_paper(documents, states[_key(start, 0, 0)]))


Value = tuple[str, str]


def means(
    documents: Sequence[Sequence[float]], rows: Sequence[int], pad: int, split: int
) -> tuple[Value, ...]:
    """Return (how, value) of each of `MEANS` when document d lies in row `rows[d]`.

    `pad` slots of padding are added to the longest row, `split` is 1 for a micro-batch of each row.

    >>> means([[1, 3], [1, 1, 1, 1, 1]], [0, 0], 0, 0)[3]
    ('9 / 8', '1.125')
    """
    losses, mask, ids = layout(documents, rows, pad)
    pair = LossSum.of(losses, mask)
    each = [LossSum(sum(document), len(document)) for document in documents]
    by_row = [LossSum.of(losses[r : r + 1], mask[r : r + 1]) for r in range(len(losses))]
    micro = by_row if split else [pair]
    found = [
        (f"{_n(pair.total)} / {pair.count}", reduce_losses(losses, mask)),
        (_average(each), reduce_losses(losses, mask, "sequence", ids)),
        (_average(by_row), reduce_losses(losses, mask, "sequence")),
        (f"{_n(pair.total)} / {mask.numel()}", reduce_losses(losses, mask, "slot")),
        (_average(micro), sum(float(p.mean) for p in micro) / len(micro)),
    ]
    return tuple((how, f"{float(value):.3f}") for how, value in found)


def layout(
    documents: Sequence[Sequence[float]], rows: Sequence[int], pad: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return losses and target mask [B, T-1] and document ids [B, T]; rows without documents go.

    >>> layout([[1, 3], [2]], [0, 0], 1)[2].tolist()
    [[0, 0, 0, 1, 1, -1]]
    """
    used = [[d for d, r in enumerate(rows) if r == row] for row in sorted(set(rows))]
    width = pad + max(sum(len(documents[d]) + 1 for d in row) for row in used)
    ids = torch.full((len(used), width), PADDING)
    losses = torch.zeros(len(used), width, dtype=torch.float64)
    for b, row in enumerate(used):
        lengths = [len(documents[d]) + 1 for d in row]
        ids[b] = document_ids_from_lengths(lengths, width)
        flat = [v for d in row for v in (0.0, *documents[d])]
        losses[b, : len(flat)] = torch.tensor(flat, dtype=torch.float64)
    labels = mask_boundaries(torch.ones_like(ids).masked_fill(ids < 0, IGNORE_INDEX), ids)
    return losses[:, 1:], labels[:, 1:] != IGNORE_INDEX, ids


def _prediction(states: dict[str, tuple[Value, ...]], count: int) -> dict[str, Any]:
    right = [_moves(states, count, m, a) for m in range(len(MEANS)) for a in range(len(ACTIONS))]
    why = [f"{m}-{a}" for m in range(len(MEANS)) for a in range(len(ACTIONS))]
    say = {
        f"{m}-{a}": (f"no arrangement moves it: {_STAYS[m]}", f"it can move: {_STIRS[m]}")
        for m in range(len(MEANS)) for a in range(len(ACTIONS))
    }  # fmt: skip
    names = [f"{mean} moves when you {action}" for mean, _ in MEANS for action in ACTIONS]
    short = [f"{mean}, {action}" for mean, _ in MEANS for action in ACTIONS]
    return toggles(
        "moves", right, why, say, cols=len(ACTIONS), names=names, short=short,
        title="Your prediction", actions=ACTIONS,
        ask="Mark each mean that the action can move under some setting of the other controls: one "
        "micro-batch or one for each row, with padding or without.",
        hints=[
            "Try it: set one control, look at which values changed, set it back.",
            "Splitting matters when there is more than one row; keep the documents apart for it.",
            "A mean without any mark belongs to the losses themselves. Find those first.",
        ],
        done="The token mean and the document mean belong to the losses. The others belong to the "
        "arrangement, and each of them is somebody's reported loss.",
    )  # fmt: skip


_STAYS = (
    "its sum and its count are those of the targets, wherever they stand",
    "each document keeps its own mean in any row",
    "a row's mean is taken over its targets, and neither padding nor micro-batches change those",
    "it counts the predictions of all rows, and splitting changes none of them",
    "padding holds no target, so each micro-batch keeps its sum and its count",
)
_STIRS = (
    "",
    "",
    "documents that share a row share one mean",
    "its count is the number of predictions, scored or not",
    "where each row is a micro-batch, one with few targets gets the same weight as one with many",
)


def _moves(states: dict[str, tuple[Value, ...]], count: int, mean: int, action: int) -> bool:
    """True if some arrangement shows another value after this action alone."""
    seen: dict[Any, set[str]] = {}
    for rows in product(range(count), repeat=count):
        for pad, split in product(PADS, (0, 1)):
            kept = [rows, pad, split]
            kept[action] = None  # what the action changes; everything else stays
            value = states[_key(rows, pad, split)][mean][1]
            seen.setdefault(tuple(kept), set()).add(value)
    return any(len(values) > 1 for values in seen.values())


def _key(rows: Sequence[int], pad: int, split: int) -> str:
    return f"{''.join(map(str, rows))}-{pad}-{split}"


def _n(value: Any) -> str:
    return f"{float(value):.4g}"


def _average(pairs: list[LossSum]) -> str:
    if len(pairs) == 1:
        return f"{_n(pairs[0].total)} / {pairs[0].count}"
    return f"({' + '.join(_n(p.mean) for p in pairs)}) / {len(pairs)}"


def _on_paper(documents: list[list[float]], values: tuple[Value, ...]) -> str:
    lines = [f"document {d}: losses {', '.join(map(_n, ls))}" for d, ls in enumerate(documents)]
    lines += ["", "Each document in its own row, no extra padding, one batch:"]
    pairs = zip(MEANS, values, strict=True)
    lines += [f"  {name:<26} {how} = {v}" for (name, _), (how, v) in pairs]
    blank = [(name, ["____"] * len(ACTIONS)) for name, _ in MEANS]
    return "\n".join(lines) + "\n\nMoves when you (1) move, (2) pad, (3) split:\n" + table(
        [("", ["(1)", "(2)", "(3)"]), *blank]
    )
