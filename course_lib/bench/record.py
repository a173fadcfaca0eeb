"""What was measured, in a form that a lab, a chapter and a file of JSON share."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from course_lib.bench.equal import Check

FIRST = "padded"
"""The way that the others are compared with."""


@dataclass(frozen=True)
class Measurement:
    """One way at one context.

    - context            slots in a full row
    - real_tokens, slots, area   of one batch; area in (query, key) pairs of one layer and head
    - ms                 milliseconds of forward and backward, one for each round
    - peak_mib           peak memory of a step, in MiB, beyond what is held between steps
    - loss               its loss, which all ways must share
    """

    way: str
    context: int
    real_tokens: int
    slots: int
    area: int
    ms: tuple[float, ...]
    peak_mib: float
    loss: float

    @property
    def tokens_per_second(self) -> float:
        """Real tokens in a second, by the median of the rounds."""
        return self.real_tokens / statistics.median(self.ms) * 1e3

    @property
    def utilization(self) -> float:
        """Real tokens / slots."""
        return self.real_tokens / self.slots


@dataclass(frozen=True)
class Row:
    """A measurement beside `padded`, and the two bounds: fewer slots, fewer scores."""

    way: str
    context: int
    tokens_per_second: float
    peak_mib: float
    speedup: float
    slot_bound: float
    area_bound: float


@dataclass(frozen=True)
class Report:
    """All measurements of one run, with what is needed to judge them."""

    machine: str
    device: str
    dtype: str
    clock: str
    versions: dict[str, str]
    parameters: int
    measurements: tuple[Measurement, ...]
    checks: tuple[Check, ...]
    left_out: dict[str, str]
    notes: tuple[str, ...] = ()
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def contexts(self) -> list[int]:
        """The contexts that were measured, growing."""
        return sorted({m.context for m in self.measurements})

    def rows(self) -> Iterator[Row]:
        """Yield each measurement compared with `padded` at the same context, round by round."""
        first = {m.context: m for m in self.measurements if m.way == FIRST}
        for m in self.measurements:
            base = first[m.context]
            ratios = [b / ours for b, ours in zip(base.ms, m.ms, strict=True)]
            yield Row(
                m.way, m.context, m.tokens_per_second, m.peak_mib, statistics.median(ratios),
                base.slots / m.slots, base.area / m.area,
            )  # fmt: skip

    def to_json(self) -> str:
        """Return everything as JSON, without the derived rows."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Report:
        """Return the report whose `to_json` gave `data`.

        >>> report = Report("m", "cpu", "float32", "c", {}, 1, (), (), {})
        >>> Report.from_dict(json.loads(report.to_json())) == report
        True
        """
        measured = tuple(Measurement(**m | {"ms": tuple(m["ms"])}) for m in data["measurements"])
        checks = tuple(Check(**c) for c in data["checks"])
        rest = {"measurements": measured, "checks": checks, "notes": tuple(data["notes"])}
        return cls(**data | rest)

    def __str__(self) -> str:
        head = [
            f"{self.machine}; {self.device}, {self.dtype}, {self.clock}",
            ", ".join(f"{name} {v}" for name, v in self.versions.items())
            + f"; decoder of {self.parameters:,} parameters",
            "",
            f"{'context':>7}  {'way':<20} {'real tokens/s':>13} {'peak MiB':>9} {'speed-up':>8}"
            f" {'by slots':>8} {'by area':>8}",
        ]
        body = [
            f"{r.context:>7,}  {r.way:<20} {r.tokens_per_second:>13,.0f} {r.peak_mib:>9,.1f}"
            f" {r.speedup:>7.1f}× {r.slot_bound:>7.1f}× {r.area_bound:>7.1f}×"
            for r in self.rows()
        ]
        checked = [
            f"{c.way} against separate documents: {'equal' if c.equal else 'DIFFERENT'}"
            f" (logits {c.logits:.0e}, loss {c.loss:.0e}, gradient "
            + (f"{c.gradient:.0e})" if c.gradient is not None else "not run)")
            for c in self.checks
        ]
        left = [f"left out: {way}: {reason}" for way, reason in self.left_out.items()]
        return "\n".join([*head, *body, "", *checked, *left, *self.notes])
