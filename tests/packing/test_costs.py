"""The costs of seven ways are those of the batches that the course itself makes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.masks import document_mask
from course_lib.packing import pack_documents, pack_lengths
from course_lib.packing.bounds import lower_bound
from course_lib.packing.costs import PACKED, PADDED, compare_costs
from course_lib.padding import pad_documents

LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=14)


def documents(lengths):
    return [[1] * n for n in lengths]


def batches(lengths, size):
    return [lengths[i : i + size] for i in range(0, len(lengths), size)]


@settings(max_examples=60)
@given(LENGTHS, st.integers(1, 5), st.integers(1, 4))
def test_padding_costs_what_pad_documents_makes(lengths, size, multiple):
    costs = compare_costs(lengths, 12, batch_size=size, multiple_of=multiple)
    longest_first = sorted(lengths, reverse=True)
    made = {
        "fixed": [pad_documents(documents(lengths), length=12)],
        "batch": [pad_documents(documents(b), multiple_of=multiple)
                  for b in batches(lengths, size)],
        "sorted": [pad_documents(documents(b), multiple_of=multiple)
                   for b in batches(longest_first, size)],
    }  # fmt: skip
    for way, padded in made.items():
        shapes = [batch.input_ids.shape for batch in padded]
        cost = costs[way]
        assert cost.rows == sum(b for b, _ in shapes) == len(lengths)
        assert cost.slots == sum(batch.num_slots for batch in padded)
        assert cost.dense == sum(b * t * t for b, t in shapes)
        assert cost.causal == sum(b * t * (t + 1) // 2 for b, t in shapes)
        assert costs.utilization(way) == sum(lengths) / cost.slots


@settings(max_examples=60)
@given(LENGTHS, st.integers(12, 30))
def test_packing_costs_what_pack_documents_makes(lengths, capacity):
    costs = compare_costs(lengths, capacity)
    assert costs.bound == lower_bound(lengths, capacity)
    for way in PACKED:
        batch = pack_documents(documents(lengths), capacity, strategy=way)
        assert costs[way].rows == len(batch) >= costs.bound
        assert costs[way].slots == batch.num_slots
        assert costs[way].dense == len(batch) * capacity**2
        assert costs.within_causal == int(document_mask(batch).sum())
        assert costs.utilization(way) == pytest.approx(batch.utilization)
    assert costs.within == sum(n * n for n in lengths)


def test_a_longer_document_is_cut_and_counted():
    costs = compare_costs([5, 9, 8, 2], 6, batch_size=2)
    assert (costs.cut_documents, costs.cut_tokens, costs.tokens) == (2, 5, 19)
    assert costs.bound == pack_lengths([5, 6, 6, 2], 6).lower_bound == 4


def test_large_numbers_stay_exact():
    costs = compare_costs([10**9, 3], 10**9)
    assert costs["fixed"].dense == 2 * 10**18
    assert costs.within == 10**18 + 9


def test_bad_input_is_one_clear_error():
    with pytest.raises(ValueError, match="lengths is empty"):
        compare_costs([], 8)
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        compare_costs([1], 8, batch_size=0)
    for lengths, capacity, multiple in (
        ([1, 2], 2**63, 1), ([5] * 9, 2**62, 1), ([2**62] * 2, 8, 1), ([3], 8, 10**30),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="more than int64 can count"):
            compare_costs(lengths, capacity, multiple_of=multiple)
    with pytest.raises(KeyError, match="no way 'typo'; there are fixed, batch"):
        _ = compare_costs([1], 8)["typo"]


def test_a_batch_of_more_than_all_documents_is_all_documents():
    assert compare_costs([3, 9, 4], 10, batch_size=10**12) == compare_costs(
        [3, 9, 4], 10, batch_size=3
    )


def test_all_ways_are_there():
    assert [c.way for c in compare_costs([3], 4).ways] == [*PADDED, *PACKED]
