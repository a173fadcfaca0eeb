"""Rules on reported losses: is the number the token mean, and if not, which mean is it?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from course_lib.audit.losses import MEAN_CODES, Losses
from course_lib.audit.means import Candidate, close, join, rounded
from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding


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
        known = [c for c in run.candidates if c.code]
        hits = [c for c in known if close(c.value, number)]
        if not hits and rounded(run.right, number):
            continue
        hits = hits or [c for c in known if rounded(c.value, number)]
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
    if decimals := rounded(run.right, number):
        also += f" The token mean is the same number when it is rounded to {decimals} decimals."
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
        if not by_mean and rounded(math.exp(run.right), given):
            return
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
