"""`audit_dataloader`: the first batches of a training run, in one report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from tqdm.auto import tqdm

from course_lib.audit.batches import audit
from course_lib.audit.report import Finding, Report

KEPT = 20  # places that a merged finding keeps


def audit_dataloader(
    loader: Iterable[Any], steps: int = 20, *, progress: bool = True, **options: Any
) -> Report:
    """Audit the first `steps` batches of a loader and merge what is found.

    Each code has one finding; its places begin with the step, `count` says how many there are in
    all, and the sentence is that of the first batch at fault. A missing EOS is one grade milder
    where other batches have it: truncation takes ends away. `options` are those of `audit`.

    Raises ValueError if the loader is empty.

    >>> from course_lib import pad_documents
    >>> report = audit_dataloader([pad_documents([[1, 2]])] * 3, progress=False)
    >>> report.subject
    '3 batches, 3 targets'
    """
    total = min(steps, len(loader)) if hasattr(loader, "__len__") else steps
    reports = []
    bar = tqdm(islice(loader, steps), total=total, disable=not progress, desc="audit")
    for batch in bar:
        reports.append(audit(batch, **options))
        worst = sum(not r.ok for r in reports)
        bar.set_postfix(batches_with_errors=worst, refresh=False)
    if not reports:
        raise ValueError("the loader gave no batch: is the data set empty, or drop_last on?")
    return merge(reports)


def merge(reports: list[Report]) -> Report:
    """Return one report on several batches; the rows drawn are those of the first one at fault."""
    found: dict[tuple[str, str], list[tuple[int, Finding]]] = {}
    for step, report in enumerate(reports):
        for f in report.findings:
            found.setdefault((f.code, f.severity), []).append((step, f))
    targets = sum(r.targets for r in reports)
    out = Report(f"{len(reports)} batches, {targets} targets", targets=targets)
    out.add(_cut(_merged(hits, len(reports)), len(hits), len(reports)) for hits in found.values())
    out.not_checked = list(dict.fromkeys(n for r in reports for n in r.not_checked))
    out.strips = next((r.strips for r in reports if r.strips), [])
    return out


def _cut(f: Finding, batches: int, total: int) -> Finding:
    """Lower a missing EOS where other batches have it: ends are lost to a cut, not left out."""
    if f.code != "eos_missing" or batches == total:
        return f
    said = f"{f.sentence} EOS ends documents in other batches: were these truncated, or cut?"
    lower = {"error": "warn", "warn": "info"}
    return replace(f, sentence=said, severity=lower.get(f.severity, f.severity))


def _merged(hits: list[tuple[int, Finding]], total: int) -> Finding:
    places: list[Any] = []
    for step, f in hits:
        for place in f.where[: KEPT - len(places)]:
            places.append((step, *place) if isinstance(place, tuple) else (step, place))
    first = hits[0][1]
    said = f"In {len(hits)} of {total} batches, first in batch {hits[0][0]}: {first.sentence}"
    count = sum(f.count for _, f in hits)
    return replace(first, where=tuple(places), sentence=said, count=count)
