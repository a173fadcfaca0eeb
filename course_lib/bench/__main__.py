"""`python -m course_lib.bench [--device cpu|cuda] [--size small|quick|full] [--json]`.

Prints a table, or with --json everything that was measured, as JSON. Progress goes to stderr.
Exit codes: 0 all ways that ran are equal to separate documents, 1 one is not, 2 no such device.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

import torch

from course_lib.bench import SIZES, make_plan, measure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m course_lib.bench",
        description="Time padded and packed training on this machine.",
        epilog="Example: python -m course_lib.bench --device cuda --size full --json > gpu.json",
    )
    there = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda"), default=there)
    parser.add_argument("--size", choices=SIZES, default="quick")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", "flex_attention called without torch.compile")
    try:
        plan = make_plan(given.device, given.size)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    report = measure(plan, say=lambda line: print(line, file=sys.stderr, flush=True))
    print(report.to_json() if given.json else report)
    return 0 if all(check.equal for check in report.checks) else 1


if __name__ == "__main__":
    raise SystemExit(main())
