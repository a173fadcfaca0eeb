"""Every parameter is one cell, none is forgotten."""

import pytest
from torch import nn

from course_lib.decoder import Decoder, TinyDecoder
from course_lib.figures import parameter_blocks, parameter_blocks_text
from course_lib.figures.parameters import CELL, WIDTH


def cells(ax, part=None):
    chosen = [p for p in ax.patches if part in (None, p.get_label())]
    return sum(len(p.get_path().codes) // 5 for p in chosen)


def test_there_are_423_cells_grouped_by_part():
    model = TinyDecoder()
    ax = parameter_blocks(model)
    assert cells(ax) == 423
    for row in model.parameter_table():
        assert cells(ax, row.part) == row.count


def test_rope_has_no_position_cells():
    ax = parameter_blocks(TinyDecoder(positions="rope"))
    assert cells(ax) == 359 and cells(ax, "position_embedding") == 0


def test_no_cell_lies_outside_the_sheet():
    for patch in parameter_blocks(TinyDecoder()).patches:
        assert patch.get_path().vertices[:, 0].max() <= WIDTH + CELL / 2


def test_the_text_repeats_the_table_of_the_model():
    model = TinyDecoder()
    text = parameter_blocks_text(model).splitlines()
    assert text[0] == "423 parameters in 11 parts"
    assert [line.split()[0] for line in text[1:]] == [row.part for row in model.parameter_table()]


def test_a_larger_model_keeps_the_names_of_its_blocks():
    model = Decoder(vocab_size=7, width=4, heads=2, blocks=2, hidden=16)
    assert "blocks.1.attention.qkv" in parameter_blocks_text(model)


def test_models_that_cannot_be_drawn_are_refused():
    with pytest.raises(ValueError, match="at most 2,000"):
        parameter_blocks(nn.Linear(100, 100))
    with pytest.raises(TypeError, match="expected a model"):
        parameter_blocks_text(423)
