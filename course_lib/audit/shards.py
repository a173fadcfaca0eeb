"""`audit_shards`: one sequence split over ranks, and the target at each cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.audit.reading import vector
from course_lib.audit.registry import finding, rule, run_rules
from course_lib.audit.report import Finding, Report
from course_lib.vocabulary import IGNORE_INDEX


def audit_shards(
    input_ids: Sequence[int],
    shards: Sequence[Sequence[int]],
    shard_targets: Sequence[Sequence[int]],
    *,
    labels: Sequence[int] | None = None,
    ignore_index: int = IGNORE_INDEX,
) -> Report:
    """Return where targets were lost or changed when a sequence was split over ranks.

    `shards` are the tokens of each rank, in order or in the zigzag order of context parallelism
    (rank r holds chunks r and 2n-1-r). `labels` [T], unshifted, say which tokens are targets.

    >>> audit_shards([5, 6, 7], [[5, 6], [7]], [[6, -100], [-100]]).findings[0].where
    (1,)
    """
    ids = vector(input_ids)
    parts = [vector(s) for s in shards]
    wanted = ids if labels is None else vector(labels)
    right = np.append(wanted[1:], ignore_index)
    order = _order(ids, parts)
    targets = [vector(t) for t in shard_targets]
    run = Shards(ids, parts, targets, right, order, ignore_index)
    return run_rules("shards", run, Report(f"{len(ids)} tokens in {len(parts)} shards"))


@dataclass
class Shards:
    """Tokens and targets by rank; `order` is the index in the sequence of each token of a shard."""

    ids: np.ndarray
    parts: list[np.ndarray]
    targets: list[np.ndarray]
    right: np.ndarray
    order: list[np.ndarray] | None
    ignore: int

    def has(self, need: str) -> bool:
        """Every rule here has what it needs."""
        return True


def _order(ids: np.ndarray, parts: list[np.ndarray]) -> list[np.ndarray] | None:
    sizes = [len(p) for p in parts]
    if sum(sizes) != len(ids):
        return None
    slots = np.arange(len(ids))
    layouts = [np.split(slots, np.cumsum(sizes)[:-1])]
    n = len(parts)
    if len(ids) % (2 * n) == 0:
        chunks = np.split(slots, 2 * n)
        layouts.append([np.concatenate([chunks[r], chunks[2 * n - 1 - r]]) for r in range(n)])
    layouts.append([slots[r::n] for r in range(n)])
    for layout in layouts:
        if all(np.array_equal(ids[at], p) for at, p in zip(layout, parts, strict=True)):
            return layout
    return None


@rule("shard_tokens_lost", "shard_boundary_target_lost", "shard_target_wrong", on="shards")
def shard_targets(run: Shards) -> Iterator[Finding]:
    """Each token keeps the target that it has in the whole sequence."""
    if run.order is None:
        total = sum(map(len, run.parts))
        said = f"{len(run.ids)} tokens in, {total} in the shards, not the same ones in any order."
        yield finding("shard_tokens_lost", "shards", said, expected=len(run.ids), found=total)
        return
    lost, wrong = [], []
    for order, targets in zip(run.order, run.targets, strict=True):
        for at, index in enumerate(order.tolist()):
            found = int(targets[at]) if at < len(targets) else run.ignore
            if found == run.right[index]:
                continue
            (lost if found == run.ignore else wrong).append((index, found))
    live = int((run.right != run.ignore).sum())
    for code, faulty in (("shard_boundary_target_lost", lost), ("shard_target_wrong", wrong)):
        if not faulty:
            continue
        index, found = sorted(faulty)[0]
        scored = "is scored on nothing" if found == run.ignore else f"is scored on {found}"
        yield finding(
            code,
            sorted(i for i, _ in faulty),
            f"Token {run.ids[index]} (index {index}) {scored}; it should predict "
            f"{run.right[index]} ({live - len(lost)} of {live} targets are left).",
            expected=[int(run.right[i]) for i, _ in sorted(faulty)][:16],
            found=[f for _, f in sorted(faulty)][:16],
        )
