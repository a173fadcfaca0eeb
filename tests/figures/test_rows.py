"""A row as strips of cells: what each cell says, where the boundary is, what is marked."""

import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from course_lib import Batch, pack_documents, pad_documents, per_document_shift
from course_lib.figures import packed_row, packed_row_text
from course_lib.figures.style import color

SEED = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4)


def cells(ax, name):
    """The fill colours of one strip, by slot."""
    found = {p.get_label(): to_hex(p.get_facecolor()) for p in ax.patches}
    return [found[f"{name} {t}"] for t in range(len(found)) if f"{name} {t}" in found]


def words_in(ax, name):
    """The words in the cells of one strip, by slot."""
    boxes = [p for p in ax.patches if p.get_label().rsplit(" ", 1)[0] == name]
    texts = {tuple(round(v, 3) for v in t.get_position()): t.get_text() for t in ax.texts}
    middles = [(p.get_x() + p.get_width() / 2, p.get_y() + p.get_height() / 2) for p in boxes]
    return [texts[tuple(round(v, 3) for v in m)] for m in middles]


def test_the_strips_hold_the_row_of_the_lesson():
    ax = packed_row(SEED)
    assert words_in(ax, "token") == "a b c <eos> a a <eos> <pad>".split()
    assert words_in(ax, "id") == "1 2 3 4 1 1 4 0".split()
    assert words_in(ax, "document") == "0 0 0 0 1 1 1 -1".split()
    assert words_in(ax, "position") == "0 1 2 3 0 1 2 -1".split()
    assert words_in(ax, "label") == "1 2 3 4 1 1 4 -100".split()
    assert words_in(ax, "counts?") == ["start", *"✓✓✓✓✓✓", "pad"]


def test_documents_have_tints_and_padding_is_hatched():
    ax = packed_row(SEED)
    first, second, padding = color("doc0"), color("doc1"), color("ignored")
    assert cells(ax, "id") == [first] * 4 + [second] * 3 + [padding]
    assert sum(p.get_label() == "hatch" for p in ax.patches) == 5  # one in each strip of cells


def test_one_thick_line_where_the_second_document_begins():
    ax = packed_row(SEED)
    (line,) = [artist for artist in ax.lines if artist.get_label() == "boundary"]
    start = next(p for p in ax.patches if p.get_label() == "id 4")
    assert line.get_xdata()[0] == pytest.approx(start.get_x())


def test_convention_b_shows_the_boundary_label_as_ignored():
    ax = packed_row(pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4, boundary="B"))
    assert words_in(ax, "label")[4] == "-100"
    assert words_in(ax, "counts?")[4] == "bound."
    assert cells(ax, "label")[4] == color("ignored")


def test_a_shifted_batch_shows_targets_that_all_count():
    shifted = per_document_shift(SEED)
    ax = packed_row(shifted)
    assert words_in(ax, "target") == [str(t) for t in shifted.targets[0].tolist()]
    assert packed_row_text(shifted).splitlines()[0] == "row 0: 5 slots, 2 documents, 5 targets"


def test_the_text_says_what_the_figure_shows():
    text = packed_row_text(SEED).splitlines()
    assert text[0] == "row 0: 8 slots, 2 documents, 6 targets"
    assert text[2].split() == ["0", "a", "1", "0", "0", "1", "row", "start"]
    assert text[-1].split() == ["7", "<pad>", "0", "-1", "-1", "-100", "padding"]
    assert max(map(len, text)) <= 44


def test_prompts_are_named_and_wide_tokens_get_wide_cells():
    batch = pad_documents([[5, 1, 6, 2]], prompt_lengths=[3])
    ax = packed_row(batch)
    widths = {p.get_label(): p.get_width() for p in ax.patches if p.get_label() != "hatch"}
    assert widths["token 2"] > 1.5 * widths["token 1"]
    assert "prompt" in packed_row_text(batch)


def test_ids_outside_the_toy_vocabulary_need_no_names():
    batch = Batch.from_dict({"input_ids": [[1000, 2000]], "labels": [[1000, 2000]]})
    ax = packed_row(batch)
    assert words_in(ax, "id") == ["1000", "2000"]
    assert not any(p.get_label().startswith("token") for p in ax.patches)


def test_marks_frame_a_slot_or_a_cell_of_this_row_only():
    marks = {(0, 2): "!", (0, 4, "labels"): "should be -100", (1, 0): "elsewhere"}
    ax = packed_row(SEED, marks=marks)
    frames = [p for p in ax.patches if p.get_label() == "mark"]
    assert len(frames) == 2
    text = packed_row_text(SEED, marks=marks)
    assert "! should be -100" in text.splitlines()[6]
    assert "elsewhere" not in text


def test_it_draws_on_the_axes_it_is_given():
    ax = Figure(figsize=(3, 2)).add_subplot()
    assert packed_row(SEED, ax=ax) is ax
    small = max(t.get_fontsize() for t in ax.texts)
    assert small < max(t.get_fontsize() for t in packed_row(SEED).texts)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: packed_row(SEED, 1), ValueError, "row must be from 0 to 0"),
        (lambda: packed_row(torch.ones(1, 2)), TypeError, "expected a Batch, got Tensor"),
        (lambda: packed_row(SEED, marks={(0, 9): "!"}), ValueError, "lies outside the row"),
        (lambda: packed_row(SEED, marks={(0, 1, "tokens"): "!"}), ValueError, "field one of"),
        (lambda: packed_row_text(pad_documents([[1] * 65])), ValueError, "at most 64"),
    ],
)
def test_bad_input_gets_one_clear_error(call, error, words):
    with pytest.raises(error, match=words):
        call()
