"""One clear error for each kind of bad input: it names the thing, its value and the way out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course_lib import pack_documents, pad_documents
from course_lib.inputs import as_documents, as_int, as_lengths, as_rows

BAD_DOCUMENTS = [
    ([], ValueError, "documents is an empty list"),
    ([[1], []], ValueError, "document 1 is empty"),
    ([[1, -2]], ValueError, "document 0 holds the negative id -2 at position 1"),
    ([[1.0, 2.0]], TypeError, "document 0 must hold whole numbers, got float64"),
    ([[True, False]], TypeError, "whole numbers, got bool"),
    ([torch.tensor([1.5])], TypeError, "whole numbers, got float32"),
    ([[[1, 2], [3]]], ValueError, "document 0 is ragged"),
    ([[[1, 2], [3, 4]]], ValueError, "flat sequence of token ids, got shape"),
    ([1, 2, 3], TypeError, "one flat list of ids"),
    ("a b", TypeError, "documents must be a list of documents"),
    (["a b"], TypeError, "document 0 is text"),
    (5, TypeError, "documents must be a list of documents"),
    ([[None]], TypeError, "must hold whole numbers of at most 64 bits"),
    ([[2**70]], TypeError, "must hold whole numbers of at most 64 bits"),
    ([[2**63]], ValueError, "document 0 holds 9223372036854775808, more than int64 can"),
    ([torch.ones(2, dtype=torch.bfloat16)], TypeError, "document 0 must hold whole numbers"),
    ([torch.eye(2, dtype=torch.int64).to_sparse()], TypeError, "document 0 is no dense tensor"),
    ([["a", "b"]], TypeError, "document 0 holds text"),
]


@pytest.mark.parametrize(("documents", "kind", "message"), BAD_DOCUMENTS)
def test_bad_documents(documents: object, kind: type[Exception], message: str) -> None:
    for make in (as_documents, pad_documents, lambda d: pack_documents(d, 8)):
        with pytest.raises(kind, match=message):
            make(documents)


def test_documents_come_as_lists_tuples_arrays_tensors_and_generators() -> None:
    given = ([1, 2], (1, 2), np.array([1, 2], dtype=np.uint16), torch.tensor([1, 2]))
    assert [d.tolist() for d in as_documents(iter(given))] == [[1, 2]] * 4


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (0, ValueError, "capacity must be at least 1, got 0"),
        (-3, ValueError, "capacity must be at least 1, got -3"),
        (8.0, TypeError, "capacity must be a whole number, got 8.0"),
        (True, TypeError, "capacity must be a whole number, got True"),
        ("8", TypeError, "capacity must be a whole number, got '8'"),
        (None, TypeError, "capacity must be a whole number, got None"),
    ],
)
def test_bad_capacity(value: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        as_int(value, "capacity", at_least=1)
    with pytest.raises(kind, match=message):
        pack_documents([[1, 2]], value)


@pytest.mark.parametrize(
    ("lengths", "kind", "message"),
    [
        ([], ValueError, "lengths is empty"),
        ([3, 0], ValueError, r"lengths\[1\] is 0"),
        ([[3], [4]], ValueError, "one flat list"),
        ([1.5], TypeError, "whole numbers"),
    ],
)
def test_bad_lengths(lengths: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        as_lengths(lengths)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"length": 2}, ValueError, "document 1 has 3 tokens, more than length=2"),
        ({"length": 0}, ValueError, "length must be at least 1, got 0"),
        ({"multiple_of": 0}, ValueError, "multiple_of must be at least 1"),
        ({"side": "top"}, ValueError, "side must be one of 'right', 'left'; got 'top'"),
        ({"pad_id": -1}, ValueError, "pad_id must be at least 0"),
        ({"prompt_lengths": [1]}, ValueError, "1 entries for 2 documents"),
        ({"prompt_lengths": [2, 1]}, ValueError, r"prompt_lengths\[0\] is 2, longer than"),
        ({"prompt_lengths": [0.5, 1]}, TypeError, "prompt_lengths must hold whole numbers"),
    ],
)
def test_bad_options_of_padding(options: dict, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pad_documents([[1], [1, 2, 3]], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boundary": "C"}, "boundary must be one of 'A', 'B'; got 'C'"),
        ({"strategy": "best"}, "strategy must be one of"),
        ({"overlong": "cut"}, "overlong must be one of"),
        ({"capacity": 2}, "document 1 has 3 tokens, more than capacity=2"),
        ({"capacity": 3, "eos_id": 4}, "document 1 has 4 tokens with its EOS"),
        ({"eos_id": -4}, "eos_id must be at least 0"),
    ],
)
def test_bad_options_of_packing(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pack_documents([[1], [1, 2, 3]], **{"capacity": 8, **options})


def test_ragged_rows_are_named() -> None:
    with pytest.raises(ValueError, match="labels is ragged"):
        as_rows([[1, 2], [3]], "labels")
    with pytest.raises(ValueError, match=r"labels must have 2 axes, got shape \(2,\)"):
        as_rows([1, 2], "labels")
    with pytest.raises(ValueError, match="labels has no elements"):
        as_rows([[]], "labels")
