"""The auditor knows the kind, not the case: generated siblings get the same verdict.

With `FAULT_CASES` the siblings are those of another file.
"""

from __future__ import annotations

import pytest

from tests.audit.case_adapter import report_of, twin_of
from tests.audit.test_fault_cases import load, normal, same_places
from tests.audit.variants import VARIANTS

CASES = load()
SIBLINGS = [
    pytest.param(case, variant, made, id=f"{case['id']}-{variant.__name__}")
    for case in CASES
    for variant in VARIANTS
    if (made := variant(case["input"])) is not None
]


@pytest.mark.parametrize(("case", "variant", "made"), SIBLINGS)
def test_a_sibling_gets_the_same_verdict(case, variant, made):
    given, moved = made
    report, verdict = report_of(given), case["expected_verdict"]
    if verdict["level"] == "ok":
        assert report.codes == [], str(report)
        return
    hits = [f for f in report.findings if f.code == verdict["code"]]
    assert hits, f"{verdict['code']} not found\n{report}"
    assert hits[0].severity == verdict["level"]
    at = verdict["at"]
    wanted = at if isinstance(at, str) else [q for p in at for q in moved(p)]
    assert same_places(hits[0].where, wanted), f"{normal(hits[0].where)} != {normal(wanted)}"


@pytest.mark.parametrize(("case", "variant", "made"), SIBLINGS)
def test_a_repaired_sibling_is_clean(case, variant, made):
    twin = variant(twin_of(case["input"], case["right_values"]))
    if twin is None:  # the repair is of a kind that this variant does not know
        assert variant(case["input"]) is not None
        return
    report = report_of(twin[0])
    assert not report.of("error") + report.of("warn"), str(report)


def test_most_cases_have_two_siblings():
    counts = [sum(p.values[0]["id"] == case["id"] for p in SIBLINGS) for case in CASES]
    batches = [n for n, c in zip(counts, CASES, strict=True) if c["input"]["form"] == "batch"]
    assert sum(n >= 2 for n in batches) >= len(batches) // 2
    assert sum(n >= 1 for n in counts) >= len(counts) * 3 // 4
