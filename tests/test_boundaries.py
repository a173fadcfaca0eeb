"""Conversions round-trip, or lose exactly what their docstrings say."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import boundaries as b

lengths = st.lists(st.integers(1, 9), min_size=1, max_size=8)
padding = st.integers(0, 5)


@given(lengths, padding)
def test_lengths_survive_every_form(sizes: list[int], pads: int) -> None:
    total = sum(sizes) + pads
    assert b.lengths_from_cu_seqlens(b.cu_seqlens_from_lengths(sizes)) == sizes
    assert b.lengths_from_document_ids(b.document_ids_from_lengths(sizes, total)) == sizes
    assert b.lengths_from_position_ids(b.position_ids_from_lengths(sizes, total)) == sizes


@given(lengths, padding)
def test_document_and_position_ids_agree(sizes: list[int], pads: int) -> None:
    total = sum(sizes) + pads
    documents = b.document_ids_from_lengths(sizes, total)
    positions = b.position_ids_from_lengths(sizes, total)
    assert torch.equal(b.position_ids_from_document_ids(documents), positions)
    assert torch.equal(b.document_ids_from_position_ids(positions), documents)
    rows = torch.stack([documents, documents])
    assert torch.equal(b.position_ids_from_document_ids(rows)[1], positions)


@given(lengths)
def test_against_the_loop_that_is_the_specification(sizes: list[int]) -> None:
    documents = [d for d, n in enumerate(sizes) for _ in range(n)]
    positions = [p for n in sizes for p in range(n)]
    assert b.document_ids_from_lengths(sizes).tolist() == documents
    assert b.position_ids_from_lengths(sizes).tolist() == positions
    sums = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    assert b.cu_seqlens_from_lengths(sizes).tolist() == sums
    assert b.cu_seqlens_from_lengths(sizes).dtype == torch.int32


def test_left_padding_keeps_positions() -> None:
    documents = torch.tensor([-1, -1, 0, 0, 0])
    assert b.position_ids_from_document_ids(documents).tolist() == [-1, -1, 0, 1, 2]
    assert b.document_starts(documents).tolist() == [False, False, True, False, False]


def test_a_pad_written_as_zero_becomes_a_document_of_one_token() -> None:
    assert b.lengths_from_position_ids([0, 1, 2, 0, 0]) == [3, 1, 1]


def test_the_rest_of_a_cut_document_looks_like_a_whole_one() -> None:
    assert b.lengths_from_position_ids([3, 4, 5, 0, 1, 2]) == [3, 3]


def test_neighbours_with_the_same_id_are_one_document() -> None:
    assert b.lengths_from_document_ids([0, 0, 0, 1]) == [3, 1]


def test_a_document_that_comes_back_is_a_new_run() -> None:
    assert b.lengths_from_document_ids([0, 1, 0]) == [1, 1, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: b.lengths_from_cu_seqlens([1, 4]), "must start at 0, got 1"),
        (lambda: b.lengths_from_cu_seqlens([0, 4, 4]), "must rise at every step"),
        (lambda: b.lengths_from_cu_seqlens([0]), "must rise at every step"),
        (lambda: b.lengths_from_cu_seqlens([0, -1]), r"cu_seqlens\[1\] is -1"),
        (lambda: b.document_ids_from_lengths([4, 3], total=6), "7 tokens, more than total=6"),
        (lambda: b.position_ids_from_lengths([], total=6), "lengths is empty"),
        (lambda: b.cu_seqlens_from_lengths([2**31]), "do not fit in int32"),
    ],
)
def test_bad_boundaries(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_document_behind_padding_begins() -> None:
    assert b.document_ids_from_position_ids([-1, 0, 1, 2]).tolist() == [-1, 0, 0, 0]
    assert b.document_ids_from_position_ids([0, 1, -1, 0, 1]).tolist() == [0, 0, -1, 1, 1]
