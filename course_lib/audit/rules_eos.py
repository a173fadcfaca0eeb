"""Rules on the end of documents: is EOS there, and is it a target?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.spans import segments
from course_lib.audit.view import BatchView, places


@rule("eos_never_target", needs=("input_ids", "labels", "eos"))
def eos_never_target(view: BatchView) -> Iterator[Finding]:
    """A real EOS that closes scored text is masked."""
    scored = view.trained.copy()
    labels = view.labels
    if labels is not None and view.label_offset:
        scored[:, 0] = labels[:, 0] != view.options.ignore_index  # row start: meant to be scored
    closes = np.zeros(view.shape, bool)
    closes[:, 1:] = scored[:, :-1] & ~view.starts[:, 1:]
    if view.scored is not None:
        closes |= view.scored.wanted & ~view.starts
        closes[:, 0] = False
    usable = (view.offsets == 1)[:, None] & view.real
    faulty = view.eos & closes & ~scored & usable
    if faulty.any():
        n = int(faulty.sum())
        slots = [(r, c - 1 + view.label_offset) for r, c in places(faulty)]
        eos = view.ids[faulty].tolist()
        yield finding(
            "eos_never_target",
            slots,
            f"{n} of {int((view.eos & view.real).sum())} real EOS tokens close scored text and "
            "are masked.",
            expected=eos[:16],
            found=[view.options.ignore_index] * min(n, 16),
        )


@rule("eos_missing", needs=("input_ids", "eos"))
def eos_missing(view: BatchView) -> Iterator[Finding]:
    """No real token is EOS."""
    as_target = view.targets is not None and np.isin(
        view.targets[view.live], np.unique(view.ids[view.eos]) if view.eos.any() else _eos(view)
    ).any()
    if (view.eos & view.real).any() or as_target:
        return
    only_padding = bool(view.eos.any())
    ends = [(row, stop - 1) for row, _, stop in segments(view)]
    more = "; EOS is seen only on padding" if only_padding else ""
    yield finding(
        "eos_missing",
        ends,
        f"The last real token of no document is EOS{more}.",
        expected=_eos(view)[0],
        found=[int(view.ids[p]) for p in ends[:16]],
        severity="error" if only_padding else "warn",
    )


def _eos(view: BatchView) -> list[int]:
    eos = view.options.eos_token_id
    return [eos] if isinstance(eos, int) else list(eos)
