"""Bars are as long as the speed-up, ticks stand at the bounds."""

import pytest

from course_lib.bench import Measurement, Report
from course_lib.figures import speed_bars, speed_bars_text

REPORT = Report(
    "m", "cpu", "float32", "c", {}, 1,
    (
        Measurement("padded", 8, 16, 64, 120, (12.0, 12.0), 1.0, 2.0),
        Measurement("packed, dense mask", 8, 16, 16, 60, (4.0, 4.0), 1.0, 2.0),
        Measurement("padded", 16, 16, 64, 120, (12.0, 12.0), 1.0, 2.0),
    ),
    (), {},
)  # fmt: skip


def test_lengths_and_ticks() -> None:
    ax = speed_bars(REPORT)
    bars = {p.get_label(): p for p in ax.patches}
    assert bars["packed, dense mask"].get_width() == pytest.approx(3 * bars["padded"].get_width())
    start = bars["padded"].get_x()
    ticks = {line.get_label(): line.get_xdata()[0] - start for line in ax.lines}
    assert ticks["slots"] == pytest.approx(4 * bars["padded"].get_width())
    assert ticks["area"] == pytest.approx(2 * bars["padded"].get_width())
    assert [t.get_text() for t in ax.texts if "slots" in t.get_text()] == [
        "rows of 8 slots", "rows of 16 slots",
    ]  # fmt: skip


def test_text() -> None:
    line = speed_bars_text(REPORT).splitlines()[3]
    assert line.split() == ["8", "packed,", "dense", "mask", "3.0×", "4.0×", "2.0×"]


def test_nothing_measured() -> None:
    with pytest.raises(ValueError, match="no measurement"):
        speed_bars(Report("m", "cpu", "float32", "c", {}, 1, (), (), {}))
