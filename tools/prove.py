"""Prove everything: `python -m tools.prove [PART ...]`, which is what `make test` runs.

Every part runs, also after one has failed; the table at the end says how long each took, which
tests were slowest and what failed. The exit code is 0 only if all is well. Parts that mostly wait
for another program run beside the others, and what they print comes when they are done.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from xml.etree import ElementTree

from tools.sources import ROOT, Course

REPORTS = ROOT / "_build" / "proof"
SOLVED = ROOT / "_build" / "solved"
KEPT = ROOT / "_build" / "executed"
CORES = str(os.cpu_count() or 1)
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120",
         "--nbval-kernel-startup-timeout", "180",
         "--nbval-sanitize-with", "tests/notebooks/sanitize.cfg"]


here = threading.local()  # .log: the file that a part beside the others prints to


def run(*command: str, **env: str) -> bool:
    log = getattr(here, "log", None)
    print("$", *(f"{k}={v}" for k, v in env.items()), *command, flush=True, file=log)
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | env, stdout=log, stderr=log and subprocess.STDOUT
    ).returncode == 0


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


ASIDE = ("live", "nbgrader")
"""Parts that wait more than they compute: a JupyterLab that starts, a browser that shows it."""


def timed(name: str) -> tuple[str, float, bool]:
    """Run a part: (name, seconds, whether all is well). One that raises has failed."""
    start = time.monotonic()
    try:
        good = PARTS[name]()
    except Exception:
        traceback.print_exc(file=getattr(here, "log", None))
        good = False
    return name, time.monotonic() - start, good


def timed_aside(name: str) -> tuple[str, float, bool]:
    """Run a part as `timed` does, and print what it printed at its end."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    path = REPORTS / f"{name}.log"
    with path.open("w", encoding="utf8") as here.log:
        row = timed(name)
    said = path.read_text("utf8", errors="replace")
    print(f"\n=== {name}: {PARTS[name].__doc__}", said, sep="\n", flush=True)
    return row


def tally(names: list[str]) -> tuple[int, int, list[tuple[float, str]]]:
    """(passed, failed, [(seconds, test)] slowest first) from the reports of these parts."""
    passed = failed = 0
    seconds: list[tuple[float, str]] = []
    for name in names:
        report = REPORTS / f"{name}.xml"
        for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
            bad = case.find("failure") is not None or case.find("error") is not None
            failed += bad
            passed += not bad and case.find("skipped") is None
            label = f"{case.get('classname')}::{case.get('name')}"
            seconds.append((float(case.get("time", 0)), label))
    return passed, failed, sorted(seconds, reverse=True)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no such part: {unknown[0]}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    names = names or list(PARTS)
    shutil.rmtree(REPORTS, ignore_errors=True)
    aside = [name for name in names if name in ASIDE and len(names) > 1]
    rows: list[tuple[str, float, bool]] = []
    with ThreadPoolExecutor(1) as beside:
        later = beside.map(timed_aside, aside)
        for name in names:
            if name not in aside:
                print(f"\n=== {name}: {PARTS[name].__doc__}", flush=True)
                rows.append(timed(name))
        rows += later
    passed, failed, slowest = tally(names)
    print("\nslowest:", *(f"  {s:6.1f} s  {test}" for s, test in slowest[:10]), sep="\n")
    print("\nparts:", *(f"  {s:6.1f} s  {'ok    ' if ok else 'FAILED'}  {name}"
                        for name, s, ok in rows), sep="\n")
    bad_parts = [name for name, _, ok in rows if not ok]
    print(f"\n{passed} passed, {max(failed, len(bad_parts))} failed")
    return 1 if bad_parts or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
