"""Forms tell type from shape from dtype from value, in this order."""

from collections import deque

import numpy as np
import pytest
import torch

from course_lib.exercises.containers import Fields, Items, Places, Rows, listed, parts, places
from course_lib.exercises.forms import Numbers, One, alike, as_array, numbers, scalar
from course_lib.exercises.plain import plain

IDS = Numbers("ids", "int", ("row", "slot"))
MASK = Numbers("mask", "bool", ("query", "key"))
DRAWN = Numbers("mask", "bool", ("query", "key"), digits=True)
FLOATS = Numbers("losses", "float", ("row",))


def compare(form, expected, got):
    return form.compare(plain(expected), plain(got))


@pytest.mark.parametrize(
    "got", [[[1, 2]], ((1, 2),), np.array([[1, 2]]), torch.tensor([[1, 2]]), [torch.tensor([1, 2])]]
)
def test_equal_numbers_in_any_container(got):
    assert compare(IDS, [[1, 2]], got) is None


@pytest.mark.parametrize(
    "form, got, problem",
    [
        (IDS, 3, "ids must be whole numbers for each row and slot; you gave a whole number"),
        (IDS, {"a": 1}, "you gave a dict"),
        (IDS, [[1], [2, 3]], "ragged"),
        (IDS, [["a", 2]], "no number"),
        (IDS, [[1.0, 2.0]], "dtype: ids must be whole numbers"),
        (IDS, torch.tensor([[True, False]]), "yours holds torch.bool (True, …)"),
        (MASK, [[1, 0]], "mask must be truth values"),
        (DRAWN, [[1, 2]], "mask must be truth values"),
        (DRAWN, [[1.0, 0.0]], "yours holds a list of float64"),
        (FLOATS, torch.tensor([True]), "losses must be numbers"),
        (Numbers("cu", "int", ("n",), dtype="int32"), [1, 2], "int32 tensor or array; you gave"),
        (Numbers("cu", "int", ("n",), dtype="int32"), torch.tensor([1]), "yours is torch.int64"),
        (Numbers("t", "int", ("n",), tensor=True), [1, 2], "t must be a tensor or array"),
    ],
)
def test_wrong_type_is_told_first(form, got, problem):
    found = compare(form, [[1, 2]], got)
    assert found.malformed and problem in found.problem


def test_shape_comes_before_values():
    found = compare(IDS, [[1, 2]], [[9, 9, 9]])
    assert found.malformed and (found.expected, found.got) == ("[1, 2]", "[1, 3]")
    assert found.problem == "shape of ids (axes: row, slot)"
    assert compare(IDS, [[1, 2]], []).expected == "[1, 2]"


def test_first_value_that_differs():
    found = compare(IDS, [[1, 2], [3, 4]], [[1, 2], [5, 6]])
    assert not found.malformed and found.index == (1, 0)
    assert (found.problem, found.expected, found.got) == ("ids: row 1, slot 0", "3", "5")
    assert compare(DRAWN, [[True, False]], [[1, 1]]).problem == "mask: query 0, key 1"
    assert compare(DRAWN, [[True, False]], [[1, 0]]) is None
    assert compare(MASK, [[True]], [[True]]) is None
    assert compare(IDS, [[10**6, 2]], [[10**6 + 1, 2]]).index == (0, 0)


def test_floats_agree_within_the_tolerance_and_nan_never():
    assert compare(FLOATS, [1.0, 2.0], [1.000001, 2]) is None
    assert compare(FLOATS, [1.0, 2.0], [1.001, 2]).index == (0,)
    assert compare(FLOATS, [1.0], [float("nan")]).got == "nan"
    assert compare(FLOATS, [1.0, 2.0], [1, 2]) is None


@pytest.mark.parametrize(
    "form, got",
    [
        (One("n"), 3), (One("n"), np.int32(3)), (One("n"), torch.tensor([3])),
        (One("x", "float"), 3.000001), (One("x", "float"), 3), (One("x", "float"), np.float32(3)),
    ],
)  # fmt: skip
def test_one_value_in_any_form(form, got):
    assert compare(form, 3, got) is None


