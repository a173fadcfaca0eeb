"""Does a token change logits before it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from course_lib.batch import Batch
from course_lib.inputs import as_int
from course_lib.probes.result import Probe
from course_lib.probes.subject import as_batch, asker, moved, other_ids, quiet


@dataclass(frozen=True, repr=False)
class Causality(Probe):
    """`Probe` with (row, changed position, earliest position that moved, by how much)."""

    leaks: tuple[tuple[int, int, int, float], ...] = ()

    def lines(self) -> list[str]:
        return [
            f"row {row}: a change at position {at} moves logits from {seen} on, by {size:.2g}"
            for row, at, seen, size in self.leaks[:8]
        ]


def probe_causality(
    model: Callable[..., Any],
    batch: Batch | Mapping[str, Any] | Tensor | list,
    *,
    trials: int = 16,
    tolerance: float = 1e-4,
    seed: int = 0,
    vocab_size: int | None = None,
    **given: Any,
) -> Causality:
    """Change single tokens and see whether logits at earlier positions move.

    Arguments as in `probe_isolation`; `batch` may also be bare ids [B, T]. Positions 1 … T-1 are
    tried in random order, at most `trials` of them.

    Raises ValueError for rows of one token: nothing stands before it.

    >>> from course_lib import TinyDecoder, causal_mask
    >>> probe_causality(TinyDecoder(), [[1, 2, 3, 1]]).ok
    True
    >>> everything = torch.ones(4, 4, dtype=torch.bool)
    >>> probe_causality(TinyDecoder(), [[1, 2, 3, 1]], mask=everything).ok
    False
    """
    rows, arguments = as_batch(batch)
    ids = rows.input_ids
    if ids.shape[1] < 2:
        raise ValueError("rows of one token have no earlier position. Give rows of two or more.")
    rng = torch.Generator().manual_seed(as_int(seed, "seed"))
    order = torch.randperm(ids.shape[1] - 1, generator=rng) + 1
    positions = order[: as_int(trials, "trials", at_least=1)].tolist()
    restore, ask = quiet(model), asker(model, arguments, given)
    try:
        before, leaks = ask(ids), []
        for at in positions:
            changed = ids.clone()
            changed[:, at] = other_ids(ids, vocab_size, rng)[:, at]
            change = moved(ask(changed), before)[:, :at]
            for row in (change > tolerance).any(1).nonzero().flatten().tolist():
                seen = int((change[row] > tolerance).nonzero()[0])
                leaks.append((row, at, seen, float(change[row].max())))
    finally:
        restore()
    leaks.sort(key=lambda leak: (-leak[3], leak))
    tried, bad = len(positions), len({at for _, at, _, _ in leaks})
    summary = (
        f"{bad} of {tried} positions move earlier logits."
        if leaks
        else f"no token moves a logit before it ({tried} positions of {ids.shape[1]} tried)."
    )
    return Causality("causality", not leaks, summary, len(positions), tolerance, seed, tuple(leaks))
