"""`audit_loss`: a reported number and the parts that it was made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course_lib.audit.denominators import group
from course_lib.audit.means import Candidate, Part, as_part, close, join, reductions
from course_lib.audit.registry import finding, rule, run_rules
from course_lib.audit.report import Finding, Report
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
                      loss_sum, n_targets and, if known, total_tokens and rows. Nested lists are
                      parts of parts (micro-batches of each rank)
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


@rule("pad_scored", on="loss")
def pad_scored(run: Losses) -> Iterator[Finding]:
    """The sum holds what padding would add."""
    if run.padding is None or "loss_sum" not in run.reported:
        return
    right, extra = join(run.parts).total, sum(run.padding)
    if extra and close(run.reported["loss_sum"], right + extra):
        numbers = [i for i, x in enumerate(run.padding) if x]
        i = numbers[0]
        alone = run.parts[i].total
        yield finding(
            "pad_scored",
            numbers,
            f"Document {i} scored alone gives {-alone:g}, in a batch {-alone - run.padding[i]:g}.",
            expected=right,
            found=run.reported["loss_sum"],
        )


@rule(
    *dict.fromkeys(MEAN_CODES.values()),
    "divided_twice", "not_divided", "weights_count_non_targets", "weights_count_rows",
    "denominator_counts_slots", "denominator_counts_unshifted", "running_total_divided",
    "one_part_reported", "loss_unexplained", on="loss",
)  # fmt: skip
def reduction(run: Losses) -> Iterator[Finding]:
    """The reported mean is the token mean, or one of the others."""
    numbers = {"loss": run.reported.get("loss")}
    if run.contributions is not None:
        total = sum(run.contributions)
        numbers["contributions"] = total
        if numbers["loss"] is not None and close(total, run.right):
            del numbers["contributions"]
    for name, number in numbers.items():
        if number is None or close(number, run.right):
            continue
        hits = [c for c in run.candidates if c.code and close(c.value, number)]
        yield _reduction(run, name, number, hits)
        return


def _reduction(run: Losses, name: str, number: float, hits: list[Candidate]) -> Finding:
    said = "Contributions add up to" if name == "contributions" else "The reported number is"
    if not hits:
        tried = len(run.candidates)
        text = f"{said} {number:.6g}, none of {tried} known reductions; the token mean is "
        return finding("loss_unexplained", "reduction", f"{text}{run.right:.6g}.",
                       expected=run.right, found=number)  # fmt: skip
    first = hits[0]
    others = [c.name for c in hits[1:] if c.code != first.code]
    also = f" It also equals: {', '.join(dict.fromkeys(others))}." if others else ""
    return finding(
        first.code,
        "loop" if first.code == "running_total_divided" else "reduction",
        f"{said} {number:.6g} = {first.formula} ({first.name}); the token mean is "
        f"{run.right:.6g}.{also}",
        expected=run.right,
        found=number,
    )


@rule("perplexity_averaged", "perplexity_base", "loss_unexplained", on="loss")
def perplexity(run: Losses) -> Iterator[Finding]:
    """Perplexity is exp of the token mean."""
    given = run.reported.get("perplexity")
    if given is None or not math.isfinite(run.right) or close(given, math.exp(run.right)):
        return
    mean = run.reported.get("loss")
    if mean is not None and close(given, math.exp(mean)):
        return  # it follows from the mean, which has a finding of its own
    total, count = run.reported.get("loss_sum"), join(run.parts).count
    if total is not None and close(given, math.exp(total / count)):
        return
    means = [p.mean for p in run.parts if p.count]
    average = sum(map(math.exp, means)) / len(means)
    kinds = {"perplexity_averaged": average, "perplexity_base": 2**run.right}
    code = next((c for c, v in kinds.items() if close(given, v)), None)
    if code is None:
        by_mean = [c for c in run.candidates if c.code and close(given, math.exp(min(c.value, 50)))]
        code = by_mean[0].code if by_mean else "loss_unexplained"
    yield finding(
        code,
        "perplexity" if code in kinds else "reduction",
        f"The reported perplexity is {given:.6g}; exp of the token mean is "
        f"{math.exp(run.right):.6g}.",
        expected=math.exp(run.right),
        found=given,
    )


@rule("part_without_targets", on="loss")
def empty_parts(run: Losses) -> Iterator[Finding]:
    """Parts without a target."""
    empty = [i for i, p in enumerate(run.parts) if p.count == 0]
    if empty:
        yield finding("part_without_targets", empty, f"{len(empty)} {run.over} have no target.")
