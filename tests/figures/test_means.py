"""The same losses under three denominators: the numbers of the lesson, and bars in proportion."""

import pytest
import torch

from course_lib.figures import denominators, denominators_text

PADDED = torch.tensor([[1.0, 3, 0, 0, 0], [1, 1, 1, 1, 1]])
PACKED = torch.tensor([[1.0, 3, 1, 1, 1, 1, 1]])
DOCUMENTS = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])


def bar(ax, name):
    return next(p for p in ax.patches if p.get_label() == f"{name} 0").get_width()


def test_the_numbers_of_the_lesson():
    text = denominators_text(PACKED, PACKED > 0, DOCUMENTS).splitlines()
    assert text[0] == "7 targets with a loss of 9 in sum"
    assert [" ".join(line.split()) for line in text[1:]] == [
        "token mean 9 / 7 1.286",
        "sequence mean (2 + 1) / 2 1.500",
        "slot mean 9 / 8 1.125",
    ]


def test_bars_are_in_proportion():
    ax = denominators(PACKED, PACKED > 0, DOCUMENTS)
    assert bar(ax, "token mean") / bar(ax, "slot mean") == pytest.approx((9 / 7) / (9 / 8))


def test_without_document_ids_a_sequence_is_a_row():
    text = denominators_text(PADDED, PADDED > 0)
    assert "(2 + 1) / 2" in text and "9 / 10" in text


def test_losses_are_drawn_as_cells_and_those_that_do_not_count_are_hatched():
    ax = denominators(PADDED, PADDED > 0)
    assert len([p for p in ax.patches if p.get_label().startswith("loss ")]) == 10
    hatches = [p for p in ax.patches if p.get_label() == "hatch"]
    assert len(hatches) == 3 + 1  # three cells, and the bar of the slot mean


def test_many_sequences_are_counted_not_listed():
    losses = torch.ones(6, 20)
    assert "mean of 6 means" in denominators_text(losses, losses > 0)
    ax = denominators(losses, losses > 0)
    assert not [p for p in ax.patches if p.get_label().startswith("loss ")]
