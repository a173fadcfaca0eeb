"""A packing as bars: every token is somewhere, and the rest of a row is hatched."""

import pytest

from course_lib import pack_lengths
from course_lib.figures import packing_rows, packing_rows_text
from course_lib.figures.packings import BAR

LENGTHS = [5, 3, 7, 2, 4, 6, 1, 3]


def bars(ax, word):
    return [p for p in ax.patches if p.get_label().startswith(word)]


@pytest.mark.parametrize("strategy", ["best_fit_decreasing", "next_fit", "concatenate"])
def test_bars_and_gaps_fill_every_row(strategy):
    packing = pack_lengths(LENGTHS, 8, strategy)
    ax = packing_rows(packing)
    tokens = sum(p.get_width() for p in bars(ax, "document")) / BAR * 8
    empty = sum(p.get_width() for p in bars(ax, "empty")) / BAR * 8
    assert tokens == pytest.approx(sum(LENGTHS))
    assert tokens + empty == pytest.approx(8 * len(packing))
    assert sum(p.get_label() == "hatch" for p in ax.patches) == len(bars(ax, "empty"))


def test_the_text_names_documents_and_fills():
    assert packing_rows_text(pack_lengths([4, 3, 2], 6)).splitlines()[1:] == [
        "row 0  6/6  0 (4), 2 (2)",
        "row 1  3/6  1 (3)",
    ]


def test_a_cut_document_says_which_of_its_tokens():
    text = packing_rows_text(pack_lengths([4, 5], 6, "concatenate"))
    assert "1 (0:2)" in text and "1 (2:5)" in text


def test_rows_beyond_the_limit_are_counted():
    packing = pack_lengths([5] * 9, 8)
    assert packing_rows_text(packing, rows=2).endswith("… 7 more rows")
    ax = packing_rows(packing, rows=2)
    assert len(bars(ax, "document")) == 2
    assert ax.texts[-1].get_text() == "… 7 more rows"


def test_rows_must_be_a_count():
    with pytest.raises(ValueError, match="rows must be at least 1"):
        packing_rows(pack_lengths([1], 2), rows=0)
