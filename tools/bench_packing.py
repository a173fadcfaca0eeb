"""How fast the packers are, as ratios within one run, beside TRL, lightbinpack and plain loops.

`python -m tools.bench_packing [--quick] [--json FILE]`. Times are medians of interleaved pairs
(theirs, ours, theirs, ours, …) in processor time, so a busy machine slows both. TRL's placing loop
has its own segment tree, but gets its documents sorted and without Arrow; lightbinpack gets a list.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.packing import pack_lengths, pack_stream, plain

CAPACITY = 2048


@dataclass(frozen=True)
class Line:
    """One comparison: `ratio` is how many times faster ours is, and what is wanted of it."""

    what: str
    lengths: str
    documents: int
    ours_ms: float
    theirs_ms: float
    ratio: float
    goal: float | None

    def __str__(self) -> str:
        goal = (
            "" if self.goal is None else f"  goal {self.goal:g}{' ok' if self.met else ' MISSED'}"
        )
        return (
            f"{self.what:<44} {self.lengths:<10} {self.documents:>9,} "
            f"{self.ours_ms:>9.2f} ms {self.theirs_ms:>10.2f} ms {self.ratio:>8.1f}x{goal}"
        )

    @property
    def met(self) -> bool:
        return self.goal is None or self.ratio >= self.goal


def draw(kind: str, documents: int, seed: int = 0) -> np.ndarray:
    """Return lengths [documents] from 1 to the capacity; "lognormal" has mean 512."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return rng.integers(1, CAPACITY + 1, documents)
    if kind == "pareto":
        return np.clip((rng.pareto(1.5, documents) + 1) * 100, 1, CAPACITY).astype(np.int64)
    return np.clip(rng.lognormal(np.log(512) - 0.5, 1, documents), 1, CAPACITY).astype(np.int64)


def compare(
    what: str,
    kind: str,
    lengths: np.ndarray,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    pairs: int,
    goal: float | None = None,
) -> Line:
    """Time both, one after the other, `pairs` times; the first pair only warms up."""
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for pair in range(pairs + 1):
        for name, function in (("theirs", theirs), ("ours", ours)):
            start = time.process_time()
            function()
            if pair or pairs == 1:
                times[name].append((time.process_time() - start) * 1e3)
        if pairs == 1:
            break
    mine, others = (statistics.median(times[name]) for name in ("ours", "theirs"))
    ratio = statistics.median(t / o for t, o in zip(times["theirs"], times["ours"], strict=True))
    return Line(what, kind, lengths.size, mine, others, ratio, goal)


def trl_placing_loop(lengths: np.ndarray, capacity: int) -> Callable[[], int]:
    """Return TRL's best fit decreasing on sorted lengths, without building rows of tokens."""
    from trl.data_utils import _SegmentTree

    numbers = np.argsort(-lengths, kind="stable")
    falling = lengths[numbers]

    def place() -> int:
        tree = _SegmentTree(capacity)
        tree.add(capacity)
        by_space: dict[int, deque] = defaultdict(deque)
        rows: list[dict[str, Any]] = []
        for length, number in zip(falling, numbers, strict=True):
            space = tree.search(length)
            if space < capacity:
                row = by_space[space].popleft()
            else:
                row = {"ids": [], "length": 0}
                rows.append(row)
            row["ids"].append(number)
            row["length"] += length
            if space < capacity and not by_space[space]:
                tree.remove(space)
            space -= length
            by_space[space].append(row)
            if space > 0:
                tree.add(space)
        return len(rows)

    return place


def against_peers(kind: str, documents: int, pairs: int, goals: dict[str, float]) -> list[Line]:
    """Best fit decreasing beside TRL's loop and the C++ packer; all must need as many rows."""
    import lightbinpack

    lengths = draw(kind, documents)
    as_list = lengths.tolist()
    trl = trl_placing_loop(lengths, CAPACITY)

    def ours() -> int:
        return len(pack_lengths(lengths, CAPACITY))

    def cpp() -> int:
        return len(lightbinpack.pack(as_list, CAPACITY, "bfd"))

    if not ours() == trl() == cpp():
        raise RuntimeError(f"rows differ: {ours()} ours, {trl()} TRL, {cpp()} lightbinpack")
    name = "best_fit_decreasing / "
    return [
        compare(f"{name}TRL loop", kind, lengths, ours, trl, pairs, goals.get("trl")),
        compare(f"{name}lightbinpack", kind, lengths, ours, cpp, pairs, goals.get("cpp")),
    ]


