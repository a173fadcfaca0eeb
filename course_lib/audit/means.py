"""Which mean is this number? Parts with sums and counts → every reduction that people compute.

A part is a micro-batch, a rank, a batch of an evaluation, a sequence: a sum of losses, the number
of targets in it, and where known its tokens and rows. Only one reduction is the token mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.loss import LossSum

RTOL = 1e-4  # reported numbers have four or five digits


@dataclass(frozen=True)
class Part:
    """Sum of losses and number of targets of one part; tokens and rows where known."""

    total: float
    count: int
    tokens: int | None = None
    rows: int | None = None

    @property
    def mean(self) -> float:
        """The part's own mean; nan without a target."""
        return self.total / self.count if self.count else math.nan


@dataclass(frozen=True)
class Candidate:
    """One way to reduce parts: what it is called, its formula and value, the code it stands for."""

    name: str
    formula: str
    value: float
    code: str | None = None

    def __str__(self) -> str:
        return f"{self.name} = {self.formula} = {self.value:.6g}"


def close(a: float, b: float, rtol: float = RTOL) -> bool:
    """Say whether two reported numbers are the same up to rounding.

    >>> close(1.4444, 13 / 9)
    True
    """
    return math.isfinite(a) and math.isfinite(b) and math.isclose(a, b, rel_tol=rtol, abs_tol=1e-9)


def rounded(value: float, number: float) -> int | None:
    """Return to how many decimals `value` was rounded to give `number`; None: not by rounding.

    At least three digits must be left, else too many numbers would be the same.

    >>> rounded(9 / 7, 1.286), rounded(9 / 7, 1.3), rounded(1.2996, 1.3)
    (3, None, 3)
    """
    if not (math.isfinite(value) and math.isfinite(number)) or number == 0:
        return None
    before = math.floor(math.log10(abs(number))) + 1
    return next((k for k in range(6, max(0, 2 - before), -1) if round(value, k) == number), None)


def as_part(value: Any) -> Part:
    """Return a Part from a LossSum, a (sum, count) pair, a mapping (sum or mean), or raw losses.

    >>> as_part((3.0, 2)).mean
    1.5
    """
    if isinstance(value, Part):
        return value
    if isinstance(value, LossSum):
        return Part(float(value.total), value.count)
    if isinstance(value, Mapping):
        if "losses" in value:
            return as_part(list(value["losses"]))
        count = int(_first(value, ("n_targets", "count", "num_targets", "n_tokens")))
        mean = next((float(value[k]) for k in ("mean", "loss", "loss_mean") if k in value), None)
        sums = ("loss_sum", "total", "sum", "nll_sum")
        return Part(
            float(_first(value, sums)) if mean is None else mean * count,
            count,
            _optional(value, ("total_tokens", "tokens", "n_slots")),
            _optional(value, ("rows", "n_rows", "n_sequences")),
        )
    if isinstance(value, tuple) and len(value) == 2:
        return Part(float(value[0]), int(value[1]))
    losses = [float(x) for x in value]
    return Part(sum(losses), len(losses))


def _first(value: Mapping, names: Iterable[str]) -> Any:
    for name in names:
        if name in value:
            return value[name]
    raise ValueError(f"a part needs one of {', '.join(names)}; it has {', '.join(value)}.")


def _optional(value: Mapping, names: Iterable[str]) -> int | None:
    return next((int(value[n]) for n in names if n in value), None)


def join(parts: Sequence[Part]) -> Part:
    """Return the sum of parts.

    >>> join([Part(4.0, 2), Part(5.0, 5)]).mean
    1.2857142857142858
    """
    tokens = [p.tokens for p in parts]
    rows = [p.rows for p in parts]
    return Part(
        sum(p.total for p in parts),
        sum(p.count for p in parts),
        None if None in tokens else sum(tokens),
        None if None in rows else sum(rows),
    )


def reductions(parts: Sequence[Part], over: str, mean_code: str | None) -> list[Candidate]:
    """Return every reduction of `parts`, the token mean first.

    `over` names the parts in formulas; `mean_code` is the code of a plain mean over them.
    """
    whole, k = join(parts), len(parts)
    live = [p for p in parts if p.count]
    means = [p.mean for p in live]
    S, N = whole.total, whole.count
    out = [Candidate("token mean", "sum / targets", S / N if N else math.nan)]

    def add(name: str, formula: str, value: float, code: str | None) -> None:
        out.append(Candidate(name, formula, value, code))

    if None not in [p.tokens for p in parts] and whole.tokens:
        weighted = sum(p.mean * p.tokens for p in live) / whole.tokens
        add("mean weighted by tokens", "sum(mean × tokens) / tokens", weighted,
            "weights_count_non_targets")  # fmt: skip
        add("sum over tokens", "sum / all tokens", S / whole.tokens, "denominator_counts_slots")
    if means:
        mean = sum(means) / len(means)
        add(f"mean of {over} means", f"sum(mean) / {k}", mean, mean_code)
        add(f"sum of {over} means", "sum(mean)", sum(means), "not_divided")
    if N:
        add("token mean divided again", f"sum / targets / {k}", S / N / k, "divided_twice")
        add("token mean times parts", f"sum / targets × {k}", S / N * k, "not_divided")
    add("sum", "all losses added up", S, "not_divided")
    if None not in [p.rows for p in parts] and whole.rows:
        weighted = sum(p.mean * p.rows for p in live) / whole.rows
        add("mean weighted by rows", "sum(mean × rows) / rows", weighted, "weights_count_rows")
        unshifted = S / (N + whole.rows)
        add("unshifted count", "sum / (targets + rows)", unshifted, "denominator_counts_unshifted")
    if means:
        add("mean divided again", f"sum(mean) / {k} / {k}", mean / k, "divided_twice")
        for formula, value in _running(means).items():
            add("running total", formula, value, "running_total_divided")
        if len(means) > 1:
            many = over + ("es" if over.endswith("ch") else "s")
            add(f"first of the {many}", "mean of the first", means[0], "one_part_reported")
            add(f"last of the {many}", "mean of the last", means[-1], "one_part_reported")
    return out


def _running(values: Sequence[float]) -> dict[str, float]:
    """The two ways to divide a running total inside the loop."""
    by_all = by_step = 0.0
    for i, value in enumerate(values, 1):
        by_all = (by_all + value) / len(values)
        by_step = (by_step + value) / i
    return {"total = (total + mean) / parts": by_all, "total = (total + mean) / step": by_step}
