"""Batches from the flat buffer are those of pack_documents and of transformers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import DataCollatorWithFlattening

from course_lib import FlatDocuments, pack_documents, pack_lengths
from course_lib.batch import TENSORS
from course_lib.packing import STRATEGIES
from tests.strategies import documents, eos_ids


@given(documents(), st.data())
def test_flatten_is_the_flattening_collator(docs: list, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.sampled_from(range(len(docs))), min_size=1))
    ours = FlatDocuments.of(docs).flatten(numbers)
    collator = DataCollatorWithFlattening(return_flash_attn_kwargs=True)
    theirs = collator([{"input_ids": docs[i]} for i in numbers])
    assert set(ours) == set(theirs)
    for name, value in ours.items():
        expected = torch.as_tensor(theirs[name])
        assert torch.equal(torch.as_tensor(value), expected), name
        assert torch.as_tensor(value).dtype == expected.dtype, name


@given(
    documents(max_documents=9), eos_ids, st.sampled_from("AB"), st.integers(1, 4),
    st.sampled_from(STRATEGIES), st.integers(9, 14),
)  # fmt: skip
def test_batches_are_those_of_pack_documents(
    docs: list, eos: int | None, boundary: str, rows: int, strategy: str, capacity: int
) -> None:
    flat = FlatDocuments.of(docs, eos_id=eos)
    packing = pack_lengths(flat.lengths, capacity, strategy)
    made = list(flat.batches(packing, rows, boundary=boundary, pad_id=6))
    assert [len(b) for b in made[:-1]] == [rows] * (len(made) - 1)
    assert sum(map(len, made)) == len(packing)
    placed = {name: torch.cat([getattr(b, name) for b in made]) for name in TENSORS}
    for r, pieces in enumerate(packing):
        alone = [docs[i] + ([] if eos is None else [eos]) for i in pieces.tolist()]
        if strategy == "concatenate":
            at = slice(packing.offsets[r], packing.offsets[r + 1])
            cuts = zip(packing.starts[at].tolist(), packing.stops[at].tolist(), strict=True)
            alone = [doc[a:b] for doc, (a, b) in zip(alone, cuts, strict=True)]
        one = pack_documents(
            alone, capacity, boundary=boundary, pad_id=6, strategy="next_fit"
        )
        assert len(one) == 1
        for name in TENSORS:
            assert torch.equal(placed[name][r], getattr(one, name)[0]), name


def test_every_token_once() -> None:
    rng = np.random.default_rng(0)
    docs = [rng.integers(1, 9, n) for n in rng.integers(1, 40, 300)]
    flat = FlatDocuments.of(docs)
    made = list(flat.batches(pack_lengths(flat.lengths, 64), 7))
    got = torch.cat([b.input_ids[b.attention_mask == 1] for b in made])
    assert torch.equal(got.sort().values, torch.as_tensor(flat.tokens).sort().values)


def test_bad_buffers() -> None:
    with pytest.raises(ValueError, match="offsets must run from 0 to the number of tokens, 3"):
        FlatDocuments(np.array([1, 2, 3]), np.array([0, 2]))
    with pytest.raises(ValueError, match=r"the steps of offsets\[1\] is 0"):
        FlatDocuments(np.array([1, 2]), np.array([0, 2, 2]))
    flat = FlatDocuments.of([[1, 2], [3]])
    with pytest.raises(ValueError, match="the packing is of 1 documents, the buffer has 2"):
        list(flat.batches(pack_lengths([2], 4), 1))
    with pytest.raises(ValueError, match="rows must be at least 1, got 0"):
        list(flat.batches(pack_lengths(flat.lengths, 4), 0))
    with pytest.raises(ValueError, match="numbers is empty"):
        flat.flatten([])
