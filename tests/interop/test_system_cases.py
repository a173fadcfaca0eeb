"""What real systems returned for the same inputs: ours agrees, or the convention has a name.

`SYSTEM_CASES` names another file of the same form.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.interop.counterparts import CONVENTIONS, Differs, NoCounterpart, compare

OPEN = Path(__file__).parent.parent / "cases" / "systems_open.json"
FILE = Path(os.environ.get("SYSTEM_CASES", OPEN))
CASES = json.loads(FILE.read_text())


def outcome(case: dict[str, Any]) -> str:
    """"same", the convention that differs, or "none" where ours has nothing alike."""
    try:
        pairs = compare(case)
    except Differs as difference:
        return str(difference)
    except NoCounterpart:
        return "none"
    for theirs, ours in pairs:
        assert theirs == ours, f"{case['system']} {case['source_path']}\n{theirs}\n{ours}"
    return "same"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["id"])
def test_ours_agrees_or_the_convention_has_a_name(case):
    assert outcome(case) in {"same", "none", *CONVENTIONS}


@pytest.mark.skipif(FILE != OPEN, reason="counts belong to the file that stands in the repository")
def test_most_cases_are_compared_and_every_convention_is_met():
    met = Counter(outcome(case) for case in CASES)
    assert met["same"] >= 105 and met["none"] <= 76, met
    assert set(CONVENTIONS) <= set(met), set(CONVENTIONS) - set(met)
