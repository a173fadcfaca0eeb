"""Bounds: L1 <= L2 <= optimum <= every strategy, and the optimum against brute force."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.packing import STRATEGIES, lower_bound, optimal_rows, pack_lengths

small = st.integers(1, 30).flatmap(
    lambda capacity: st.tuples(
        st.lists(st.integers(1, capacity), min_size=1, max_size=9), st.just(capacity)
    )
)


def fewest_rows(lengths: list[int], capacity: int) -> int:
    """Try every row for every document."""

    def search(number: int, free: tuple[int, ...]) -> int:
        if number == len(lengths):
            return len(free)
        size = lengths[number]
        options = {
            tuple(sorted(free[:r] + (space - size,) + free[r + 1 :]))
            for r, space in enumerate(free)
            if space >= size
        }
        return min(search(number + 1, f) for f in options | {(*free, capacity - size)})

    return search(0, ())


def l2_by_definition(lengths: list[int], capacity: int) -> int:
    """Martello and Toth's formula, for every threshold."""
    best = 0
    for t in range(capacity // 2 + 1):
        alone = [s for s in lengths if s > capacity - t]
        large = [s for s in lengths if capacity - t >= s > capacity / 2]
        middle = [s for s in lengths if capacity / 2 >= s >= t]
        excess = sum(middle) - (len(large) * capacity - sum(large))
        best = max(best, len(alone) + len(large) + max(0, -(-excess // capacity)))
    return best


@settings(max_examples=60)
@given(instance=small.filter(lambda instance: len(instance[0]) <= 7))
def test_the_optimum_is_what_brute_force_finds(instance):
    lengths, capacity = instance
    rows = optimal_rows(lengths, capacity)
    assert sorted(number for row in rows for number in row) == list(range(len(lengths)))
    assert all(sum(lengths[number] for number in row) <= capacity for row in rows)
    assert len(rows) == fewest_rows(lengths, capacity)


@given(instance=small)
def test_bounds_below_the_optimum_below_every_strategy(instance):
    lengths, capacity = instance
    optimum = len(optimal_rows(lengths, capacity))
    assert lower_bound(lengths, capacity, "L1") <= lower_bound(lengths, capacity) <= optimum
    for strategy in STRATEGIES:
        rows = len(pack_lengths(lengths, capacity, strategy))
        if strategy == "concatenate":
            assert rows == lower_bound(lengths, capacity, "L1")
        else:
            assert optimum <= rows


@given(
    instance=st.integers(1, 50).flatmap(
        lambda capacity: st.tuples(
            st.lists(st.integers(1, capacity), min_size=1, max_size=80), st.just(capacity)
        )
    )
)
def test_l2_is_the_formula(instance):
    lengths, capacity = instance
    assert lower_bound(lengths, capacity) == l2_by_definition(lengths, capacity)


def test_l2_sees_that_large_documents_never_share():
    assert (lower_bound([6, 6, 6], 10, "L1"), lower_bound([6, 6, 6], 10)) == (2, 3)


@pytest.mark.parametrize(
    ("lengths", "capacity", "optimum"),
    [
        ([11, 3, 14, 2, 6, 2, 12, 6, 2, 13, 3], 15, 5),
        ([7, 6, 4, 4, 2, 7], 15, 2),
        ([6, 5, 2, 9, 8], 15, 2),
        ([4, 4, 7, 7, 9, 9], 20, 2),
        ([7, 6, 5, 4, 3, 2, 2, 1], 10, 3),
    ],
)
def test_known_optima(lengths, capacity, optimum):
    assert len(optimal_rows(lengths, capacity)) == optimum


def test_the_exact_optimum_says_where_it_stops():
    assert len(optimal_rows([1] * 14, 14)) == 1
    with pytest.raises(ValueError, match="15 documents.*stops at 14.*lower_bound"):
        optimal_rows([1] * 15, 15)


def test_an_overlong_document_has_no_bound():
    with pytest.raises(ValueError, match="document 1 has 9 tokens, more than capacity 4"):
        lower_bound([2, 9], 4)
    with pytest.raises(ValueError, match="bound must be one of 'L1', 'L2'; got 'L3'"):
        lower_bound([2], 4, "L3")
