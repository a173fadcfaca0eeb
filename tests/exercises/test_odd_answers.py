"""No answer, however odd, makes a check raise: every exercise meets every kind of nonsense."""

from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from course_lib.exercises.checker import result_of
from course_lib.exercises.registry import all_exercises


class Hostile:
    """Raises at whatever one does with it."""

    def __getattr__(self, name):
        raise RuntimeError(f"no {name} here")

    def __eq__(self, other):
        raise RuntimeError("no comparison here")

    __hash__ = None


class Empty:
    pass


ODD = {
    "object": Empty(),
    "complex": 1 + 2j,
    "huge": 2**200,
    "nan": float("nan"),
    "text": "abc",
    "bytes": b"abc",
    "empty list": [],
    "empty dict": {},
    "deep": [[[[[1]]]]],
    "mixed": [1, "a", 2.5],
    "ragged": [[1], [1, 2]],
    "empty tensor": torch.zeros(0),
    "nan tensor": torch.full((2, 2), float("nan")),
    "bool tensor": torch.ones(3, 3, dtype=torch.bool),
    "sparse": torch.eye(3).to_sparse(),
    "complex tensor": torch.zeros(2, dtype=torch.complex64),
    "object array": np.array([Empty(), 1], dtype=object),
    "text array": np.array(["a", "b"]),
    "structured": np.zeros(2, dtype=[("a", int)]),
    "half": torch.zeros(2, 2, dtype=torch.float16),
    "set": {1, 2},
    "generator": (i for i in range(3)),
    "pair": (torch.zeros(1), Empty()),
    "dict": {"input_ids": Empty(), "labels": [1], 3: None.__class__},
    "hostile": Hostile(),
    "tensor without axes": torch.tensor(77),
    "array without axes": np.array(-7.5),
    "five axes": np.zeros((1, 1, 1, 1, 1)),
    "fraction": Fraction(10**400, 3),
    "signalling nan": Decimal("sNaN"),
    "bool": False,
    "names": {(1, 2): 3, None: 4}.items(),
    "deque of deques": deque([deque([object()])]),
    "masked array": np.ma.masked_array([1, 2], mask=[True, False]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("exercise", all_exercises().values(), ids=all_exercises())
def test_nonsense_is_refused_in_words(exercise):
    for name, value in ODD.items():
        answer = value if exercise.takes is None else lambda *args, value=value: value
        result = result_of(exercise.id, answer)
        assert result.status in ("not yet", "not attempted yet"), f"{name}: {result.message}"
        assert "Traceback" not in result.message and len(result.message) < 4000, name
        assert max(map(len, result.message.splitlines())) <= 100, name


@pytest.mark.parametrize("name", ODD)
def test_a_function_and_a_value_are_told_apart(name):
    value = ODD[name]
    assert "wants a function" in " ".join(result_of("2.2", value).message.split())
    assert "wants a value" in " ".join(result_of("1.1", lambda: value).message.split())
