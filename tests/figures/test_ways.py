"""Bars of the ways of filling rows: plain where tokens are, hatched where nothing is."""

import pytest

from course_lib.figures.ways import BAR, way_bars, way_bars_text
from course_lib.packing.costs import compare_costs

COSTS = compare_costs([6, 2, 3, 5, 4, 4], 8, batch_size=3)


def bar(ax, label):
    return next((p for p in ax.patches if p.get_label() == label), None)


def test_a_bar_is_as_long_as_its_slots_and_plain_as_far_as_its_tokens():
    ax = way_bars(COSTS)
    most = max(c.slots for c in COSTS.ways)
    for cost in COSTS.ways:
        tokens, waste = bar(ax, f"tokens {cost.way}"), bar(ax, f"waste {cost.way}")
        assert tokens.get_width() == pytest.approx(24 / most * BAR)
        assert (waste is None) == (cost.slots == 24)
        if waste:
            assert waste.get_width() == pytest.approx((cost.slots - 24) / most * BAR)
            assert waste.get_x() == pytest.approx(tokens.get_x() + tokens.get_width())
    shares = [t.get_text() for t in ax.texts if t.get_text().endswith("%")]
    assert shares == [f"{24 / c.slots:.1%}" for c in COSTS.ways]


def test_the_text_says_the_same():
    lines = way_bars_text(COSTS).splitlines()
    assert lines[0] == "24 tokens in 6 documents; rows of 8 slots"
    assert lines[2].split() == ["padded,", "fixed", "length", "6", "48", "50.0%"]
    assert lines[-1].split() == ["packed,", "best", "fit", "decreasing", "3", "24", "100.0%"]
