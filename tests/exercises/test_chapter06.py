"""The numbers that exercise 6.5 gives are what their denominators make of the losses."""

import pytest

from course_lib.exercises import given
from tests.exercises.answers.chapter06 import RIGHT


def test_reported_losses_are_the_three_means():
    data = given("6.5")
    flat = [loss for row in data["losses"] for loss in row]
    means = [sum(row) / len(row) for row in data["losses"]]
    by = {
        "token": sum(flat) / len(flat),
        "sequence": sum(means) / len(means),
        "slot": sum(flat) / data["slots"],
    }
    for name, word in RIGHT["6.5"][0].items():
        assert data[name] == pytest.approx(by[word], abs=1e-6)
