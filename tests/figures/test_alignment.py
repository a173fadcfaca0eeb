"""The shift as arrows: which prediction meets which label, and what is wrong with it."""

import pytest
import torch

from course_lib import pad_documents
from course_lib.figures import shift_alignment, shift_alignment_text
from course_lib.figures.alignment import pairs

BATCH = pad_documents([[1, 2, 3], [1, 1]], length=5)
ABCD = torch.tensor([1, 2, 3, 4])


def arrows(ax):
    return [p.get_label() for p in ax.patches if p.get_label().startswith("arrow")]


def test_each_prediction_points_one_slot_to_the_right():
    ax = shift_alignment(BATCH.input_ids, BATCH.labels)
    assert arrows(ax) == ["arrow 0-1", "arrow 1-2", "arrow 2-3 ignored", "arrow 3-4 ignored"]


def test_arrows_to_ignored_labels_are_dashed_and_crossed():
    ax = shift_alignment(BATCH.input_ids, BATCH.labels)
    dashed = [
        p for p in ax.patches if p.get_label().startswith("arrow") and p.get_linestyle() != "-"
    ]
    assert len(dashed) == 2
    crosses = [line for line in ax.lines if line.get_label() == "cross"]
    assert len(crosses) == 2 * (2 + 2)  # two ignored terms, the last logits, the first label


def test_the_other_row_is_drawn_when_asked_for():
    assert arrows(shift_alignment(BATCH.input_ids, BATCH.labels, row=1))[0] == "arrow 0-1"
    assert "1 loss term" in shift_alignment_text(BATCH.input_ids, BATCH.labels, row=1)


def test_the_text_names_every_prediction_and_the_dropped_label():
    lines = shift_alignment_text(BATCH.input_ids, BATCH.labels).splitlines()
    assert lines[0] == "shift: 5 predictions, 2 loss terms"
    assert lines[1] == "logits 0 (a) -> label 1 (b)"
    assert lines[3].endswith("label 3 (-100): no loss")
    assert lines[5] == "logits 4 (<pad>) -> no label follows"
    assert lines[6] == "label 0 (a) is dropped: nothing predicts it"


def test_a_double_shift_is_marked_as_wrong():
    labels = torch.tensor([2, 3, 4, -100])
    assert arrows(shift_alignment(ABCD, labels)) == [
        "arrow 0-1 wrong", "arrow 1-2 wrong", "arrow 2-3 ignored",
    ]  # fmt: skip
    assert "label 1 (c) ! next is b" in shift_alignment_text(ABCD, labels)


def test_a_missing_shift_scores_every_token_on_itself():
    found = pairs(ABCD.tolist(), ABCD.tolist(), shift=0)
    assert [(p.logit, p.column, p.wrong) for p in found] == [(t, t, True) for t in range(4)]
    assert "4 loss terms" in shift_alignment_text(ABCD, ABCD, shift=0)


def test_labels_that_are_shorter_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match="shifted before are one shorter"):
        shift_alignment(ABCD, ABCD[1:])


def test_a_row_outside_the_batch_is_refused():
    with pytest.raises(ValueError, match="row must be from 0 to 1"):
        shift_alignment_text(BATCH.input_ids, BATCH.labels, row=2)
