"""`identify_denominator`: the losses of a batch and a number. Which mean of them is it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.audit.means import RTOL, Candidate, Part, close, reductions
from course_lib.audit.reading import to_array

EXACT = 1e-9  # differences below it are rounding
CLEARLY = 10  # so many times nearer than the next one

UNTRIED = {
    "microbatch_size": "means over micro-batches (give microbatch_size)",
    "document_ids": "the mean over documents (give document_ids)",
    "attention_mask": "the mean over real tokens (give attention_mask)",
}


@dataclass(frozen=True)
class Denominators:
    """What `identify_denominator` found: all candidates, those that match, what was not tried."""

    reported: float
    matches: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    tolerance: float = RTOL
    not_tried: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the candidates that match."""
        return [c.name for c in self.matches]

    @property
    def unique(self) -> bool:
        """True when exactly one candidate matches."""
        return len(self.matches) == 1

    @property
    def nearest(self) -> Candidate:
        """The candidate whose value is nearest to the reported number, the first of equals."""
        return min(self.candidates, key=self.distance)

    def distance(self, candidate: Candidate) -> float:
        """How far a candidate is from the reported number, relative to the larger of the two."""
        gap = abs(candidate.value - self.reported)
        return gap / max(abs(candidate.value), abs(self.reported), 1e-300)

    def __str__(self) -> str:
        if self.unique:
            return f"{self.reported:.6g} is the {self.matches[0]}"
        shown = [f"  {c} (off by {self.distance(c):.1g})" for c in self.matches or self.candidates]
        left = [f"  not tried: {what}" for what in self.not_tried]
        return "\n".join([self._verdict(), *shown, *left])

    def _verdict(self) -> str:
        best = self.nearest
        if not self.matches:
            return (
                f"{self.reported:.6g} is none of these; the nearest is the {best.name}, "
                f"off by {self.distance(best):.1g} (tolerance {self.tolerance:g}):"
            )
        fits = f"{self.reported:.6g} fits {len(self.matches)} candidates"
        off = sorted(self.distance(c) for c in self.matches)
        if off[1] <= CLEARLY * max(off[0], EXACT):
            return f"{fits}; these losses cannot tell them apart:"
        return (
            f"{fits} within a tolerance of {self.tolerance:g}, and the {best.name} best; "
            "a smaller tolerance tells them apart:"
        )

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

    - losses, target_mask    [B, T-1], over shifted predictions; the mask is `labels[:, 1:] != -100`
    - document_ids           [B, T]: also the mean over documents
    - attention_mask         [B, T]: also the mean over real tokens
    - microbatch_size        rows in each micro-batch: also means over micro-batches

    Micro-batches of unlike widths are padded to one width and stacked, the mask False there.

    Raises ValueError if rows are ragged, the shapes differ, the mask is not of booleans or 0 and
    1 (labels are no mask), or there is no target.

    >>> labels = np.array([[5, 6, -100, 7]])
    >>> identify_denominator(2.0, [[1.0, 0.0, 3.0]], labels[:, 1:] != -100).names[0]
    'token mean'
    """
    values = _rectangle(losses, "losses").astype(float)
    mask = _as_mask(_rectangle(target_mask, "target_mask"))
    if values.shape != mask.shape:
        raise ValueError(
            f"losses {values.shape} and target_mask {mask.shape} differ; both are [B, T-1]."
        )
    if not mask.any():
        raise ValueError("no targets: target_mask is all False, so no mean exists.")
    kept = np.where(mask, values, 0.0)
    found = _plain(kept, mask, document_ids, attention_mask)
    if microbatch_size:
        known = {c.name for c in found}
        parts = _microbatches(kept, mask, microbatch_size)
        found += [c for c in parts if c.name not in known]
    matches = tuple(c for c in found if close(c.value, reported, tolerance))
    given = {"microbatch_size": microbatch_size or None, "document_ids": document_ids,
             "attention_mask": attention_mask}  # fmt: skip
    untried = tuple(said for name, said in UNTRIED.items() if given[name] is None)
    return Denominators(float(reported), matches, tuple(found), tolerance, untried)


def _rectangle(value: Any, name: str) -> np.ndarray:
    """Return `value` as an array of two axes; refuse rows of unlike lengths."""
    array = None if _ragged(value) else to_array(value, name, 0)
    if array is None or array.ndim > 2:
        raise ValueError(
            f"{name} must be one rectangle [B, T-1], but its rows have unlike lengths or axes. "
            "Pad every row (or micro-batch) to one width, with target_mask False there, and stack "
            "them."
        )
    return np.atleast_2d(array)


def _ragged(value: Any) -> bool:
    """A list of rows of unlike lengths.

    >>> _ragged([[1, 2], [3]]), _ragged([[1, 2], [3, 4]])
    (True, False)
    """
    if not isinstance(value, list | tuple):
        return False
    return len({tuple(getattr(row, "shape", ())) or np.size(row) for row in value}) > 1


def _as_mask(mask: np.ndarray) -> np.ndarray:
    """Return a mask as bool; refuse numbers other than 0 and 1, such as labels."""
    if mask.dtype != bool and not np.isin(mask, (0, 1)).all():
        wrong = mask[~np.isin(mask, (0, 1))][0]
        raise ValueError(
            f"target_mask must hold True and False (or 1 and 0), got {wrong:g}. Labels are no "
            "mask: give labels[:, 1:] != -100."
        )
    return mask != 0


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
    return [*out, Candidate("sum", "all losses added up", S)]


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
