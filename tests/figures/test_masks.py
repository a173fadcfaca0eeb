"""Masks and weights as grids: every cell's value and fill, labels on both axes, marks."""

import pytest
import torch
from matplotlib.colors import to_hex

from course_lib import causal_mask, document_mask, key_padding_mask, pack_documents, to_additive
from course_lib.figures import (
    attention_mask,
    attention_mask_text,
    attention_weights,
    attention_weights_text,
    masks_side_by_side,
    masks_side_by_side_text,
)
from course_lib.figures.style import color

SEED = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4)
MASK = document_mask(SEED)


def fills(ax):
    found = {p.get_label(): to_hex(p.get_facecolor()) for p in ax.patches}
    return {k: v for k, v in found.items() if "," in k}


def test_true_cells_are_filled_and_false_cells_are_not():
    drawn = fills(attention_mask(MASK, SEED.input_ids[0]))
    assert len(drawn) == 64
    for label, fill in drawn.items():
        q, k = map(int, label.split(","))
        assert fill == color("on" if MASK[0, q, k] else "off")


def test_cells_hold_one_and_zero_beside_the_colour():
    ax = attention_mask(MASK)
    words = [t.get_text() for t in ax.texts]
    assert words.count("1") == int(MASK.sum()) + 2  # the cells, and slot 1 on both axes


def test_both_axes_carry_token_names():
    words = [t.get_text() for t in attention_mask(MASK, SEED.input_ids[0]).texts]
    assert words.count("<eos>") == 2 and "3 <eos>" in words and "query" in words and "key" in words


def test_the_text_repeats_the_mask():
    lines = attention_mask_text(MASK, SEED.input_ids[0]).splitlines()
    assert lines[0] == "mask: 8 queries × 8 keys, 16 of 64 True"
    numbers = [[int(word) for word in line.split()[2:]] for line in lines[2:]]
    assert numbers == MASK[0].int().tolist()
    assert max(map(len, lines)) <= 49


def test_a_key_padding_mask_is_one_row_for_every_query():
    mask = key_padding_mask(torch.tensor([[1, 1, 0]]))
    text = attention_mask_text(mask, [1, 2, 0])
    assert "every query" in text and "keys: 0 a, 1 b, 2 <pad>" in text
    assert len(fills(attention_mask(mask, [1, 2, 0]))) == 3


def test_marks_stand_in_the_figure_and_in_the_text():
    marks = {(5, 1): "sees another document"}
    ax = attention_mask(MASK, marks=marks)
    assert [p.get_label() for p in ax.patches].count("mark") == 1
    text = attention_mask_text(MASK, marks=marks)
    assert "0!" in text and text.endswith("! query 5, key 1: sees another document")


def test_weights_are_numbers_and_nan_is_told_from_zero():
    weights = torch.tensor([[1.0, 0.0], [float("nan"), 0.004]])
    ax = attention_weights(weights)
    assert [t.get_text() for t in ax.texts][-4:] != []
    assert fills(ax)["1,0"] == color("bad_fill")
    assert attention_weights_text(weights).splitlines()[2:] == [
        "0       1.00     0",
        "1        nan  0.00",
    ]


def test_shades_grow_with_the_weight():
    ax = attention_weights(torch.tensor([[0.25, 0.75]]))
    alphas = [p.get_alpha() for p in ax.patches if "," in p.get_label()]
    assert alphas == [0.25, 0.75]


def test_a_title_stands_over_the_grid_and_first_in_the_text():
    assert "causal" in [t.get_text() for t in attention_mask(causal_mask(3), title="causal").texts]
    assert attention_mask_text(causal_mask(3), title="causal").startswith("causal: 3 queries")


def test_masks_side_by_side_keep_their_cells_and_signs():
    causal, keys = causal_mask(3)[None], key_padding_mask(torch.tensor([[1, 1, 0]]))
    masks = {"causal": causal, "keys": keys, "both": causal & keys}
    ax = masks_side_by_side(masks, [1, 2, 0])
    assert len([p for p in ax.patches if "," in p.get_label()]) == 9 + 3 + 9
    words = [t.get_text() for t in ax.texts]
    assert words.index("&") < words.index("=")
    text = masks_side_by_side_text(masks, [1, 2, 0])
    assert text.startswith("causal & keys = both\n\ncausal: ")
    assert attention_mask_text(causal & keys, [1, 2, 0], title="both") in text


def test_signs_must_fit_between_the_masks():
    with pytest.raises(ValueError, match="2 masks have 1 gaps, got 2 signs"):
        masks_side_by_side({"a": causal_mask(2), "b": causal_mask(2)})


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: attention_mask(torch.ones(2, 3, 3, dtype=torch.bool)), ValueError, r"mask\[0\]"),
        (lambda: attention_mask(to_additive(causal_mask(2))), TypeError, "mask == 0"),
        (lambda: attention_weights(causal_mask(2)), TypeError, "floating"),
        (lambda: attention_mask(causal_mask(40)), ValueError, "at most 32"),
        (lambda: attention_mask(causal_mask(3), [1, 2]), ValueError, "2 labels for 3"),
        (lambda: attention_mask(causal_mask(3), marks={(3, 0): "!"}), ValueError, "outside"),
    ],
)
def test_bad_input_gets_one_clear_error(call, error, words):
    with pytest.raises(error, match=words):
        call()
