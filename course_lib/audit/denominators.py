"""`identify_denominator`: the losses of a batch and a number. Which mean of them is it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.audit.means import RTOL, Candidate, Part, close, reductions
from course_lib.audit.reading import to_array


@dataclass(frozen=True)
class Denominators:
    """What `identify_denominator` found: all candidates and those that match."""

    reported: float
    matches: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]

    @property
    def names(self) -> list[str]:
        """Names of the candidates that match."""
        return [c.name for c in self.matches]

    @property
    def unique(self) -> bool:
        """True when exactly one candidate matches."""
        return len(self.matches) == 1

    def __str__(self) -> str:
        if not self.matches:
            lines = [f"{self.reported:.6g} is none of these:"]
            return "\n".join([*lines, *(f"  {c}" for c in self.candidates)])
        if self.unique:
            return f"{self.reported:.6g} is the {self.matches[0]}"
        lines = [f"{self.reported:.6g} fits {len(self.matches)} candidates; these losses cannot "
                 "tell them apart:"]  # fmt: skip
        return "\n".join([*lines, *(f"  {c}" for c in self.matches)])

    __repr__ = __str__


def identify_denominator(
    reported: float,
    losses: Any,
    target_mask: Any,
    *,
    document_ids: Any = None,
    attention_mask: Any = None,
    microbatch_size: int | None = None,
    tolerance: float = RTOL,
) -> Denominators:
    """Return every mean of `losses` that equals `reported` within a relative `tolerance`.

    - losses, target_mask    [B, T-1], over shifted predictions
    - document_ids           [B, T]: also the mean over documents
    - attention_mask         [B, T]: also the mean over real tokens
    - microbatch_size        rows in each micro-batch: also means over micro-batches

    Raises ValueError if the shapes differ or there is no target.

    >>> identify_denominator(2.0, [[1.0, 3.0]], [[True, True]]).names[0]
    'token mean'
    """
    values = np.atleast_2d(to_array(losses, "losses", 0)).astype(float)
    mask = np.atleast_2d(to_array(target_mask, "target_mask", 0)) != 0
    if values.shape != mask.shape:
        raise ValueError(
            f"losses {values.shape} and target_mask {mask.shape} differ; both are [B, T-1]."
        )
    if not mask.any():
        raise ValueError("no targets: target_mask is all False, so no mean exists.")
    kept = np.where(mask, values, 0.0)
    found = _plain(kept, mask, document_ids, attention_mask)
    if microbatch_size:
        found += _microbatches(kept, mask, microbatch_size)
    matches = tuple(c for c in found if close(c.value, reported, tolerance))
    return Denominators(float(reported), matches, tuple(found))


def _plain(
    kept: np.ndarray, mask: np.ndarray, document_ids: Any, attention_mask: Any
) -> list[Candidate]:
    B, width = kept.shape
    S, N = kept.sum(), int(mask.sum())
    out = [
        Candidate("token mean", f"sum / {N} targets", S / N),
        Candidate("sequence mean", "mean of row means", _group_mean(kept, mask, _rows(kept))),
    ]
    if document_ids is not None:
        ids = np.atleast_2d(to_array(document_ids, "document_ids", -1))
        owners = _rows(kept) * (ids.max() + 2) + ids[:, -width:] + 1
        mean = _group_mean(kept, mask, owners)
        out.append(Candidate("document mean", "mean of document means", mean))
    slots = {
        "slot mean": ("predictions", B * width),
        "slot mean, last column included": ("slots", B * (width + 1)),
        "unshifted count": ("labels before the shift", N + B),
        "row sum": ("rows", B),
    }
    if attention_mask is not None:
        real = int((to_array(attention_mask, "attention_mask", 0) > 0).sum())
        slots["mean over real tokens"] = ("real tokens", real)
    out += [Candidate(name, f"sum / {n} {what}", S / n) for name, (what, n) in slots.items()]
    return [*out, Candidate("sum", "sum", S)]


def _microbatches(kept: np.ndarray, mask: np.ndarray, size: int) -> list[Candidate]:
    cuts = range(0, len(kept), size)
    parts = [Part(kept[a : a + size].sum(), int(mask[a : a + size].sum())) for a in cuts]
    return reductions(parts, "micro-batch", "mean_of_microbatch_means")[1:]


def _rows(kept: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.arange(len(kept))[:, None], kept.shape)


def _group_mean(kept: np.ndarray, mask: np.ndarray, groups: np.ndarray) -> float:
    _, which = np.unique(groups[mask], return_inverse=True)
    sums = np.bincount(which, weights=kept[mask])
    return float((sums / np.bincount(which)).mean())


def group(parts: Sequence[Part], size: int) -> list[list[Part]]:
    """Return parts in groups of `size`, the last one shorter."""
    return [list(parts[a : a + size]) for a in range(0, len(parts), size)]