@pytest.mark.parametrize(
    "form, got, problem",
    [
        (One("n"), 3.0, "n must be a whole number; you gave a float, 3.0"),
        (One("n"), True, "you gave a truth value, True"),
        (One("n"), torch.tensor([3, 3]), "you gave a torch.int64 tensor of shape [2]"),
        (One("b", "bool"), 1, "b must be True or False; you gave a whole number, 1"),
        (One("x", "float"), "3", "x must be one number; you gave a text, '3'"),
        (One("w", "word", ("a", "b")), "c", "w must be one of 'a', 'b'; you gave 'c'"),
        (One("w", "word", ("a", "b")), 1, "w must be one of 'a', 'b'; you gave a whole number"),
    ],
)
def test_one_value_of_a_wrong_type(form, got, problem):
    found = compare(form, 3, got)
    assert found.malformed and problem in found.problem


def test_nan_is_right_only_where_it_is_expected():
    form = One("x", "float")
    assert compare(form, float("nan"), torch.tensor(float("nan"))) is None
    assert compare(form, float("nan"), 1.0).expected == "nan"
    assert compare(form, 1.0, float("nan")).got == "nan"


def test_truth_values_pass_for_0_and_1_where_digits_do():
    real = Numbers("attention_mask", "int", ("row", "slot"), digits=True)
    assert compare(real, [[1, 0]], torch.tensor([[True, False]])) is None
    assert compare(real, [[1, 0]], [[True, True]]).index == (0, 1)
    assert compare(real, [[1, 0]], [[2, 0]]).index == (0, 0)
    assert compare(real, [[1, 0]], [[1.0, 0.0]]).malformed


def test_the_same_numbers_are_alike_in_any_type():
    assert alike(plain([1, (2, torch.tensor([3]))]), plain((1.0, [2, np.array([3])])))
    assert alike([[1, 0]], plain(torch.tensor([[True, False]])))
    for other in ([1, 2, 3], [1, 3], [[1, 2]], "ab", {"a": 1}, [1, "a"], 1, None, [1, 2.1]):
        assert not alike([1, 2], plain(other)) and not alike(plain(other), [1, 2])
    for odd in (np.zeros(2, dtype=[("a", int)]), np.array(["2020", "2021"], "datetime64[Y]")):
        assert not alike(plain(odd), [0, 0]) and not alike(plain(odd), plain(odd))
    assert not alike({"a": 1}, {"a": 1}), "what is no number is left to the forms"
    assert alike([1.0], [1.000001]) and not alike([1.0], [1.001])


def test_one_value_that_is_no_value():
    assert compare(One("n"), 3, [3]).problem == "n must be a whole number; you gave a list"


def test_one_value_that_differs():
    assert compare(One("n"), 3, 4).got == "4"
    assert compare(One("b", "bool"), True, False).got == "False"
    assert compare(One("b", "bool"), True, np.True_) is None
    assert compare(One("w", "word", ("a", "b")), "a", "b").got == "b"
    assert compare(One("x", "float"), 1000.0, 1000.001) is None
    assert compare(One("x", "float"), 1000.0, 1000.1).expected == "1000"
    assert compare(One("x", "float"), 0.0, -0.1).got == "-0.1"
    assert compare(One("x", "float"), 1.0, float("nan")).got == "nan"


def test_places_in_any_order_and_container():
    form = Places("places", ("row", "slot"))
    for got in ([(1, 2), (0, 1)], {(0, 1), (1, 2)}, torch.tensor([[0, 1], [1, 2]]),
                [np.array([0, 1]), [torch.tensor(1), 2]]):  # fmt: skip
        assert compare(form, [(0, 1), (1, 2)], got) is None
    assert compare(form, [], torch.zeros(0, 2, dtype=torch.int64)) is None
    missing, extra = compare(form, [(0, 1)], []), compare(form, [], [(4, 5)])
    assert (missing.expected, missing.got) == ("in the list", "not in the list")
    assert (extra.expected, extra.got) == ("not in the list", "in the list")
    assert extra.index == (4, 5) and not extra.malformed
    assert places(plain([(0, 1), torch.tensor([2, 3])]), (3, 4)) == [(0, 1), (2, 3)]
    outside = [(0, 1), (3, 0), (0, 4), (-1, 0), (0, -1), (2, 3), "no", (1, 2, 3)]
    assert places(plain(outside), (3, 4)) == [(0, 1), (2, 3)]


