"""The benchmark takes its ratios pair by pair and knows its parts."""

from __future__ import annotations

import json

import pytest

from course_lib.bench import Comparison, Comparisons, Measurement, Report
from tools import bench, bench_parts


class Clock:
    """A clock that moves only when a call says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def spends(self, seconds: list[float]):
        times = iter(seconds)

        def call() -> None:
            self.now += next(times)

        return call


def test_medians_of_interleaved_pairs() -> None:
    clock = Clock()
    ours, theirs = clock.spends([9, 1, 2, 4]), clock.spends([9, 10, 40, 20])
    line = bench_parts.beside(
        "a", "b", ours, theirs, pairs=3, goal=10, clock=lambda: clock.now
    )
    assert (line.ours, line.theirs, line.ratio, line.met) == (2000, 20000, 10, True)


def test_a_share_is_the_other_way_round() -> None:
    clock = Clock()
    ours, theirs = clock.spends([0, 0, 3, 3]), clock.spends([0, 0, 2, 2])
    line = bench_parts.beside("a", "b", ours, theirs, pairs=1, repeat=2, sense="share",
                              goal=2, clock=lambda: clock.now)  # fmt: skip
    assert (line.ours, line.ratio, line.met) == (3000, 1.5, True)


def test_training_lines_come_from_the_longest_rows() -> None:
    def at(way: str, context: int, ms: float) -> Measurement:
        return Measurement(way, context, 100, 400, 9, (ms,), 1.0, 2.0)

    report = Report(
        "m", "cpu", "float32", "c", {}, 1,
        (at("padded", 8, 1.0), at("padded", 2048, 12.0), at("packed, per document", 2048, 2.0)),
        (), {},
    )  # fmt: skip
    (line,) = bench.training(report)
    assert (line.ratio, line.goal, line.met) == (6.0, 5, True)
    assert line.what == "train on rows of 2,048: packed, per document"


def test_a_part_whose_library_is_not_there_is_named(monkeypatch, tmp_path, capsys) -> None:
    def missing(quick: bool) -> list[Comparison]:
        raise ImportError("no module named trl")

    monkeypatch.setattr(bench_parts, "PARTS", {"streaming": missing, "pages": bench_parts.pages})
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    assert bench.main(["--quick", "--write", "--only", "streaming", "pages"]) == 0
    made = Comparisons.from_dict(json.loads((tmp_path / "peers.json").read_text()))
    assert made.not_measured["streaming"] == "ImportError: no module named trl"
    assert [line.unit for line in made] == ["kB"]
    assert not (tmp_path / "cpu.json").exists()
    assert "60 kB" in capsys.readouterr().out


def test_every_part_has_a_name_of_its_own() -> None:
    assert set(bench_parts.PARTS) >= {
        "collating", "streaming", "masks", "block_tables", "decoder_step", "losses", "auditing",
        "importing", "grading", "pages",
    }  # fmt: skip
    assert all(part.__doc__ for part in bench_parts.PARTS.values())


@pytest.mark.parametrize("part", ["pages", "losses"])
def test_small_parts_run(part: str) -> None:
    lines = bench_parts.PARTS[part](True)
    assert lines and all(isinstance(line, Comparison) for line in lines)
