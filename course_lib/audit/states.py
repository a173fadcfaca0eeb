"""`audit_states`: recurrent states and short convolutions at document boundaries.

A running sum stands for every recurrence: what matters is where it starts again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.audit.reading import to_array, vector
from course_lib.audit.registry import finding, rule, run_rules
from course_lib.audit.report import Finding, Report
from course_lib.boundaries import document_ids_from_position_ids


def audit_states(
    *,
    cu_seqlens: Sequence[int] | None = None,
    document_ids: Sequence[int] | None = None,
    position_ids: Sequence[int] | None = None,
    inputs: Sequence[float] | None = None,
    states: Sequence[float] | None = None,
    reads: Mapping[int, Sequence[int]] | None = None,
    tolerance: float = 1e-6,
) -> Report:
    """Return where a packed row's state carries something of another document.

    - cu_seqlens, document_ids or position_ids [T]    where documents begin
    - inputs, states [T]    what was added up, and the running sum after each token
    - reads                 token → tokens that a convolution reads for it

    Raises ValueError without any boundaries.

    >>> audit_states(cu_seqlens=[0, 1, 2], inputs=[1, 2], states=[1, 3]).findings[0].where
    (1,)
    """
    if cu_seqlens is not None:
        lengths = np.diff(vector(cu_seqlens))
        ids = np.repeat(np.arange(len(lengths)), lengths)
    elif document_ids is not None:
        ids = vector(document_ids)
    elif position_ids is not None:
        ids = document_ids_from_position_ids(vector(position_ids)).numpy()
    else:
        raise ValueError("audit_states needs cu_seqlens, document_ids or position_ids.")
    run = Trail(ids, _floats(inputs), _floats(states), dict(reads or {}), tolerance)
    return run_rules("states", run, Report(f"a row of {len(ids)} tokens"))


def _floats(values: Any) -> np.ndarray | None:
    return None if values is None else to_array(values, "states", 0).reshape(-1).astype(float)


@dataclass
class Trail:
    """States and reads of one row."""

    ids: np.ndarray
    inputs: np.ndarray | None
    states: np.ndarray | None
    reads: dict[int, Sequence[int]]
    tolerance: float

    def has(self, need: str) -> bool:
        """Say whether a rule's need is met."""
        if need == "states":
            return self.states is not None and self.inputs is not None
        return bool(self.reads) if need == "reads" else True


@rule("state_crosses_boundary", on="states", needs=())
def state_crosses_boundary(run: Trail) -> Iterator[Finding]:
    """A sum that does not start again, or a read over the border."""
    faulty: set[int] = set()
    said, right = [], None
    if run.has("states"):
        total = np.cumsum(run.inputs)
        starts = np.flatnonzero(np.diff(run.ids, prepend=run.ids[0] - 1))
        before = (total - run.inputs)[starts]
        right = total - np.repeat(before, np.diff([*starts, len(run.ids)]))
        wrong = np.flatnonzero(np.abs(run.states - right) > run.tolerance)
        faulty |= set(map(int, wrong))
        if len(wrong):
            said.append(f"the state is not reset at index {int(wrong[0])}")
    for token, keys in run.reads.items():
        others = [int(k) for k in keys if run.ids[int(k)] != run.ids[int(token)]]
        if others:
            faulty.add(int(token))
            said.append(f"token {token} reads tokens {others} of another document")
    if faulty:
        text = "; ".join(said)
        yield finding(
            "state_crosses_boundary",
            sorted(faulty),
            f"{text[0].upper()}{text[1:]}.",
            expected=None if right is None else right.tolist()[:16],
            found=None if run.states is None else run.states.tolist()[:16],
        )
