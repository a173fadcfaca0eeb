"""Our rows beside those of transformers: equal where they coincide, named where they differ."""

from __future__ import annotations

import pytest
import tokenizers
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    DataCollatorForLanguageModeling,
    DataCollatorWithFlattening,
    PreTrainedTokenizerFast,
)
from transformers.loss.loss_utils import ForCausalLMLoss

from course_lib import (
    EOS,
    IGNORE_INDEX,
    PAD,
    LossSum,
    TinyDecoder,
    pack_documents,
    pad_documents,
    reduce_losses,
    token_losses,
)
from course_lib.vocabulary import TOKENS
from tests.strategies import documents


def tokenizer(pad: str = "<pad>", side: str = "right") -> PreTrainedTokenizerFast:
    words = tokenizers.models.WordLevel({t: i for i, t in enumerate(TOKENS)}, unk_token="<pad>")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(words),
        pad_token=pad,
        eos_token="<eos>",
        padding_side=side,
    )


def collate(docs: list[list[int]], **how: str) -> dict[str, torch.Tensor]:
    collator = DataCollatorForLanguageModeling(tokenizer(**how), mlm=False)
    return collator([{"input_ids": d} for d in docs])


@given(documents())
def test_right_padding_agrees(docs: list) -> None:
    theirs, ours = collate(docs), pad_documents(docs, pad_id=PAD)
    for name in ("input_ids", "attention_mask", "labels"):
        assert torch.equal(theirs[name], getattr(ours, name)), name


@given(documents())
def test_difference_left_padding_scores_the_first_token_from_a_pad(docs: list) -> None:
    """Theirs keeps the label behind left padding; its prediction stands on a pad. Ours does not."""
    theirs, ours = collate(docs, side="left"), pad_documents(docs, pad_id=PAD, side="left")
    assert torch.equal(theirs["input_ids"], ours.input_ids)
    assert torch.equal(theirs["attention_mask"], ours.attention_mask)
    differ = theirs["labels"] != ours.labels
    behind_padding = ours.position_ids == 0
    behind_padding[:, 0] = False
    assert torch.equal(differ, behind_padding)


def test_difference_pad_equal_to_eos_erases_every_eos_target() -> None:
    """Theirs finds padding in the labels by id, ours by length."""
    docs = [[1, 2, EOS], [1, EOS]]
    theirs, ours = collate(docs, pad="<eos>"), pad_documents(docs, pad_id=EOS)
    assert torch.equal(theirs["input_ids"], ours.input_ids)
    assert torch.equal(theirs["attention_mask"], ours.attention_mask)
    assert (theirs["labels"] == EOS).sum() == 0
    assert (ours.labels == EOS).sum() == 2


@given(documents(), st.booleans())
def test_flattening_agrees_under_boundary_b(docs: list, return_seq_idx: bool) -> None:
    collator = DataCollatorWithFlattening(
        return_flash_attn_kwargs=True, return_seq_idx=return_seq_idx
    )
    theirs = collator([{"input_ids": d} for d in docs])
    ours = pack_documents(docs, sum(map(len, docs)), boundary="B").to_dict("flattened")
    for name, value in ours.items():
        assert torch.equal(torch.as_tensor(theirs[name]), torch.as_tensor(value)), name


def test_difference_flattening_has_no_convention_a() -> None:
    """Its separator label stands on the first token of every document, the first one included."""
    docs = [[1, 2], [3, 1]]
    theirs = DataCollatorWithFlattening()([{"input_ids": d} for d in docs])
    a = pack_documents(docs, 4, boundary="A")
    assert theirs["labels"].tolist() == [[IGNORE_INDEX, 2, IGNORE_INDEX, 1]]
    assert a.labels.tolist() == [[1, 2, 3, 1]]
    b = pack_documents(docs, 4, boundary="B")
    assert b.labels.tolist() == [[1, 2, IGNORE_INDEX, 1]]  # a row's first slot is never scored


@given(documents(min_length=2), st.integers(0, 3))
def test_the_loss_agrees(docs: list, extra: int) -> None:
    batch = pad_documents(docs, length=max(map(len, docs)) + extra)
    logits = TinyDecoder()(batch.input_ids)
    theirs = ForCausalLMLoss(logits, batch.labels, vocab_size=logits.shape[-1])
    losses = token_losses(logits, batch.labels)
    torch.testing.assert_close(reduce_losses(losses, batch.target_mask), theirs)
    pair = LossSum.of(losses, batch.target_mask)
    counted = ForCausalLMLoss(logits, batch.labels, logits.shape[-1], num_items_in_batch=100)
    torch.testing.assert_close((pair.total / 100).float(), counted)


def test_difference_no_targets_is_nan_for_them_and_an_error_for_us() -> None:
    batch = pad_documents([[1], [2]], length=3)
    logits = TinyDecoder()(batch.input_ids)
    assert ForCausalLMLoss(logits, batch.labels, vocab_size=7).isnan()
    with pytest.raises(ValueError, match="no targets"):
        reduce_losses(token_losses(logits, batch.labels), batch.target_mask)


def test_difference_empty_documents_vanish_there_and_are_refused_here() -> None:
    theirs = DataCollatorWithFlattening()([{"input_ids": [1, 2]}, {"input_ids": []}])
    assert theirs["input_ids"].tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="document 1 is empty"):
        pack_documents([[1, 2], []], 4)
