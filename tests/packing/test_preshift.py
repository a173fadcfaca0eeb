"""B′ trains the same targets as B, in rows that are one slot shorter for each document."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given

from course_lib import (
    EOS,
    IGNORE_INDEX,
    TinyDecoder,
    document_mask,
    pack_documents,
    per_document_shift,
    token_losses,
)
from tests.strategies import documents


@given(documents(max_length=8))
def test_against_the_loop_that_is_the_specification(docs: list) -> None:
    batch = pack_documents(docs, 12, eos_id=EOS)
    rows = per_document_shift(batch)
    for row in range(len(batch)):
        inputs, targets, positions = [], [], []
        for d in range(int(batch.document_ids[row].max()) + 1):
            doc = batch.input_ids[row][batch.document_ids[row] == d].tolist()
            inputs += doc[:-1]
            targets += doc[1:]
            positions += range(len(doc) - 1)
        real = rows.document_ids[row] >= 0
        assert rows.input_ids[row][real].tolist() == inputs
        assert rows.targets[row][real].tolist() == targets
        assert rows.position_ids[row][real].tolist() == positions
        assert (rows.targets[row][~real] == IGNORE_INDEX).all()
        assert EOS not in inputs


@given(documents(max_length=8))
def test_same_targets_and_losses_as_b(docs: list) -> None:
    model = TinyDecoder()
    b = pack_documents(docs, 12, eos_id=EOS, boundary="B")
    logits = model(b.input_ids, mask=document_mask(b), position_ids=b.position_ids)
    kept = token_losses(logits, b.labels)[b.target_mask]
    rows = per_document_shift(b)
    out = model(
        rows.input_ids, mask=document_mask(rows.document_ids), position_ids=rows.position_ids
    )
    ours = torch.nn.functional.cross_entropy(
        out.flatten(0, 1), rows.targets.flatten(), reduction="none"
    )
    assert rows.num_targets == b.num_targets
    torch.testing.assert_close(
        ours[rows.targets.flatten() != IGNORE_INDEX], kept, rtol=1e-6, atol=1e-6
    )


def test_prompts_stay_masked() -> None:
    rows = per_document_shift(pack_documents([[1, 2, 3]], 4, eos_id=EOS, prompt_lengths=[2]))
    assert rows.targets.tolist() == [[IGNORE_INDEX, 3, EOS]]


def test_nothing_to_shift() -> None:
    with pytest.raises(ValueError, match="every document has a single token"):
        per_document_shift(pack_documents([[1], [2]], 4))
    with pytest.raises(TypeError, match="expected a Batch"):
        per_document_shift([[1, 2]])
