"""A sample of broken checks: each must be noticed. All of them: python -m tools.mutate_checks"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import mutate_checks
from tools.mutate_checks import modules, mutants, noticed, survivors

ROOT = Path(__file__).parents[2]
EVERY = 80
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="each mutant lives in a forked process")


def test_every_comparison_of_a_module_is_changed_in_three_ways():
    found = list(mutants("chapter05_packing"))
    assert len(found) % 3 == 0 and {m.change.split("  ->  ")[1] for m in found} >= {"True", "False"}
    assert any("placed == list(range(len(lengths)))" in m.change for m in found)
    assert {"forms", "checks", "containers", "chapter02", "verdicts"} <= set(modules())


def test_no_module_that_judges_is_left_out():
    left_out = {path.stem for path in mutate_checks.ROOM.glob("*.py")} - set(modules())
    assert left_out == {"cases", "cases_faults", "__init__"}


@FORKS
def test_a_busy_machine_changes_no_result_and_an_endless_loop_ends(monkeypatch):
    def waits(mutant):
        time.sleep(0.5)
        return True

    def spins(mutant):
        while True:
            pass

    monkeypatch.setattr(mutate_checks, "CPU_SECONDS", 0.2)
    monkeypatch.setattr(mutate_checks, "_same_as_before", waits)
    assert not noticed("forms"), "waiting for a processor is no difference"
    monkeypatch.setattr(mutate_checks, "_same_as_before", spins)
    assert noticed("forms")


@FORKS
def test_nothing_is_tried_where_the_tests_fail_as_they_are(monkeypatch):
    monkeypatch.setattr(mutate_checks, "_same_as_before", lambda mutant: False)
    with pytest.raises(RuntimeError, match="fail without any change"):
        survivors(["chapter05_packing"])


@FORKS
def test_no_mutant_of_the_sample_survives():
    command = [sys.executable, "-W", "ignore", "-m", "tools.mutate_checks", "--every", str(EVERY)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and " 0 survivors" in done.stdout, done.stdout + done.stderr