def test_a_number_is_no_list_of_places():
    for got in (torch.tensor(3), np.array(3)):
        found = compare(Places("places", ("row", "slot")), [], got)
        assert found.malformed and found.problem.endswith("you gave one number, 3")


def test_rows_in_any_container():
    form = Rows("rows")
    for got in (np.array([[0, 2], [1, 3]]), torch.tensor([[0, 2], [1, 3]], dtype=torch.int32),
                np.array([[0, 2], [1, 3]], dtype=object), [(np.int64(0), torch.tensor(2)), (1, 3)],
                {"a": [0, 2], "b": [1, 3]}.values(), deque([deque([0, 2]), range(1, 4, 2)]),
                (iter(row) for row in ([0, 2], [1, 3]))):  # fmt: skip
        assert compare(form, [[0, 2], [1, 3]], got) is None
    for got in (torch.tensor(3), torch.tensor([0, 1]), torch.zeros(2, 2), np.zeros((2, 2, 1), int),
                [torch.tensor(1)], [[torch.tensor(True)]], [None]):  # fmt: skip
        assert compare(form, [[0, 2], [1, 3]], got).malformed


def test_rows_keep_their_order():
    form = Rows("rows")
    assert compare(form, [[0, 2], [1]], [[0, 2], torch.tensor([1])]) is None
    assert compare(form, [[0, 2], [1]], [(0, 2), (1,)]) is None
    assert compare(form, [[0, 2], [1]], [[0, 2]]).got == "no such row"
    assert compare(form, [[0], [1]], [[0], [1], [2]]).got == "3"
    assert compare(form, [[0], [1]], [[1], [0]]).index == (0,)
    assert compare(form, [[0]], 3).malformed and compare(form, [[0]], [0]).malformed
    assert compare(form, [[0]], [[0.0]]).malformed and compare(form, [[0]], [[True]]).malformed


def test_fields_and_items():
    fields = Fields({"a": One("a"), "b": One("b")})
    right = {"a": 1, "b": 2}
    assert compare(fields, right, {"b": 2, "a": 1}) is None
    assert compare(fields, right, {"a": 1, "b": 3}).problem == "b"
    assert "no 'b'" in compare(fields, right, {"a": 1}).problem
    assert "has 'c'" in compare(fields, right, {"a": 1, "b": 2, "c": 3}).problem
    assert "must be a dict" in compare(fields, right, [1, 2]).problem
    items = Items((One("a"), One("b")), ("a", "b"))
    assert compare(items, (1, 2), [1, 2]) is None
    assert compare(items, (1, 2), (1, 3)).problem == "b"
    assert "2 things, a, b; you gave 1" in compare(items, (1, 2), (1,)).problem
    assert "you gave a whole number" in compare(items, (1, 2), 1).problem


def test_one_array_holds_the_items_along_its_first_axis():
    pair = Items((One("a", "float"), One("b", "float")), ("a", "b"))
    for got in (np.array([1, 2]), torch.tensor([1.0, 2.0]), np.array([1, 2], dtype=object)):
        assert compare(pair, (1.0, 2.0), got) is None
    assert "2 things, a, b; you gave 3" in compare(pair, (1.0, 2.0), np.arange(3)).problem
    assert "array of shape [1, 2]" in compare(pair, (1.0, 2.0), np.array([[1, 2]])).problem
    assert "array of shape []" in compare(pair, (1.0, 2.0), np.array(1)).problem
    masks = Items((IDS, IDS), ("a", "b"))
    both = torch.tensor([[[1, 2]], [[3, 4]]])
    assert compare(masks, tuple(both), both) is None
    assert compare(masks, tuple(both), both.flip(0)).index == (0, 0)
    assert "you gave a torch.int64 tensor" in compare(masks, tuple(both), both[:, 0]).problem
    assert [part.values.tolist() for part in parts(plain(both))] == both.tolist()
    assert parts((1, 2)) == (1, 2) and parts(plain(torch.tensor(1))).values == 1
    assert listed(plain(both)) == both.tolist() and listed([1]) == [1]


def test_as_array_and_scalar():
    assert as_array([1, [2]]) is None and as_array(["a"]) is None
    assert as_array([[1, 2.5]]).kind == "float" and as_array([2**80]) is None
    assert numbers([[1]]).shape == (1, 1)
    assert [scalar(v) for v in (np.int64(3), 1 / 3, True)] == ["3", "0.333333", "True"]
