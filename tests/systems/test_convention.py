"""A, B or B′ is told from a row, and a row that is none of them is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import pack_documents, per_document_shift
from course_lib.systems import boundary_convention

EOS = 4
documents = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=5), min_size=2, max_size=4)


@given(documents, st.sampled_from("AB"))
def test_our_own_rows_are_what_they_were_made_as(docs: list, boundary: str) -> None:
    size = sum(map(len, docs)) + len(docs) + 2
    batch = pack_documents(docs, size, eos_id=EOS, boundary=boundary, strategy="next_fit")
    targets = [*batch.labels[0, 1:].tolist(), -100]
    ended = [[*d, EOS] for d in docs]
    assert boundary_convention(ended, batch.input_ids[0].tolist(), targets) == boundary
    rows = per_document_shift(batch)
    found = boundary_convention(ended, rows.input_ids[0].tolist(), rows.targets[0].tolist())
    assert found == "B′"


def test_a_target_may_be_none_and_the_last_document_cut_off() -> None:
    assert boundary_convention([[1, 4], [2, 3, 4]], [1, 4, 2], [4, None, 3]) == "B"
    assert boundary_convention([[1, 4], [2, 3, 4]], [1, 4, 2], [4, 2, 3]) == "A"


def test_documents_of_one_token_have_no_slot_under_b_prime() -> None:
    assert boundary_convention([[1], [2]], [1, 2], [2, -100]) == "A"
    assert boundary_convention([[1], [2, 3]], [1, 2, 3], [-100, 3, -100]) == "B"
    assert boundary_convention([[1], [2, 3]], [2], [3]) == "B′"


@pytest.mark.parametrize(
    ("docs", "inputs", "targets", "message"),
    [
        ([[1, 4]], [1, 4], [4, -100], "needs two documents"),
        ([[1, 4], [2, 4]], [2, 4, 1, 4], [4, 1, 4, -100], "does not begin with the documents"),
        ([[1, 4], [2, 4]], [1], [4], "does not begin with the documents"),
        ([[1, 4], [2, 3]], [1, 4, 2, 3], [2, 3, 2, 3], "scored on 3, which is neither 2"),
        ([[1, 4], [2, 4], [3, 4]], [1, 4, 2, 4, 3, 4], [4, 2, 4, -100, 4, -100], "differently"),
        ([[1, 4], [2, 4]], [1, 4, 2, 4], [4], "targets has 1 entries for a row of 4"),
        ([[1, 4], [2, 4]], [1, 4, 2, 4], [-100] * 4, "no column has a target"),
        ([[1, 4], [2, 4]], [1, 4, 2, 4], [1, -100, 2, 4], "column 0 is scored on 1, and the token"),
        ([[1, 1], [1, 1]], [1, 1, 1, 1], [1, 1, 1, -100], "fits B′ and another"),
        ([[1], []], [1, 2], [2, -100], "a document is empty"),
    ],
)
def test_what_is_no_convention_is_refused(docs, inputs, targets, message) -> None:
    with pytest.raises(ValueError, match=message):
        boundary_convention(docs, inputs, targets)
