"""A batch as blocks of cells, one block for each tensor."""

import pytest
from matplotlib.colors import to_hex

from course_lib import pack_documents, pad_documents
from course_lib.figures import batch_rows, batch_rows_text
from course_lib.figures.style import color

BATCH = pad_documents([[1, 2, 3], [1, 1]], length=5)


def fills(ax, name):
    found = {p.get_label(): to_hex(p.get_facecolor()) for p in ax.patches}
    return {label: fill for label, fill in found.items() if label.startswith(f"{name} ")}


def test_each_tensor_is_a_block_with_its_shape():
    words = [t.get_text() for t in batch_rows(BATCH).texts]
    for title in ("tokens [2, 5]", "input_ids [2, 5]", "attention_mask [2, 5]", "labels [2, 5]"):
        assert title in words
    assert words.count("-100") == 5 and words.count("<pad>") == 5


def test_padding_and_ignored_labels_are_hatched():
    ax = batch_rows(BATCH, ["labels"])
    ignored = [label for label, fill in fills(ax, "labels").items() if fill == color("ignored")]
    assert ignored == ["labels 0,3", "labels 0,4", "labels 1,2", "labels 1,3", "labels 1,4"]
    assert sum(p.get_label() == "hatch" for p in ax.patches) == 5


def test_targets_stand_under_the_labels_that_they_are():
    ax = batch_rows(BATCH, ["labels", "targets"])
    left = {p.get_label(): p.get_x() for p in ax.patches if "," in p.get_label()}
    assert left["targets 0,1"] == pytest.approx(left["labels 0,1"])
    assert "targets 0,0" not in left
    assert "targets = labels[:, 1:] [2, 4]\n  row 0  2     3  -100  -100" in batch_rows_text(
        BATCH, ["targets"]
    )


def test_the_text_holds_every_number():
    text = batch_rows_text(BATCH, ["input_ids", "labels"]).splitlines()
    assert text[0] == "batch: 2 rows × 5 slots, 3 targets"
    rows = [[int(word) for word in line.split()[2:]] for line in text if line.startswith("  row")]
    assert rows == BATCH.input_ids.tolist() + BATCH.labels.tolist()


def test_documents_of_a_packed_row_are_told_apart_by_a_line():
    ax = batch_rows(pack_documents([[1, 2], [3]], 6, eos_id=4), ["input_ids"])
    assert [line.get_label() for line in ax.lines] == ["boundary"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: batch_rows(BATCH, ["logits"]), ValueError, "fields must be one of"),
        (lambda: batch_rows([[1, 2]]), TypeError, "expected a Batch"),
        (lambda: batch_rows(pad_documents([[1]] * 13)), ValueError, "packed_row"),
    ],
)
def test_bad_input_gets_one_clear_error(call, error, words):
    with pytest.raises(error, match=words):
        call()
