"""The table of systems, computed from the libraries beside us: `python -m tools.systems [--write]`.

Every library is fed with the same two documents, and what it returns is looked at. Without --write
the facts are compared with `course_lib/systems/data/run.json`, and the exit code is 1 if they
differ. The site and Colab have none of these libraries, so the book shows the file; a test
(`tests/interop/test_systems.py`) computes it again and fails on any difference.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from course_lib.systems import System  # noqa: E402
from tools import systems_hf, systems_others, systems_trl  # noqa: E402

FILE = Path(__file__).parents[1] / "course_lib" / "systems" / "data" / "run.json"
ROWS: tuple[Callable[[], System], ...] = (
    systems_hf.padding_collator,
    systems_hf.flattening_collator,
    systems_hf.loss_and_trainer,
    systems_trl.best_fit,
    systems_trl.wrapped,
    systems_others.torchtune,
    systems_others.megatron,
    systems_others.flex_attention,
)
"""One function for each row."""


def as_text(systems: list[System]) -> str:
    """Return what the file holds."""
    data = [system.to_dict() for system in systems]
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Compute all rows; write them, or say what differs from those that are stored."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    options = parser.parse_args(arguments)
    now = as_text([row() for row in ROWS])
    if options.write:
        FILE.write_text(now, "utf8")
        return 0
    before = FILE.read_text("utf8")
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), "stored", "now", n=0)
    print("\n".join(lines) or "every stored fact is what the libraries do")
    return int(before != now)


if __name__ == "__main__":
    sys.exit(main())
