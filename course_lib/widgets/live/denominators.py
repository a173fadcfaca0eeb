"""Accumulation under your hands: micro-batches, ranks and a rule; value and gradient drift.

The gradient of each document's loss *sum* is taken once. Every rule then is a weighted sum of
these, because the gradient of a sum is the sum of the gradients: no backward pass when a control
moves, and the same numbers as a training loop gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from course_lib.decoder import TinyDecoder
from course_lib.loss import LossSum
from course_lib.padding import pad_documents
from course_lib.setups import prepare
from course_lib.widgets.live import html
from course_lib.widgets.live.panel import Live, menu, slider

RULES = (
    ("one sum over one count", "global"),
    ("mean of micro-batch means", "micro"),
    ("mean of rank means", "rank"),
    ("one sum over all slots", "slots"),
)
ORDERS = ("as they come", "by length")
DOCUMENTS: tuple[tuple[int, ...], ...] = (
    (5, 1, 6, 1, 4), (1, 1, 1, 1, 4), (2, 2, 4), (3, 3, 3, 3, 3, 3, 4),
    (1, 4), (2, 1, 3, 2, 1, 3, 2, 4), (3, 4), (5, 2, 6, 2, 2, 2, 4),
    (1, 2, 3, 1, 2, 3, 1, 2, 3, 4), (3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 4), (2, 4),
    (1, 3, 1, 3, 1, 3, 4),
)  # fmt: skip
"""Twelve documents of 2 to 12 tokens; document 0 has 4 targets, and so on."""


@dataclass(frozen=True)
class Documents:
    """What each document adds: `sums` [N] in nats, `counts` [N], `gradients` [N, P] of the sums."""

    sums: Tensor
    counts: Tensor
    gradients: Tensor


@dataclass(frozen=True)
class Drift:
    """A value and a gradient beside those of the full batch.

    `parts[rank][micro]` holds document numbers, `weights` [N] what a document's sum is multiplied
    by, `pairs[rank][micro]` the (sum, count) of each micro-batch.
    """

    parts: list[list[list[int]]]
    pairs: list[list[LossSum]]
    weights: Tensor
    value: float
    full: float
    cosine: float
    relative: float


def denominator_explorer(
    ranks: int = 2, micro_batches: int = 2, order: str = "by length", rule: str = "micro"
) -> Live:
    """Return controls for accumulation and ranks; `result` is a `Drift`.

    >>> round(denominator_explorer(rule="global").result.cosine, 6)
    1.0
    """
    controls = {
        "ranks": slider("ranks", ranks, 1, 4),
        "micro_batches": slider("micro-batches", micro_batches, 1, 3),
        "order": menu("documents", ORDERS, order),
        "rule": menu("rule", RULES, rule),
    }
    return Live("denominators", controls, drift, draw)


@cache
def measured() -> Documents:
    """Return sum, count and gradient of each document, in float64.

    >>> measured().gradients.shape
    torch.Size([12, 423])
    """
    model = TinyDecoder().double()
    sums, counts, rows = [], [], []
    for document in DOCUMENTS:
        model.zero_grad()
        loss = prepare(pad_documents([document])).loss(model)
        loss.total.backward()
        sums.append(loss.total.detach())
        counts.append(loss.count)
        rows.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    return Documents(torch.stack(sums), torch.tensor(counts), torch.stack(rows))


def split(order: str, ranks: int, micro_batches: int) -> list[list[list[int]]]:
    """Return the document numbers of each micro-batch of each rank.

    >>> split("as they come", 1, 3)[0][0]
    [0, 1, 2, 3]
    """
    numbers = list(range(len(DOCUMENTS)))
    if order == "by length":
        numbers.sort(key=lambda d: -len(DOCUMENTS[d]))
    pieces = torch.tensor(numbers).tensor_split(ranks * micro_batches)
    lists = [piece.tolist() for piece in pieces]
    return [lists[r * micro_batches : (r + 1) * micro_batches] for r in range(ranks)]


def weights_of(parts: Sequence[Sequence[Sequence[int]]], rule: str, counts: Tensor) -> Tensor:
    """Return what each document's sum is multiplied by, [N].

    >>> weights_of([[[0], [1]]], "micro", torch.tensor([2, 5])).tolist()
    [0.25, 0.1]
    """
    weights = torch.zeros(len(counts), dtype=torch.float64)
    for rank in parts:
        mine = [d for micro in rank for d in micro]
        for micro in rank:
            count = {
                "global": counts.sum(),
                "micro": counts[micro].sum() * len(rank) * len(parts),
                "rank": counts[mine].sum() * len(parts),
                "slots": len(counts) * max(map(len, DOCUMENTS)),
            }[rule]
            weights[micro] = 1 / float(count)
    return weights


def drift(ranks: int, micro_batches: int, order: str, rule: str) -> Drift:
    """Return value and gradient under a rule, and how far they are from the full batch.

    >>> drift(1, 1, "as they come", "micro").relative
    0.0
    """
    known, parts = measured(), split(order, ranks, micro_batches)
    weights = weights_of(parts, rule, known.counts)
    even = torch.full_like(weights, 1 / float(known.counts.sum()))
    gradient, full = weights @ known.gradients, even @ known.gradients
    return Drift(
        parts=parts,
        pairs=[[_pair(known, micro) for micro in rank] for rank in parts],
        weights=weights,
        value=float(weights @ known.sums),
        full=float(even @ known.sums),
        cosine=float(gradient @ full / (gradient.norm() * full.norm())),
        relative=float((gradient - full).norm() / full.norm()),
    )


def _pair(known: Documents, numbers: list[int]) -> LossSum:
    return LossSum(float(known.sums[numbers].sum()), int(known.counts[numbers].sum()))


def draw(found: Drift) -> str:
    """Return micro-batches with their pairs, and the drift, as HTML.

    >>> draw(denominator_explorer().result).count("<table")
    2
    """
    even = sum(pair.count for rank in found.pairs for pair in rank)
    rows = {}
    for r, (parts, pairs) in enumerate(zip(found.parts, found.pairs, strict=True)):
        for m, (numbers, pair) in enumerate(zip(parts, pairs, strict=True)):
            share = float(found.weights[numbers[0]]) * even
            cells = [" ".join(map(str, numbers)), f"{pair.total:.3f}", str(pair.count),
                     f"{pair.mean:.3f}", f"{share:.2f}"]  # fmt: skip
            rows[f"rank {r}, micro-batch {m}"] = [(words, html.document(r)) for words in cells]
    head = ["documents", "sum", "count", "mean", "weight of a target"]
    measures = {
        "value": f"{found.value:.4f}",
        "full batch": f"{found.full:.4f}",
        "difference": f"{found.value - found.full:+.4f}",
        "gradient: cosine": f"{found.cosine:.4f}",
        "gradient: relative difference": f"{found.relative:.4f}",
    }
    said = (
        f"value {found.value:.4f} against {found.full:.4f}; cosine {found.cosine:.4f}, "
        f"relative difference {found.relative:.4f}"
    )
    return html.sentence(said) + html.beside(
        html.table("weight of a target: 1 is its share in the full batch", head, rows),
        html.table("drift", [""], {name: [(v, "card")] for name, v in measures.items()}),
    )
