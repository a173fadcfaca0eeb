"""Every tile is drawn as what the mask says about it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import document_ids_from_lengths, document_mask
from course_lib.figures import attention_tiles, attention_tiles_text
from course_lib.figures.tiles import KINDS, _kinds


def labels(ax):
    return [p.get_label() for p in ax.patches]


@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.integers(2, 4))
def test_kinds_are_those_of_the_mask(lengths: list[int], tile: int) -> None:
    ids = document_ids_from_lengths(lengths, -(-sum(lengths) // tile) * tile)
    _, kinds = _kinds(ids, tile)
    mask = document_mask(ids)
    for i, row in enumerate(kinds):
        for j, kind in enumerate(row):
            cells = mask[i * tile :, j * tile :][:tile, :tile]
            assert kind == KINDS[int(cells.any()) + int(cells.all())]


def test_the_drawing_and_its_twin() -> None:
    ids = torch.tensor([0, 0, 0, 0, 1, 1, 1, -1])
    drawn = labels(attention_tiles(ids, 2))
    text = attention_tiles_text(ids, 2)
    assert text.splitlines()[0] == "8 slots in tiles of 2 × 2: 10 skipped, 5 partial, 1 full"
    assert [drawn.count(kind) for kind in KINDS] == [10, 5, 1]
    assert drawn.count("cell") == 5 * 4
    assert text.splitlines()[3].split() == ["2-3", "full", "partial", "skipped", "skipped"]


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="a multiple of 3 slots"):
        attention_tiles(torch.zeros(4, dtype=torch.long), 3)
    with pytest.raises(ValueError, match="one row"):
        attention_tiles_text(torch.zeros(1, 4, dtype=torch.long), 2)
