"""Bars end at the goal's line or beyond it exactly where the goal is met."""

import pytest
from matplotlib.patches import Rectangle

from course_lib.bench import Comparison, Comparisons
from course_lib.figures import goal_bars, goal_bars_text
from course_lib.figures.ratios import GOAL_AT

LINES = (
    Comparison("far", "x", 1.0, 400.0, 400.0, goal=4),
    Comparison("just", "x", 1.0, 40.0, 40.0, goal=40),
    Comparison("short", "x", 1.0, 20.0, 20.0, goal=40),
    Comparison("share", "x", 1.0, 2.0, 0.5, goal=1, sense="share"),
    Comparison("over", "x", 3.0, 1.0, 3.0, goal=2, sense="share"),
    Comparison("no goal", "x", 3.0, 1.0, 3.0),
)
ALL = Comparisons("m", "c", "d", {}, LINES, {})


def test_bars_and_the_line_of_goals() -> None:
    ax = goal_bars(ALL)
    bars = {
        p.get_label(): p.get_x() + p.get_width() for p in ax.patches if isinstance(p, Rectangle)
    }
    assert "no goal" not in bars
    assert bars["just"] == pytest.approx(GOAL_AT)
    assert min(bars["far"], bars["share"]) > GOAL_AT > max(bars["short"], bars["over"])
    assert sum(p.get_label() == "hatch" for p in ax.patches) == 2
    assert sum(line.get_label() == "goal" for line in ax.lines) == 5


def test_the_text_has_every_ratio_and_verdict() -> None:
    text = goal_bars_text(ALL)
    assert text.splitlines()[0] == "3 of 5 goals met"
    assert "over\n  3 times the time of x; goal ≤ 2: missed" in text


def test_no_goal_nothing_drawn() -> None:
    with pytest.raises(ValueError, match="has a goal"):
        goal_bars(Comparisons("m", "c", "d", {}, LINES[-1:], {}))
