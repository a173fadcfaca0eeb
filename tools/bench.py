"""Everything beside its peers in one run: `python -m tools.bench [--quick] [--write]`.

`make bench` calls it. Prints a table of medians, ratios and goals, and with --write stores it
where the book reads it (`course_lib/bench/results`). Pairs are interleaved (theirs, ours, theirs,
…), the first pair warms up, and the ratio is the median over the pairs. Times are processor time of
this process, which other programs on the machine lengthen far less than the clock on the wall. No
test is timed: goals are looked at here and nowhere else.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from course_lib.bench import Comparison, Comparisons, Report, make_plan, measure  # noqa: E402
from tools import bench_parts  # noqa: E402
from tools.bench_packing import run as run_packing  # noqa: E402

RESULTS = Path(__file__).parents[1] / "course_lib" / "bench" / "results"
LIBRARIES = ("torch", "numpy", "transformers", "trl", "datasets", "lightbinpack")
GOAL_WAY, GOAL_CONTEXT = "packed, per document", 2048
NOT_MEASURED = {
    "make test, minutes": "its own table of times says it",
}


def packing(quick: bool) -> list[Comparison]:
    """The packers, as tools.bench_packing measures them."""
    result = run_packing(quick)
    lines = [
        Comparison(
            f"pack {line['documents']:,} {line['lengths']} lengths, {ours.strip()}", theirs.strip(),
            line["ours_ms"], line["theirs_ms"], line["ratio"], line["goal"],
        )
        for line in result["lines"]
        for ours, _, theirs in [line["what"].partition("/")]
    ]  # fmt: skip
    grown = result["growth"]
    return [
        *lines,
        Comparison("pack 1e6 lengths", "the time for 1e4", grown, 1.0, grown, 20, "share", "×"),
    ]  # fmt: skip


def training(report: Report) -> list[Comparison]:
    """Real tokens per second at the longest rows, beside padding to the context."""
    context = report.contexts[-1]
    rows = {r.way: r for r in report.rows() if r.context == context}
    base = rows["padded"].tokens_per_second
    return [
        Comparison(
            f"train on rows of {context:,}: {way}", "padded", row.tokens_per_second, base,
            row.speedup, 5 if way == GOAL_WAY and context >= GOAL_CONTEXT else None, unit="tok/s",
        )
        for way, row in rows.items()
        if way != "padded"
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under two minutes")
    parser.add_argument("--write", action="store_true", help="store the results for the book")
    parser.add_argument("--only", nargs="*", help="names of parts: packing, training, …")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    parts: dict[str, Callable[[bool], list[Comparison]]] = {
        "packing": packing, **bench_parts.PARTS
    }  # fmt: skip
    wanted = given.only or [*parts, "training"]
    lines: list[Comparison] = []
    not_measured = dict(NOT_MEASURED)
    for name, part in parts.items():
        if name not in wanted:
            continue
        start = time.monotonic()
        try:
            lines += part(given.quick)
        except Exception as error:  # one broken peer must not cost the whole run
            not_measured[name] = f"{type(error).__name__}: {error}"
        print(f"-- {name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    report = None
    if "training" in wanted:
        plan = make_plan("cpu", "quick" if given.quick else "full")
        report = measure(plan, lambda line: print("--", line, file=sys.stderr, flush=True))
        lines += training(report)
    made = Comparisons(
        machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"{os.environ['OMP_NUM_THREADS']} thread of {os.cpu_count()} cores, "
        f"load average {os.getloadavg()[2]:.0f}",
        clock="processor time, medians of interleaved pairs",
        date=datetime.date.today().isoformat(),
        versions={name: version(name) for name in LIBRARIES},
        lines=tuple(lines),
        not_measured=not_measured,
    )
    print(made, *([report] if report else []), sep="\n\n")
    if given.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "peers.json").write_text(made.to_json() + "\n", "utf8")
        if report:
            (RESULTS / "cpu.json").write_text(report.to_json() + "\n", "utf8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
