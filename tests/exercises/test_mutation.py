"""A sample of broken checks: each must be noticed. All of them: python -m tools.mutate_checks"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.mutate_checks import modules, mutants

ROOT = Path(__file__).parents[2]
EVERY = 80


def test_every_comparison_of_a_module_is_changed_in_three_ways():
    found = list(mutants("chapter05_packing"))
    assert len(found) % 3 == 0 and {m.change.split("  ->  ")[1] for m in found} >= {"True", "False"}
    assert any("placed == list(range(len(lengths)))" in m.change for m in found)
    assert {"forms", "checks", "containers", "chapter02", "verdicts"} <= set(modules())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each mutant lives in a forked process")
def test_no_mutant_of_the_sample_survives():
    command = [sys.executable, "-W", "ignore", "-m", "tools.mutate_checks", "--every", str(EVERY)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and " 0 survivors" in done.stdout, done.stdout + done.stderr
