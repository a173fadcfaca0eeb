"""Comparisons keep their ratios and say whether a goal is met; stored results can be read."""

from __future__ import annotations

import json

import pytest

from course_lib.bench import Comparison, Comparisons, Report, stored

FAST = Comparison("pack", "TRL", 1.0, 50.0, 50.0, goal=40)
SLOW = Comparison("copy", "numpy", 5.0, 2.0, 2.5, goal=2, sense="share")
ANY = Comparison("loss", "slices", 1.0, 2.0, 2.0)
ALL = Comparisons("a machine", "a clock", "a day", {"torch": "2"}, (FAST, SLOW, ANY), {"x": "y"})


def test_goals() -> None:
    assert [line.met for line in ALL] == [True, False, None]
    assert [line.verdict for line in ALL] == ["goal ≥ 40: met", "goal ≤ 2: missed", ""]
    assert ALL.missed == [SLOW] and len(ALL) == 3
    with pytest.raises(ValueError, match="sense must be one of"):
        Comparison("a", "b", 1.0, 1.0, 1.0, sense="more")


def test_the_table_names_machine_versions_and_what_is_missing() -> None:
    text = str(ALL)
    assert text.startswith("a machine; a clock; a day\ntorch 2\n")
    assert text.endswith("not measured: x: y")
    assert [line for line in text.splitlines() if "missed" in line][0].startswith("copy")


def test_what_is_stored_can_be_read() -> None:
    peers, cpu = stored("peers"), stored("cpu")
    assert isinstance(peers, Comparisons) and isinstance(cpu, Report)
    assert peers.machine and {"torch", "numpy", "transformers", "trl"} <= set(peers.versions)
    assert all(check.equal for check in cpu.checks)
    for row in cpu.rows():
        assert row.way != "padded" or row.speedup == 1
    for line in peers:
        assert line.ours > 0 and line.theirs > 0 and line.ratio > 0
    assert Comparisons.from_dict(json.loads(peers.to_json())) == peers
    assert stored("cuda") is None or stored("cuda").device == "cuda"
