"""Prove everything: `python -m tools.prove [PART ...]`, which is what `make test` runs.

Every part runs, also after one has failed; the table at the end says how long each took, which
tests were slowest and what failed. The exit code is 0 only if all is well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from xml.etree import ElementTree

from tools.sources import ROOT, Course

REPORTS = ROOT / "_build" / "proof"
SOLVED = ROOT / "_build" / "solved"
KEPT = ROOT / "_build" / "executed"
CORES = str(os.cpu_count() or 1)
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120",
         "--nbval-sanitize-with", "tests/notebooks/sanitize.cfg"]


def run(*command: str, **env: str) -> bool:
    print("$", *(f"{k}={v}" for k, v in env.items()), *command, flush=True)
    return subprocess.run(command, cwd=ROOT, env=os.environ | env).returncode == 0


def python(*arguments: str, **env: str) -> bool:
    return run(sys.executable, *arguments, **env)


def pytest(name: str, *arguments: str, python: str = sys.executable, **env: str) -> bool:
    report = f"--junitxml={REPORTS / name}.xml"
    return run(python, "-m", "pytest", "-q", "-n", CORES, report, *arguments, **env)


def style() -> bool:
    """ruff on everything."""
    return python("-m", "ruff", "check", ".")


def package() -> bool:
    """The package and the machine: unit tests, properties, oracles, doctests."""
    return pytest("package", "--dist", "loadfile", "--doctest-modules",
                  "tests", "course_lib", "tools", "--ignore=tests/site",
                  "--ignore=tests/notebooks", "--ignore=tests/nbgrader", "--ignore=tests/live")


def live() -> bool:
    """The labs in JupyterLab with a real kernel, in processes of their own: one browser each."""
    return pytest("live", "tests/live", "--dist", "loadfile")


def nbgrader() -> bool:
    """The labs' sources in nbgrader, which has an environment of its own (.venv-nbgrader)."""
    return pytest("nbgrader", "tests/nbgrader", "-p", "no:cacheprovider")


def notebooks() -> bool:
    """Every committed notebook: agrees with its source; re-executed, outputs compared."""
    files = [f"{name}.ipynb" for name in Course().pages]
    return pytest("notebooks", "--dist", "loadfile", *NBVAL, *files, "tests/notebooks")


@cache
def make_solved() -> bool:
    """Make the solved labs, once for all parts that run them."""
    shutil.rmtree(SOLVED, ignore_errors=True)
    return python("-m", "tools.notebooks", "--solved", str(SOLVED),
                  "--keep", str(KEPT / "solved"))


def solutions() -> bool:
    """The solved labs: made, executed and re-executed with strict checks."""
    return make_solved() and pytest(
        "solutions", "--dist", "loadfile", *NBVAL, str(SOLVED), COURSE_CHECK="strict")


def colab() -> bool:
    """Every notebook, and the solved labs, executed under the versions that Colab has."""
    own = str(ROOT / ".venv-colab" / "bin" / "python")
    pip = (own, "-m", "pip", "--quiet", "--disable-pip-version-check")
    files = [f"{name}.ipynb" for name in Course().pages]
    shutil.rmtree(ROOT / "build", ignore_errors=True)  # setuptools would pack removed modules too
    return (make_solved() and run(*pip, "install", "--no-deps", "--force-reinstall", str(ROOT))
            and run(own, "-m", "pip", "check")
            and pytest("colab", "--dist", "loadfile", "--nbval-lax", *NBVAL[1:], *files,
                       str(SOLVED), python=own, COURSE_CHECK=""))


def site() -> bool:
    """The site: built clean with every warning an error, then opened in a browser."""
    return python("-m", "tools.site", "--if-changed") and pytest(
        "site", "--dist", "load", "tests/site")


PARTS: dict[str, Callable[[], bool]] = {
    part.__name__: part
    for part in (style, package, live, notebooks, solutions, nbgrader, colab, site)
}


def tally(names: list[str]) -> tuple[int, int, list[tuple[float, str]]]:
    """(passed, failed, [(seconds, test)] slowest first) from the reports of these parts."""
    passed = failed = 0
    timed: list[tuple[float, str]] = []
    for name in names:
        report = REPORTS / f"{name}.xml"
        for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
            bad = case.find("failure") is not None or case.find("error") is not None
            failed += bad
            passed += not bad and case.find("skipped") is None
            label = f"{case.get('classname')}::{case.get('name')}"
            timed.append((float(case.get("time", 0)), label))
    return passed, failed, sorted(timed, reverse=True)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no such part: {unknown[0]}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    names = names or list(PARTS)
    shutil.rmtree(REPORTS, ignore_errors=True)
    rows: list[tuple[str, float, bool]] = []
    for name in names:
        print(f"\n=== {name}: {PARTS[name].__doc__}", flush=True)
        start = time.monotonic()
        good = PARTS[name]()
        rows.append((name, time.monotonic() - start, good))
    passed, failed, timed = tally(names)
    print("\nslowest:", *(f"  {s:6.1f} s  {test}" for s, test in timed[:10]), sep="\n")
    print("\nparts:", *(f"  {s:6.1f} s  {'ok    ' if ok else 'FAILED'}  {name}"
                        for name, s, ok in rows), sep="\n")
    bad_parts = [name for name, _, ok in rows if not ok]
    print(f"\n{passed} passed, {max(failed, len(bad_parts))} failed")
    return 1 if bad_parts or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
