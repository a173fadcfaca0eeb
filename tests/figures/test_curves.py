"""Loss curves: means over a window, floors, names beside the lines."""

import numpy as np
import pytest

from course_lib.figures import loss_curves, loss_curves_text
from course_lib.training import History

FALLING = np.linspace(2.0, 1.0, 101)


def line(ax, name):
    return next(artist for artist in ax.lines if artist.get_label() == name)


def test_each_run_is_a_line_that_falls_on_the_sheet():
    heights = line(loss_curves({"right": FALLING}, smooth=1), "right").get_ydata()
    assert heights[0] < heights[-1]  # y grows downwards
    assert np.all(np.diff(heights) > 0)


def test_runs_differ_in_more_than_colour():
    ax = loss_curves({"one": FALLING, "two": FALLING + 1}, smooth=1)
    assert line(ax, "one").get_linestyle() != line(ax, "two").get_linestyle()
    assert {"one", "two"} <= {t.get_text() for t in ax.texts}


def test_a_floor_crosses_the_plot_at_its_own_height():
    ax = loss_curves({"right": FALLING}, {"entropy": 1.0}, smooth=1)
    (low, high), end = line(ax, "floor entropy").get_ydata(), line(ax, "right").get_ydata()[-1]
    assert low == high == pytest.approx(end)


def test_names_that_would_touch_are_moved_apart():
    ax = loss_curves({f"run {i}": FALLING for i in range(4)}, smooth=1)
    heights = sorted(t.get_position()[1] for t in ax.texts if t.get_text().startswith("run"))
    assert min(np.diff(heights)) > 0.4


def test_the_text_gives_start_halfway_and_end():
    text = loss_curves_text({"right": FALLING}, {"entropy": 0.9}, smooth=1)
    assert text.splitlines()[2].split() == ["right", "2.00", "1.50", "1.00"]
    assert text.endswith("floor entropy: 0.90")


def test_smoothing_is_the_mean_of_the_last_steps():
    text = loss_curves_text({"right": [4.0, 2.0, 0.0]}, smooth=2)
    assert text.splitlines()[2].split() == ["right", "4.00", "3.00", "1.00"]


def test_a_history_gives_its_token_means():
    history = History(np.array([6.0, 2.0]), np.array([3, 2]))
    assert "2.00" in loss_curves_text({"right": history}, smooth=1)


def test_a_run_that_became_nan_says_so():
    values = [2.0, 1.0, float("nan")]
    assert loss_curves_text({"broken": values}, smooth=1).splitlines()[2].endswith("nan")
    assert line(loss_curves({"broken": values}, smooth=1), "broken") is not None


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: loss_curves({}), TypeError, "at least one run"),
        (lambda: loss_curves([1.0]), TypeError, "mapping"),
        (lambda: loss_curves_text({"a": []}), ValueError, "'a' has no steps"),
        (lambda: loss_curves_text({"a": [1.0]}, smooth=0), ValueError, "smooth must be at least 1"),
    ],
)
def test_bad_input_gets_one_clear_error(call, error, words):
    with pytest.raises(error, match=words):
        call()