def against_plain(strategy: str, documents: int, pairs: int, kind: str = "lognormal") -> Line:
    """A strategy beside its plain loop, which gets a list, since it is slower on an array."""
    lengths = draw(kind, documents)
    as_list = lengths.tolist()
    loop = getattr(plain, strategy)
    return compare(
        f"{strategy} / plain loop",
        kind,
        lengths,
        lambda: pack_lengths(lengths, CAPACITY, strategy),
        lambda: loop(as_list, CAPACITY),
        pairs,
        goal=10,
    )


def growth(pairs: int) -> float:
    """Return time(1e6 documents) / time(1e4 documents) of best fit decreasing."""
    small, large = draw("lognormal", 10**4), draw("lognormal", 10**6)
    line = compare(
        "growth",
        "lognormal",
        large,
        lambda: pack_lengths(small, CAPACITY),
        lambda: pack_lengths(large, CAPACITY),
        pairs,
    )
    return line.ratio


def stream_lines(documents: int, buffers: Sequence[int]) -> list[str]:
    """Rows of `pack_stream` over those of packing all at once, by buffer."""
    lines = []
    for kind in ("lognormal", "uniform", "pareto"):
        lengths = draw(kind, documents)
        flat = np.zeros(int(lengths.max()), np.int32)
        offline = len(pack_lengths(lengths, CAPACITY))
        parts = []
        for buffer in buffers:
            windows = sum(
                len(pack_lengths(lengths[i : i + buffer], CAPACITY))
                for i in range(0, documents, buffer)
            )
            rows = sum(1 for _ in pack_stream((flat[:n] for n in lengths), CAPACITY, buffer))
            parts.append(
                f"{buffer}: {rows / offline - 1:+.2%} (windows {windows / offline - 1:+.2%})"
            )
        lines.append(f"{kind:<10} {documents:,} documents, {offline:,} rows; " + ", ".join(parts))
    return lines


def run(quick: bool) -> dict[str, Any]:
    """Run everything, print as it goes, and return the results."""
    pairs = 5
    lines: list[Line] = []

    def show(*new: Line) -> None:
        lines.extend(new)
        print(*new, sep="\n", flush=True)

    show(*against_peers("lognormal", 10**4, pairs, {"trl": 10}))
    for kind in ("lognormal", "uniform", "pareto"):
        cpp = {"cpp": 1.1} if kind == "lognormal" else {}
        show(*against_peers(kind, 10**5, pairs, {"trl": 40, **cpp}))
    for strategy in ("next_fit", "concatenate"):
        show(against_plain(strategy, 10**5, pairs))
    for strategy in ("first_fit", "first_fit_decreasing", "best_fit_decreasing"):
        show(against_plain(strategy, 10**4, 1 if quick else pairs))  # these loops are quadratic
    if not quick:
        show(*against_peers("lognormal", 10**6, pairs, {"trl": 100, "cpp": 5}))
        for strategy in ("next_fit", "concatenate"):
            show(against_plain(strategy, 10**6, pairs))
    times = growth(pairs)
    print(f"time for 1e6 / time for 1e4: {times:.1f} (goal: at most 20)")
    stream = stream_lines(10_000 if quick else 50_000, (64, 1000, 4096))
    print("\nrows over packing all at once, pack_stream by buffer", *stream, sep="\n")
    return {"lines": [asdict(line) for line in lines], "growth": times, "stream": stream}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="under a minute, up to 1e5 documents")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    options = parser.parse_args(arguments)
    versions = {name: version(name) for name in ("numpy", "trl", "lightbinpack")}
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(machine, *(f"{name} {v}" for name, v in versions.items()), sep=", ")
    result = {"machine": machine, "versions": versions, **run(options.quick)}
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
