"""Packing under your hands: a distribution of lengths, a capacity, a strategy and a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.packing import Packing, lower_bound, pack_lengths
from course_lib.packing.lengths import STRATEGIES
from course_lib.widgets.live import html
from course_lib.widgets.live.panel import Live, menu, slider

DISTRIBUTIONS = ("lognormal", "uniform", "Pareto", "two sizes")
MOST = 1000
SIZES = (10, 20, 50, 100, 200, 500, 1000)
WINDOWS = (("8 documents", 8), ("32 documents", 32), ("128 documents", 128), ("all documents", 0))
DRAWN = 8


@dataclass(frozen=True)
class Packed:
    """What became of `documents` lengths.

    - rows, tokens, capacity    tokens are those that got into a row
    - bound          rows that no packing of these lengths can do without
    - truncated      tokens cut off because a document was longer than a row
    - cut_documents  documents in more than one row
    - cut_tokens     tokens whose beginning of their document lies in an earlier row
    - first          the packing of the first window, for drawing
    - curve          (documents, utilization) for growing numbers of them
    """

    documents: int
    rows: int
    tokens: int
    capacity: int
    bound: int
    truncated: int
    cut_documents: int
    cut_tokens: int
    first: Packing
    curve: tuple[tuple[int, float], ...]

    @property
    def utilization(self) -> float:
        """Tokens / slots."""
        return self.tokens / (self.rows * self.capacity)

    @property
    def gap(self) -> int:
        """Rows beyond the bound."""
        return self.rows - self.bound


def packing_playground(
    distribution: str = "lognormal", documents: int = 200, capacity: int = 256,
    strategy: str = "best_fit_decreasing", window: int = 0,
) -> Live:  # fmt: skip
    """Return controls for a packing of drawn lengths; `result` is a `Packed`.

    The lengths are the same on every run. `window` is how many documents the packer sees at a time,
    0 for all.

    >>> packing_playground(documents=50).result.documents
    50
    """
    controls = {
        "distribution": menu("lengths", DISTRIBUTIONS, distribution),
        "documents": slider("documents", documents, 50, MOST, 50),
        "capacity": menu("capacity", [128, 256, 512, 1024], capacity),
        "strategy": menu("strategy", STRATEGIES, strategy),
        "window": menu("packer sees", WINDOWS, window),
    }
    return Live("packing", controls, pack, draw)


def draw_lengths(distribution: str, count: int) -> np.ndarray:
    """Return `count` lengths in tokens, [N]; the first ones of a longer list are the same.

    lognormal: median 64, sigma 0.9. uniform: 1 to 200. Pareto: from 24 up, exponent 1.3. two sizes:
    mostly 30, one in three 140.

    >>> draw_lengths("uniform", 3).tolist() == draw_lengths("uniform", 9)[:3].tolist()
    True
    """
    rng = np.random.default_rng(2026)
    normal, even = rng.standard_normal(MOST)[:count], rng.random(MOST)[:count]
    lengths = {
        "lognormal": lambda: 64 * np.exp(0.9 * normal),
        "uniform": lambda: 1 + np.floor(200 * even),
        "Pareto": lambda: 24 * (1 - even) ** (-1 / 1.3),
        "two sizes": lambda: np.where(even < 1 / 3, 140, 30),
    }[distribution]()
    return np.maximum(1, lengths).astype(np.int64)


def pack(distribution: str, documents: int, capacity: int, strategy: str, window: int) -> Packed:
    """Return what becomes of the lengths; documents that are too long are truncated, unless
    concatenation cuts them anyway.

    >>> pack("two sizes", 50, 256, "concatenate", 0).truncated
    0
    """
    asked = draw_lengths(distribution, documents)
    kept = asked if strategy == "concatenate" else np.minimum(asked, capacity)
    parts = windows(kept, capacity, strategy, window)
    tokens = int(kept.sum())
    least = -(-tokens // capacity)
    return Packed(
        documents=documents,
        rows=sum(map(len, parts)),
        tokens=tokens,
        capacity=capacity,
        bound=least if strategy == "concatenate" else lower_bound(kept, capacity),
        truncated=int(asked.sum()) - tokens,
        cut_documents=sum(_cut(part)[0] for part in parts),
        cut_tokens=sum(_cut(part)[1] for part in parts),
        first=parts[0],
        curve=tuple(_curve(kept, capacity, strategy, window)),
    )


def windows(lengths: np.ndarray, capacity: int, strategy: str, window: int) -> list[Packing]:
    """Return the packing of each window of lengths, in reading order.

    >>> [len(p) for p in windows(np.array([6, 6, 4, 4]), 10, "first_fit", 2)]
    [2, 1]
    """
    step = window or len(lengths)
    return [
        pack_lengths(lengths[s : s + step], capacity, strategy)
        for s in range(0, len(lengths), step)
    ]


def _cut(packing: Packing) -> tuple[int, int]:
    """Documents in more than one row, and the tokens of all pieces but their first."""
    if packing.cuts is None:
        return 0, 0
    later = packing.starts > 0
    tokens = int((packing.stops - packing.starts)[later].sum())
    return len(np.unique(packing.order[later])), tokens


def _curve(lengths: np.ndarray, capacity: int, strategy: str, window: int):
    sizes = [n for n in SIZES if n < len(lengths)] + [len(lengths)]
    for n in sizes:
        rows = sum(map(len, windows(lengths[:n], capacity, strategy, window)))
        yield n, int(lengths[:n].sum()) / (rows * capacity)


def draw(packed: Packed) -> str:
    """Return the first rows, the account and the curve as HTML.

    >>> draw(packing_playground().result).count("<svg")
    1
    """
    account = {
        "documents": packed.documents,
        "tokens in rows": packed.tokens,
        "rows": packed.rows,
        "lower bound": packed.bound,
        "gap": packed.gap,
        "utilization": f"{packed.utilization:.2%}",
        "documents cut": packed.cut_documents,
        "tokens behind a cut": packed.cut_tokens,
        "tokens truncated": packed.truncated,
    }
    rows = {name: [(f"{n:,}" if isinstance(n, int) else n, "card")] for name, n in account.items()}
    points = [(str(n), value) for n, value in packed.curve]
    low = min(value for _, value in points)
    said = (
        f"{packed.rows} rows for {packed.documents} documents, {packed.utilization:.1%} used, "
        f"{packed.gap} rows above the bound."
    )
    return html.sentence(said) + html.beside(
        html.table("account", [""], rows),
        html.curve("utilization against documents", points, min(0.9, low), 1.0),
        _bars(packed.first),
    )


def _bars(packing: Packing) -> str:
    """The first rows of a packing as bars of documents."""
    width, lines = 300, []
    for row in range(min(DRAWN, len(packing))):
        pieces = range(int(packing.offsets[row]), int(packing.offsets[row + 1]))
        cells = "".join(_bar(packing, p, width) for p in pieces)
        fill = int(packing.fills[row])
        lines.append(
            f'<div style="display:flex;align-items:center;margin:2px 0"><span style="width:4em">'
            f'row {row}</span><span style="display:flex;width:{width}px;height:1.3em;'
            f'background:{html.color("ignored")}">{cells}</span>'
            f'<span style="padding-left:.6em">{fill}/{packing.capacity}</span></div>'
        )
    more = len(packing) - len(lines)
    rest = f"<div>… {more} more rows</div>" if more else ""
    return f"<div><strong>first rows</strong>{''.join(lines)}{rest}</div>"


def _bar(packing: Packing, piece: int, width: int) -> str:
    tokens = int(packing.stops[piece] - packing.starts[piece])
    size = tokens / packing.capacity * width
    number = int(packing.order[piece])
    words = str(number) if size > 22 else ""
    return (
        f'<span style="box-sizing:border-box;width:{size:.1f}px;overflow:hidden;font-size:.8em;'
        f"background:{html.color(html.document(number))};color:{html.color('ink')};"
        f'border-right:1px solid {html.color("edge")}">{words}</span>'
    )
