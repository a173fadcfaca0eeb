"""`audit_schedule`: do the steps that were planned exist, and who reads which data?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from course_lib.audit.registry import finding, rule, run_rules
from course_lib.audit.report import Finding, Report


def audit_schedule(
    *,
    packs: int | Sequence[int] | None = None,
    documents: int | None = None,
    batch_size: int = 1,
    accumulation_steps: int = 1,
    epochs: float = 1,
    world_size: int = 1,
    planned_steps: int | None = None,
    expected_steps: int | None = None,
    estimated: bool = False,
    seen_by_rank: Sequence[Sequence[int]] | None = None,
) -> Report:
    """Return where planned steps and the data disagree.

    - packs              number of packs, or their ids
    - planned_steps      steps that the trainer shows or will run
    - expected_steps     steps that somebody expected
    - seen_by_rank       ids of the packs that each rank reads

    >>> audit_schedule(packs=112, batch_size=2, planned_steps=54).codes
    ['steps_estimated']
    """
    ids = None if packs is None or isinstance(packs, int) else list(packs)
    run = Schedule(
        packs if isinstance(packs, int) else None if ids is None else len(ids),
        documents, batch_size, accumulation_steps, epochs, world_size,
        planned_steps, expected_steps, ids,
        None if seen_by_rank is None else [list(r) for r in seen_by_rank],
    )  # fmt: skip
    return run_rules("schedule", run, Report("the step plan"))


@dataclass
class Schedule:
    """Counts of the data and of the plan."""

    packs: int | None
    documents: int | None
    batch_size: int
    accumulation_steps: int
    epochs: float
    world_size: int
    planned: int | None
    expected: int | None
    ids: list[int] | None
    seen: list[list[int]] | None

    def has(self, need: str) -> bool:
        """Say whether a rule's need is met."""
        if need == "steps":
            return self.planned is not None and self.packs is not None
        return self.seen is not None if need == "ranks" else True

    def steps(self, units: int) -> set[int]:
        """Optimizer steps over `units`: last batch and last window kept or dropped."""
        out = set()
        per_batch = self.batch_size * self.world_size
        for batches in (units // per_batch, ceil(units / per_batch)):
            for windows in (batches // self.accumulation_steps, ceil(
                    batches / self.accumulation_steps)):  # fmt: skip
                out |= {int(windows * self.epochs), ceil(windows * self.epochs)}
            out.add(int(batches * self.epochs // self.accumulation_steps))
        out.add(int(units * self.epochs // (per_batch * self.accumulation_steps)))
        return out


@rule("unit_changed", "steps_estimated", on="schedule", needs=("steps",))
def planned_steps(run: Schedule) -> Iterator[Finding]:
    """The plan counts packs, and all of them."""
    right = run.steps(run.packs)
    by_documents = set() if run.documents is None else run.steps(run.documents)
    if run.planned in right:
        if run.expected is not None and run.expected not in right:
            ratio = "" if not run.documents else f", {run.documents / run.packs:.3g} documents each"
            yield finding(
                "unit_changed",
                "steps",
                f"{run.planned} steps is right for {run.packs} packs{ratio}; {run.expected} would "
                f"count {'documents' if run.expected in by_documents else 'something else'}.",
                expected=run.expected,
                found=run.planned,
                severity="info" if run.expected in by_documents else "warn",
            )
        return
    best = min(right, key=lambda n: (abs(n - run.planned), n))
    off = best - run.planned
    what = "would end before the last" if off > 0 else "runs out of data before the last"
    also = " (it counts documents)" if run.planned in by_documents else ""
    yield finding(
        "steps_estimated",
        "steps",
        f"Planned {run.planned}{also}, available {best}: training {what} {abs(off)}.",
        expected=best,
        found=run.planned,
    )


@rule("ranks_duplicate_data", "ranks_miss_data", "ranks_uneven", on="schedule", needs=("ranks",))
def ranks(run: Schedule) -> Iterator[Finding]:
    """Every pack is read by one rank."""
    reads = Counter(i for r in run.seen for i in r)
    twice = [i for i, n in reads.items() if n > 1]
    if twice:
        yield finding(
            "ranks_duplicate_data",
            "ranks",
            f"{reads.total()} reads of {len(reads)} packs; {len(twice)} are read more than once.",
            expected=[(run.ids or sorted(reads))[r :: len(run.seen)] for r in range(len(run.seen))],
            found=run.seen,
        )
    missed = [i for i in run.ids or () if i not in reads]
    if missed:
        said = f"{len(missed)} packs are read by no rank."
        yield finding("ranks_miss_data", "ranks", said, expected=missed[:16], found=[])
    sizes = [len(r) for r in run.seen]
    if len(set(sizes)) > 1:
        said = f"Ranks have {sizes} packs."
        yield finding("ranks_uneven", "ranks", said, expected=[min(sizes)] * len(sizes),
                      found=sizes)  # fmt: skip
