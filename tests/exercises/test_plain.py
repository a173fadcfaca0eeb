"""Whatever an answer returns becomes plain data, and no code of it runs later."""

from array import array
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch

from course_lib.exercises.plain import Array, Opaque, plain, type_name, unfinished


class Liar(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class LyingText(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class LyingFloat(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


def test_subclasses_lose_their_own_comparison():
    assert plain(Liar(3)) != 4 and type(plain(Liar(3))) is int
    assert plain(LyingText("a")) != "b" and type(plain(LyingText("a"))) is str
    assert plain(LyingFloat(1.0)) != 2.0 and type(plain(LyingFloat(1.0))) is float


def test_numbers_and_containers():
    value = (np.float32(1.5), np.True_, [torch.tensor(2)], {1, 2}, {"a": range(2)}, None, ...)
    found = plain(value)
    assert found[:2] == (1.5, True)
    assert found[2][0].values.item() == 2 and found[3] == [1, 2]
    assert found[4:] == ({"a": [0, 1]}, None, ...)


def test_whatever_holds_things_in_order_becomes_a_list():
    for value in (deque([1, 2]), {"a": 1, "b": 2}.values(), UserList([1, 2]), array("i", [1, 2]),
                  iter([1, 2]), range(1, 3), np.array([1, 2], dtype=object)):  # fmt: skip
        assert plain(value) == [1, 2]
    assert plain(np.array(["a", "b"])) == ["a", "b"]
    assert plain(np.array([torch.zeros(1), object()], dtype=object))[1] == Opaque("object")
    for value in (b"ab", bytearray(b"ab"), memoryview(b"ab")):
        assert plain(value) == Opaque(type(value).__name__)


def test_fractions_and_decimals_become_floats():
    assert plain([Fraction(3, 2), Decimal("0.5")]) == [1.5, 0.5]
    assert type(plain(Fraction(3))) is float
    assert plain(Fraction(10**400)) == Opaque("Fraction")
    assert plain(Decimal("sNaN")) == Opaque("Decimal")


def test_arrays_keep_kind_and_source():
    for value, kind, source in [
        (torch.tensor([True]), "bool", "torch.bool"),
        (torch.tensor([1], dtype=torch.uint8), "int", "torch.uint8"),
        (torch.tensor([1.0], dtype=torch.bfloat16), "float", "torch.bfloat16"),
        (np.array([1 + 2j]), "complex128", "numpy complex128"),
        (torch.ones(1, requires_grad=True), "float", "torch.float32"),
    ]:
        found = plain(value)
        assert isinstance(found, Array) and (found.kind, found.source) == (kind, source)


def test_a_later_change_of_the_tensor_does_not_reach_the_plain_data():
    tensor, array = torch.tensor([1, 2]), np.array([1, 2])
    kept = plain(tensor), plain(array)
    tensor[0] = array[0] = 9
    assert [k.values.tolist() for k in kept] == [[1, 2], [1, 2]]


def test_odd_types_become_opaque():
    assert plain(object()) == Opaque("object")
    assert plain(torch.eye(2).to_sparse()) == Opaque("torch.sparse_coo tensor")
    assert plain({object(): 1, 2: 3}) == {"Opaque": 1, 2: 3}


def test_unfinished_looks_everywhere():
    assert unfinished([1, (2, {"a": ...})]) and unfinished(None) and unfinished({"a": None})
    assert not unfinished([0, "", {}, False, plain(torch.zeros(2))])


def test_type_names_are_a_learners_words():
    names = [type_name(plain(v)) for v in (True, 1, 1.5, "a", [], (), {}, None, object())]
    assert names == [
        "a truth value", "a whole number", "a float", "a text", "a list", "a tuple", "a dict",
        "nothing (None)", "an object of type object",
    ]  # fmt: skip
    assert type_name(...) == "ellipsis"
    assert type_name(plain(np.zeros((2, 1)))) == "a numpy float64 array of shape [2, 1]"
