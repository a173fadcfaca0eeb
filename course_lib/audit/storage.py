"""`audit_ids`: do token ids survive the type that they are stored in?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.audit.reading import vector
from course_lib.audit.registry import finding, rule, run_rules
from course_lib.audit.report import Finding, Report

EXACT = {"float16": 2**11, "bfloat16": 2**8, "float32": 2**24, "float64": 2**53}
"""Whole numbers up to here are exact in a floating-point type."""


def audit_ids(
    ids: Sequence[int],
    dtype: str,
    *,
    read_back: Sequence[int] | None = None,
    max_token_id: int | None = None,
) -> Report:
    """Return which ids change when they are stored as `dtype` and read back.

    >>> audit_ids([7, 65538], "uint16").findings[0].where
    (1,)
    """
    name = str(dtype).removeprefix("torch.").removeprefix("numpy.")
    back = None if read_back is None else vector(read_back)
    run = Stored(vector(ids), name, back, max_token_id)
    return run_rules("storage", run, Report(f"{len(run.ids)} ids stored as {name}"))


@dataclass
class Stored:
    """Ids, their type, and what was read back."""

    ids: np.ndarray
    dtype: str
    read_back: np.ndarray | None
    max_token_id: int | None

    def has(self, need: str) -> bool:
        """Every rule here has what it needs."""
        return True

    def limit(self) -> int:
        """The largest id that the type holds exactly."""
        return EXACT[self.dtype] if self.dtype in EXACT else int(np.iinfo(self.dtype).max)

    def smallest(self) -> str:
        """The narrowest type for the largest id."""
        top = max(int(self.ids.max(initial=0)), self.max_token_id or 0)
        types = ("uint8", "uint16", "uint32", "uint64")
        return next(t for t in types if top <= np.iinfo(t).max)


@rule("id_overflow", on="storage")
def id_overflow(run: Stored) -> Iterator[Finding]:
    """Ids beyond the type's range, or read back as others."""
    faulty = (run.ids > run.limit()) | (run.ids < 0)
    if run.read_back is not None:
        faulty |= run.read_back != run.ids
    index = np.flatnonzero(faulty).tolist()
    too_small = run.max_token_id is not None and run.max_token_id > run.limit()
    if not index and not too_small:
        return
    back = run.read_back if run.read_back is not None else None
    said = f"{run.dtype} holds ids up to {run.limit()}"
    if index:
        became = "" if back is None else f" and came back as {back[index[0]]}"
        said = f"Id {run.ids[index[0]]} does not fit{became}; {said}"
    else:
        said += f", the tokenizer gives up to {run.max_token_id}"
    yield finding(
        "id_overflow",
        index or "dtype",
        f"{said}; {run.smallest()} would do.",
        expected=run.ids[index].tolist()[:16],
        found=None if back is None else back[index].tolist()[:16],
    )
