"""Texts are plain, short, and drawn around the place that differs."""

import numpy as np
import torch

from course_lib.exercises.forms import Difference, Numbers
from course_lib.exercises.plain import plain
from course_lib.exercises.show import difference, inputs, text, wrap


def found(expected, got, axes=("row", "slot")):
    kind = {"b": "bool", "i": "int", "f": "float"}[np.asarray(expected).dtype.kind]
    form = Numbers("x", kind, axes[-np.ndim(expected):])
    return form.compare(plain(np.asarray(expected)), plain(np.asarray(got)))


def test_inputs_are_values_where_short_and_shapes_where_long():
    assert text(plain(torch.tensor([[True, False]]))) == "[[1, 0]]"
    assert text(plain([(torch.tensor([0.5]), {"a": 1})])) == "[([0.5], {'a': 1})]"
    assert text(plain(torch.zeros(99, 9).long())) == "int values of shape [99, 9]"
    assert text(plain(torch.zeros(1, 2, 3))) == "float values of shape [1, 2, 3]"
    assert text(plain(torch.zeros(1, 2, 1).long())) == "[[[0], [0]]]"
    assert text(list(range(99)), limit=10) == "[0, 1, 2,…"
    lines = inputs(["a"], [list(range(40))])
    assert len(lines) == 3 and lines[1].startswith("      ")


def test_wrap_keeps_words_whole():
    assert max(map(len, wrap("word " * 50))) <= 60 and wrap("a") == ["a"]


def test_both_sides_beside_each_other():
    assert difference(found([[1, 2], [3, 4]], [[1, 2], [3, 5]]), True, True) == [
        "  expected 4, got 5",
        "",
        "  expected   got (! = differs)",
        "    0  1       0  1",
        "  0 1  2     0 1  2",
        "  1 3  4     1 3  5!",
    ]


def test_one_row_has_no_row_number():
    lines = difference(found([1, -100], [1, 2]), True, True)
    assert lines[-2:] == ["      0     1    0  1", "      1  -100    1  2!"]


def test_only_the_learners_side_where_the_other_is_the_answer():
    lines = difference(found([True, False], [True, True]), False, False)
    assert lines == ["  got True", "", "  yours (! = differs)", "   0  1", "   1  1!"]
    told = difference(found([True, False], [True, True]), True, False)
    assert told == ["  expected False, got True", *lines[1:]]


def test_floats_that_agree_are_not_marked():
    lines = difference(found([0.1, 2.0], [0.1 + 1e-9, 3.0]), True, True)
    assert lines[-1].count("!") == 1


def test_whole_numbers_that_nearly_agree_are_marked():
    lines = difference(found([10**6, 2], [10**6 + 1, 2]), True, True)
    assert lines[-1].count("!") == 1


def test_wide_grids_are_cut_around_the_place_and_stacked():
    wanted = np.zeros((40, 40), dtype=bool)
    got = wanted.copy()
    got[30, 39] = True
    lines = difference(found(wanted, got), True, True)
    assert max(map(len, lines)) <= 60 and sum("!" in line for line in lines) == 2
    assert "  expected" in lines and "39" in "".join(lines)
    assert any(line.strip().startswith("30") for line in lines)


def test_planes_of_logits_are_not_drawn_but_planes_of_masks_are():
    logits = np.zeros((1, 2, 3))
    assert difference(found(logits, logits + 1, ("row", "slot", "token")), True, True) == [
        "  expected 0, got 1"]  # fmt: skip
    mask = np.zeros((2, 2, 2), dtype=bool)
    other = mask.copy()
    other[1, 0, 1] = True
    lines = difference(found(mask, other, ("row", "query", "key")), True, True)
    assert lines[-2:] == ["  0 .  .     0 .  1!", "  1 .  .     1 .  ."]


def test_nothing_is_drawn_where_there_is_nothing_to_compare():
    assert difference(Difference("not a list"), True, True) == []
