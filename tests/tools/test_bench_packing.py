"""The packing benchmark runs and checks itself; how fast anything is, no test says."""

import json

import pytest

from tools import bench_packing


def test_all_packers_need_as_many_rows_and_a_line_says_by_how_much_they_differ():
    lines = bench_packing.against_peers("uniform", 200, pairs=1, goals={"trl": 1e-9, "cpp": 1e9})
    assert [line.met for line in lines] == [True, False]
    assert "MISSED" in str(lines[1]) and "MISSED" not in str(lines[0])


def test_a_packer_that_needs_other_rows_stops_the_benchmark(monkeypatch):
    monkeypatch.setattr(bench_packing, "pack_lengths", lambda *_: [])
    with pytest.raises(RuntimeError, match="rows differ: 0 ours"):
        bench_packing.against_peers("uniform", 200, pairs=1, goals={})


def test_the_results_are_written_as_json(monkeypatch, tmp_path):
    monkeypatch.setattr(bench_packing, "run", lambda quick: {"quick": quick})
    assert bench_packing.main(["--quick", "--json", str(tmp_path / "out.json")]) == 0
    written = json.loads((tmp_path / "out.json").read_text("utf8"))
    assert written["quick"] is True and "trl" in written["versions"]


def test_streams_are_compared_with_packing_all_at_once():
    assert len(bench_packing.stream_lines(300, (20,))) == 3
