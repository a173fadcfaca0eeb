"""The rule on the number that a batch's loss was divided by."""

from __future__ import annotations

from collections.abc import Iterator

from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.view import BatchView

CLOSE = 1e-4


@rule(
    "denominator_counts_unshifted",
    "denominator_counts_slots",
    "denominator_wrong",
    needs=("labels", "reported"),
)
def denominator(view: BatchView) -> Iterator[Finding]:
    """The denominator is the number of targets."""
    given = view.options
    used = given.denominator
    if used is None:
        if not given.reported:
            return
        used = given.loss_sum / given.reported
    right = int(view.live.sum())
    if abs(used - right) <= CLOSE * max(right, 1):
        return
    counts = {
        "denominator_counts_unshifted": [int((view.labels != given.ignore_index).sum())],
        "denominator_counts_slots": [
            view.live.size,
            view.live.size - len(view.live),
            int(view.real.sum()),
        ],
    }
    hits = (c for c, ns in counts.items() if any(abs(used - n) <= CLOSE * max(n, 1) for n in ns))
    code = next(hits, "denominator_wrong")
    loss = "" if given.loss_sum is None or not right else f" ({given.loss_sum / right:.4g} as loss)"
    yield finding(
        code,
        "denominator",
        f"The sum was divided by {used:g}, but there are {right} targets{loss}.",
        expected=right,
        found=used,
    )
