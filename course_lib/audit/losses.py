"""`audit_loss`: a reported number and the parts that it was made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course_lib.audit.denominators import group
from course_lib.audit.means import Candidate, Part, as_part, join, reductions
from course_lib.audit.registry import run_rules
from course_lib.audit.report import Report
from course_lib.inputs import choice

MEAN_CODES = {
    "microbatches": "mean_of_microbatch_means",
    "ranks": "mean_of_rank_means",
    "shards": "mean_of_rank_means",
    "batches": "eval_mean_of_batch_means",
    "sequences": "sequence_mean",
    "documents": "sequence_mean",
    "pairs": "mean_of_microbatch_means",
}


def audit_loss(
    reported: float | Mapping[str, float] | None,
    parts: Sequence[Any] | None = None,
    *,
    over: str = "microbatches",
    contributions: Sequence[float] | None = None,
    batch_size: int | None = None,
    padding_losses: Sequence[float] | None = None,
    batch_losses: Sequence[float] | None = None,
) -> Report:
    """Return what is wrong with a reported loss, given the parts behind it.

    - reported        the mean, or a mapping with "loss", "loss_sum" (or "logp_sum"), "perplexity"
    - parts           for each part a LossSum, a pair (sum, count), raw losses, or a mapping with
                      loss_sum (or mean), n_targets and, if known, total_tokens, rows. Nested
                      lists are parts of parts (micro-batches of each rank)
    - over            what a part is: "microbatches", "ranks", "shards", "batches" (of an
                      evaluation), "sequences" or "documents"
    - contributions   what each part handed to backward or to the all-reduce
    - batch_size      sequences in each evaluation batch
    - padding_losses  for each part, what its padding would add to the sum
    - batch_losses    means of batches, where their counts are not known

    Raises ValueError without any parts.

    >>> audit_loss(1.5, [(2.0, 1), (3.0, 3)], over="ranks").codes
    ['mean_of_rank_means']
    """
    choice(over, "over", tuple(MEAN_CODES))
    if parts is None and batch_losses is None:
        raise ValueError("audit_loss needs parts (sums and counts) or batch_losses.")
    if batch_losses is not None:
        parts, over = [(float(x), 1) for x in batch_losses], "batches"
    nested = [[as_part(p) for p in _inner(part)] for part in parts]
    run = Losses(
        [join(inner) for inner in nested],
        nested if any(len(inner) > 1 for inner in nested) else None,
        over,
        _numbers(reported),
        None if contributions is None else [float(c) for c in contributions],
        batch_size,
        None if padding_losses is None else [float(x) for x in padding_losses],
        batch_losses is not None,
    )
    return run_rules("loss", run, Report(f"the loss of {len(run.parts)} {over}"))


def _inner(part: Any) -> list[Any]:
    """A list of parts stays one; a part becomes a list of one."""
    inside = isinstance(part, list) and part and isinstance(part[0], tuple | list | Mapping)
    return part if inside else [part]


def _numbers(reported: float | Mapping[str, float] | None) -> dict[str, float]:
    if reported is None:
        return {}
    if not isinstance(reported, Mapping):
        return {"loss": float(reported)}
    names = {"logp_sum": "loss_sum", "nll_sum": "loss_sum", "token_mean": "loss", "mean": "loss",
             "ppl": "perplexity"}  # fmt: skip
    out = {names.get(k, k): float(v) for k, v in reported.items()}
    if "logp_sum" in reported:
        out["loss_sum"] = -out["loss_sum"]
    return out


@dataclass
class Losses:
    """Parts and what was reported on them."""

    parts: list[Part]
    nested: list[list[Part]] | None
    over: str
    reported: dict[str, float]
    contributions: list[float] | None
    batch_size: int | None
    padding: list[float] | None
    counts_unknown: bool

    def has(self, need: str) -> bool:
        """Every rule here has what it needs."""
        return True

    @property
    def one(self) -> str:
        """What a single part is called."""
        names = {"batches": "batch", "microbatches": "micro-batch"}
        return names.get(self.over, self.over.removesuffix("s"))

    @property
    def right(self) -> float:
        """The token mean over everything (or the mean of what is there)."""
        whole = join(self.parts)
        return whole.total / whole.count if whole.count else math.nan

    @cached_property
    def candidates(self) -> list[Candidate]:
        """Every reduction of the parts, the right one first."""
        code = None if self.counts_unknown else MEAN_CODES[self.over]
        out = reductions(self.parts, self.one, code)
        if self.batch_size:
            batches = [join(g) for g in group(self.parts, self.batch_size)]
            of_batches = reductions(batches, "batch", "eval_mean_of_batch_means")[1:]
            out += of_batches
        if self.nested:
            flat = [p for inner in self.nested for p in inner]
            out += reductions(flat, "micro-batch", "mean_of_microbatch_means")[1:]
            means = [p.mean for p in flat if p.count]
            averaged = sum(means) / len(self.nested)
            out.append(Candidate("sum of micro-batch means over ranks", "sum(mean) / ranks",
                                 averaged, "not_divided"))  # fmt: skip
        return out
