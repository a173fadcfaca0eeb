"""`pack_lengths` is held to the plain loops, row by row, and to what every packing must be."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.packing import STRATEGIES, Packing, pack_lengths, plain

WHOLE = [strategy for strategy in STRATEGIES if strategy != "concatenate"]
CASES = json.loads((Path(__file__).parents[1] / "cases" / "systems_open.json").read_text())

capacities = st.integers(1, 40)
instances = capacities.flatmap(
    lambda capacity: st.tuples(
        st.lists(st.integers(1, capacity), min_size=1, max_size=60), st.just(capacity)
    )
)


def pieces(packing: Packing) -> list[list[tuple[int, int, int]]]:
    """The rows as (document, start, stop), read from the arrays."""
    arrays = packing.order, packing.starts, packing.stops
    flat = list(zip(*(array.tolist() for array in arrays), strict=True))
    return [flat[a:b] for a, b in pairwise(packing.offsets.tolist())]


@pytest.mark.parametrize("strategy", WHOLE)
@given(instance=instances)
def test_rows_are_those_of_the_plain_loop(strategy, instance):
    lengths, capacity = instance
    rows = getattr(plain, strategy)(lengths, capacity)
    assert pack_lengths(lengths, capacity, strategy).to_lists() == rows


@given(lengths=st.lists(st.integers(1, 100), min_size=1, max_size=30), capacity=capacities)
def test_concatenate_cuts_where_the_plain_loop_cuts(lengths, capacity):
    packing = pack_lengths(lengths, capacity, "concatenate")
    assert pieces(packing) == plain.concatenate(lengths, capacity)
    assert (packing.fills[:-1] == capacity).all()


@pytest.mark.parametrize("strategy", WHOLE)
@pytest.mark.parametrize("capacity", [2048, 200_000])
def test_rows_are_those_of_the_plain_loop_on_the_lessons_lengths(strategy, capacity):
    drawn = np.random.default_rng(0).lognormal(np.log(512) - 0.5, 1, 1500)
    lengths = np.clip(drawn * (capacity // 2048), 1, capacity).astype(int)
    rows = getattr(plain, strategy)(lengths.tolist(), capacity)
    assert pack_lengths(lengths, capacity, strategy).to_lists() == rows


@pytest.mark.parametrize("longest", [2, 7, 40, 100])
@pytest.mark.parametrize("shortest", [1, 2])
def test_next_fit_in_blocks(longest, shortest):
    """Many rows: several chains are followed at once. Where all lengths are 2 they never meet."""
    drawn = np.random.default_rng(longest).integers(shortest, longest + 1, 10_000)
    for capacity in (100, 103):
        rows = plain.next_fit(drawn.tolist(), capacity)
        assert len(rows) > 90
        assert pack_lengths(drawn, capacity, "next_fit").to_lists() == rows


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(instance=instances)
def test_every_token_lies_in_one_slot(strategy, instance):
    lengths, capacity = instance
    packing = pack_lengths(lengths, capacity, strategy)
    slots = set()
    tokens = set()
    arrays = packing.order, packing.starts, packing.stops, packing.rows, packing.token_offsets
    for number, start, stop, row, slot in zip(*arrays, strict=True):
        slots |= {(row, slot + i) for i in range(stop - start)}
        tokens |= {(number, i) for i in range(start, stop)}
    assert tokens == {(n, i) for n, length in enumerate(lengths) for i in range(length)}
    assert slots == {(r, i) for r, fill in enumerate(packing.fills) for i in range(fill)}
    assert len(slots) == sum(lengths) and packing.fills.max() <= capacity
    assert packing.utilization == pytest.approx(sum(lengths) / (len(packing) * capacity))
    assert packing.gap >= 0


@pytest.mark.parametrize("strategy", WHOLE)
def test_lengths_far_above_the_number_of_documents(strategy):
    """No table of 10**12 entries is made for three documents."""
    huge = 10**12
    assert pack_lengths([huge - 1, huge, 1], huge, strategy).fills.sum() == 2 * huge


@pytest.mark.parametrize(
    ("lengths", "capacity", "rows"),
    [
        ([11, 3, 14, 2, 6, 2, 12, 6, 2, 13, 3], 15, {"best_fit_decreasing": 5, "first_fit": 6}),
        ([11, 3, 14, 2, 6, 2, 12, 6, 2, 13, 3], 15, {"first_fit_decreasing": 6}),
        ([7, 6, 4, 4, 2, 7], 15, {"first_fit": 2, "first_fit_decreasing": 3, "next_fit": 3}),
        ([7, 6, 4, 4, 2, 7], 15, {"best_fit_decreasing": 3}),
        ([6, 5, 2, 9, 8], 15, {"best_fit_decreasing": 2, "next_fit": 3}),
        ([4, 4, 7, 7, 9, 9], 20, {"best_fit_decreasing": 3, "first_fit_decreasing": 3}),
    ],
)
def test_small_instances_that_separate_the_strategies(lengths, capacity, rows):
    assert {s: len(pack_lengths(lengths, capacity, s)) for s in rows} == rows


def _handed() -> list:
    """The measured cases of other systems whose algorithm is one of ours."""
    same = {
        "Axolotl allocate_sequentially (next fit)": "next_fit",
        "Axolotl pack_group (first fit, input order)": "first_fit",
        "NeMo first_fit_decreasing": "first_fit_decreasing",
        "TRL bfd (best fit decreasing)": "best_fit_decreasing",
    }
    return [
        pytest.param(case, same[case["source_path"]], id=case["id"])
        for case in CASES
        if case["source_path"] in same and isinstance(case["input"]["lengths"], list)
    ]


@pytest.mark.parametrize(("case", "strategy"), _handed())
def test_other_systems_fill_the_same_rows(case, strategy):
    lengths = case["input"]["lengths"]
    packing = pack_lengths(lengths, case["settings"]["capacity"], strategy)
    assert [[lengths[i] for i in row] for row in packing] == case["expected"]["bins"]
    assert packing.utilization == pytest.approx(case["expected"]["fill"], abs=1e-4)


def test_enough_handed_cases_were_found():
    assert len(_handed()) >= 14


def test_a_packing_is_a_sequence_of_arrays():
    packing = pack_lengths([4, 3, 2], 6)
    assert len(packing) == 2
    assert packing[0].tolist() == packing[-2].tolist() == [0, 2]
    assert [row.tolist() for row in packing[1:]] == [[1]]
    assert [row.tolist() for row in packing] == packing.to_lists()
    with pytest.raises(IndexError):
        packing[2]
    assert repr(packing) == repr(pack_lengths((4, 3, 2), 6)) and "0x" not in repr(packing)


@pytest.mark.parametrize("form", [list, tuple, np.array, torch.tensor, np.uint16])
def test_lengths_come_in_any_form(form):
    assert pack_lengths(form([4, 3, 2]), 6).to_lists() == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("lengths", "capacity", "strategy", "error", "says"),
    [
        ([], 4, "next_fit", ValueError, "lengths is empty"),
        ([2, 0], 4, "next_fit", ValueError, r"lengths\[1\] is 0"),
        ([2, -3], 4, "concatenate", ValueError, r"lengths\[1\] is -3"),
        ([2.5], 4, "next_fit", TypeError, "whole numbers, got float64"),
        ([True], 4, "next_fit", TypeError, "whole numbers, got bool"),
        (["ab"], 4, "next_fit", TypeError, "whole numbers"),
        ([[1, 2]], 4, "next_fit", ValueError, r"one flat list, got shape \(1, 2\)"),
        ([[1], [1, 2]], 4, "next_fit", ValueError, "ragged"),
        ([2], 0, "next_fit", ValueError, "capacity must be at least 1, got 0"),
        ([2], 4.0, "concatenate", TypeError, "capacity must be a whole number, got 4.0"),
        ([2], 4, "bfd", ValueError, "strategy must be one of 'next_fit'.*got 'bfd'"),
        ([2, 9, 7], 4, "next_fit", ValueError, "document 1 has 9 tokens, more than capacity 4"),
    ],
)
def test_bad_input_gets_one_clear_error(lengths, capacity, strategy, error, says):
    with pytest.raises(error, match=says):
        pack_lengths(lengths, capacity, strategy)


def test_an_overlong_document_is_cut_only_by_concatenate():
    assert pieces(pack_lengths([9], 4, "concatenate")) == [[(0, 0, 4)], [(0, 4, 8)], [(0, 8, 9)]]
    with pytest.raises(ValueError, match='strategy="concatenate"'):
        pack_lengths([9], 4)
