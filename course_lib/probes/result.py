"""What every probe returns: a verdict, a sentence, and how sure one may be of it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Probe:
    """The result of a probe; the probes add what they found to it.

    - name       which probe
    - ok         nothing was found that should not be
    - summary    one sentence
    - trials     how often the subject was asked
    - tolerance  differences up to this size count as none (absolute, on logits or losses)
    - seed       what the random changes were drawn with

    >>> Probe("isolation", True, "nothing leaks.", trials=4, tolerance=1e-5, seed=0).ok
    True
    """

    name: str
    ok: bool
    summary: str
    trials: int
    tolerance: float
    seed: int

    def lines(self) -> list[str]:
        """Details below the summary, one a line."""
        return []

    def __str__(self) -> str:
        mark = "ok   " if self.ok else "FOUND"
        how = f"({self.trials} trials, tolerance {self.tolerance:g}, seed {self.seed})"
        details = "".join(f"\n  {line}" for line in self.lines())
        return f"{mark} {self.name}: {self.summary} {how}{details}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def raise_if_found(self) -> None:
        """Raise AssertionError with the whole result unless it is ok; for test suites."""
        if not self.ok:
            raise AssertionError(str(self))
