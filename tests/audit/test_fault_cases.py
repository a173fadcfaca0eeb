"""Every recorded fault gets its code at its place, and its repaired twin is clean.

`FAULT_CASES` names another file of the same form.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.audit.case_adapter import report_of, twin_of

CASES = Path(__file__).parent.parent / "cases" / "faults_open.json"


def load() -> list[dict[str, Any]]:
    return json.loads(Path(os.environ.get("FAULT_CASES", CASES)).read_text())


def normal(places: Any) -> list[Any]:
    """Places as sorted lists; in a case of one row the row may be left out."""
    if isinstance(places, str):
        return [places]
    plain = [list(p) if isinstance(p, tuple | list) else p for p in places]
    return sorted(plain, key=str)


def same_places(found: Any, wanted: Any) -> bool:
    if normal(found) == normal(wanted):
        return True
    single = [[0, p] if isinstance(p, int) else p for p in normal(wanted)]
    return normal(found) == sorted(single, key=str)


@pytest.mark.parametrize("case", load(), ids=lambda c: c["id"])
def test_a_fault_gets_its_verdict(case):
    report, verdict = report_of(case["input"]), case["expected_verdict"]
    if verdict["level"] == "ok":
        assert report.codes == [], str(report)
        return
    hits = [f for f in report.findings if f.code == verdict["code"]]
    assert hits, f"{verdict['code']} not found; got {report.codes}\n{report}"
    assert hits[0].severity == verdict["level"]
    assert same_places(hits[0].where, verdict["at"]), f"{hits[0].where} != {verdict['at']}"
    assert hits[0].severity == report.findings[0].severity, "something graver hides it"


@pytest.mark.parametrize("case", load(), ids=lambda c: c["id"])
def test_the_repaired_twin_is_clean(case):
    report = report_of(twin_of(case["input"], case["right_values"]))
    assert all(f.severity == "info" for f in report.findings), str(report)
