"""Completions: prompts by common prefix, answers by turns, weights in place of counts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import (
    EOS,
    IGNORE_INDEX,
    LossSum,
    answer_slots,
    common_prefix,
    mask_prompts,
    mask_turns,
    pack_documents,
    pad_documents,
    weighted_sum,
)

ids = st.lists(st.integers(0, 3), max_size=6)
turns = st.lists(st.integers(0, 3), min_size=1, max_size=5).filter(sum)
rows = st.lists(st.lists(turns, min_size=1, max_size=3), min_size=1, max_size=3)


def slow_answers(lengths: list[int], which: str) -> list[bool]:
    """Walk through the turns; an answer is every second one."""
    flags, last = [], None
    for i, n in enumerate(lengths):
        if i % 2 == 1:
            last = (len(flags), len(flags) + n)
        flags += [i % 2 == 1] * n
    if which == "last":
        inside = range(*last) if last else range(0)
        flags = [t in inside for t in range(len(flags))]
    return flags


@given(ids, ids)
def test_the_common_prefix_is_the_longest_one(a: list[int], b: list[int]) -> None:
    n = common_prefix(a, b)
    assert a[:n] == b[:n]
    assert n == min(len(a), len(b)) or a[n] != b[n]


@given(rows, st.sampled_from(["all", "last"]))
def test_answers_are_found_as_by_a_loop(layout: list, which: str) -> None:
    width = max(sum(map(sum, row)) for row in layout)
    ids = torch.full((len(layout), width), -1)
    for r, row in enumerate(layout):
        flat = [d for d, doc in enumerate(row) for _ in range(sum(doc))]
        ids[r, : len(flat)] = torch.tensor(flat)
    slots = answer_slots(ids, layout, which)
    for r, row in enumerate(layout):
        wanted = [flag for doc in row for flag in slow_answers(doc, which)]
        assert slots[r].tolist() == wanted + [False] * (width - len(wanted))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=4))
def test_one_prompt_and_one_answer_are_what_mask_prompts_makes(pairs: list) -> None:
    documents = [[1] * (p + a - 1) for p, a in pairs if p + a > 1]
    pairs = [pair for pair in pairs if sum(pair) > 1]
    if not documents:
        return
    batch = pack_documents(documents, 40, eos_id=EOS, strategy="next_fit")
    by_turns = mask_turns(batch.labels, batch.document_ids, [[list(p) for p in pairs]])
    by_prompt = mask_prompts(batch.labels, batch.document_ids, [[p for p, _ in pairs]])
    assert torch.equal(by_turns, by_prompt)


def test_the_last_answer_of_a_conversation_that_ends_with_a_question() -> None:
    ids = torch.zeros(1, 6, dtype=torch.int64)
    assert answer_slots(ids, [[[1, 2, 3]]], "last").tolist() == [[False, True, True] + [False] * 3]
    assert not answer_slots(ids, [[[6]]], "last").any()


def test_padding_is_no_answer_on_either_side() -> None:
    batch = pad_documents([[5, 1, 4], [5, 1, 2, 4]], side="left")
    labels = mask_turns(batch.labels, batch.document_ids, [[[1, 2]], [[1, 3]]])
    assert labels.tolist() == [[IGNORE_INDEX] * 2 + [1, 4], [IGNORE_INDEX, 1, 2, 4]]


def test_the_mask_packs_as_the_documents_do() -> None:
    """Packing sees lengths only, so flags laid out like the tokens find the same slots."""
    layout = [[2, 2, 1, 2], [1, 3], [3, 1, 1, 2], [2, 4]]
    documents = [[3] * sum(lengths) for lengths in layout]
    flags = [[i % 2 for i, n in enumerate(lengths) for _ in range(n)] for lengths in layout]
    batch, marks = pack_documents(documents, 14), pack_documents(flags, 14)
    assert torch.equal(batch.document_ids, marks.document_ids) and len(batch) == 2
    kept = batch.labels.masked_fill(marks.input_ids == 0, IGNORE_INDEX)
    assert int((kept != IGNORE_INDEX).sum()) == sum(map(sum, flags))


@given(st.integers(0, 2**31), st.integers(1, 3), st.integers(2, 5))
def test_the_weighted_sum_is_the_loop(seed: int, rows: int, columns: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    losses = torch.rand(rows, columns, generator=draw)
    mask = torch.rand(rows, columns, generator=draw) < 0.6
    weights = torch.randint(0, 4, (rows, columns), generator=draw) / 2
    top = bottom = 0.0
    for r in range(rows):
        for c in range(columns):
            if mask[r, c]:
                top += weights[r, c].item() * losses[r, c].item()
                bottom += weights[r, c].item()
    pair = weighted_sum(losses, mask, weights)
    assert float(pair.total) == pytest.approx(top) and pair.count == bottom
    ones, plain = weighted_sum(losses, mask, torch.ones_like(losses)), LossSum.of(losses, mask)
    assert ones.count == plain.count
    torch.testing.assert_close(ones.total, plain.total)


def test_weighted_pairs_add_up_over_micro_batches_and_keep_the_graph() -> None:
    losses = torch.tensor([[1.0, 4.0], [2.0, 8.0]], requires_grad=True)
    mask = torch.ones(2, 2, dtype=torch.bool)
    weights = torch.tensor([[1.0, 0.5], [0.0, 2.0]])
    whole = weighted_sum(losses, mask, weights)
    parts = sum(weighted_sum(losses[i : i + 1], mask[:1], weights[i : i + 1]) for i in (0, 1))
    assert whole.mean.item() == parts.mean.item() == pytest.approx(19 / 3.5)
    whole.mean.backward()
    torch.testing.assert_close(losses.grad, weights / 3.5)


def test_a_weight_outside_the_targets_does_not_matter() -> None:
    pair = weighted_sum(
        torch.tensor([[1.0, 0.0]]), torch.tensor([[True, False]]), torch.tensor([[2.0, -9.0]])
    )
    assert (float(pair.total), pair.count) == (2.0, 2.0)


def test_bad_turns_are_named() -> None:
    ids = torch.tensor([[0, 0, 1, -1]])
    with pytest.raises(ValueError, match="2 rows for 1 rows of tokens"):
        answer_slots(ids, [[[2], [1]], [[1]]])
    with pytest.raises(ValueError, match=r"turn_lengths\[0\] has 1 documents, but row 0 holds 2"):
        answer_slots(ids, [[[2]]])
    with pytest.raises(ValueError, match=r"turn_lengths\[0\]\[1\] is \[1, 1\], together 2"):
        answer_slots(ids, [[[2], [1, 1]]])
    with pytest.raises(ValueError, match=r"turn_lengths\[0\]\[0\]\[1\] is -1"):
        answer_slots(ids, [[[3, -1], [1]]])
    with pytest.raises(ValueError, match="which must be one of 'all', 'last'; got 'first'"):
        answer_slots(ids, [[[2], [1]]], "first")


def test_bad_weights_are_named() -> None:
    losses, mask = torch.ones(1, 2), torch.ones(1, 2, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"weights\[:, 1:\]"):
        weighted_sum(losses, mask, torch.ones(1, 3))
    with pytest.raises(ValueError, match="got list"):
        weighted_sum(losses, mask, [[1.0, 1.0]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a target has the weight -1.0"):
        weighted_sum(losses, mask, torch.tensor([[1.0, -1.0]]))
    with pytest.raises(ValueError, match="a target has the weight inf"):
        weighted_sum(losses, mask, torch.tensor([[1.0, torch.inf]]))
    with pytest.raises(TypeError, match="target_mask must be boolean"):
        weighted_sum(losses, mask.long(), losses)
    with pytest.raises(ValueError, match="has no mean"):
        _ = weighted_sum(losses, mask, torch.zeros(1, 2)).mean


def test_text_is_no_prompt_of_ids() -> None:
    with pytest.raises(TypeError, match="prompt must be a flat list of ids, got 'ab'. Tokenize"):
        common_prefix("ab", "abc")  # type: ignore[arg-type]
    for nested in ([[1, 2]], torch.tensor([[1, 2]]), [torch.tensor([1, 2])]):
        with pytest.raises(TypeError, match="whole must be one flat list of ids"):
            common_prefix([1, 2], nested)  # type: ignore[arg-type]
    assert common_prefix(torch.tensor([1, 2]), [torch.tensor(1), torch.tensor(3)]) == 1


def test_labels_that_do_not_fit_the_documents_are_refused() -> None:
    ids, turns = torch.tensor([[0, 0, 1, -1]]), [[[1, 1], [1]]]
    for labels in (torch.zeros(1, 1), torch.zeros(2, 4), torch.zeros(1, 3), torch.zeros(4)):
        with pytest.raises(ValueError, match="labels must be a tensor with the shape of document"):
            mask_turns(labels.long(), ids, turns)
    for dtype in (torch.uint8, torch.int8, torch.bool, torch.float32):
        with pytest.raises(TypeError, match=f"labels must be int64, got {dtype}"):
            mask_turns(torch.ones(1, 4, dtype=dtype), ids, turns)


def test_document_ids_and_turns_of_another_kind_are_named() -> None:
    ids = torch.tensor([[0, 0, 1, -1]])
    for other in (ids.float(), ids > 0, ids[0], ids.tolist(), ids.numpy()):
        with pytest.raises(TypeError, match="document_ids must be a tensor"):
            answer_slots(other, [[[2], [1]]])
    with pytest.raises(TypeError, match="turn_lengths must be lists"):
        answer_slots(ids, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"turn_lengths\[0\] must be a list of documents, got int"):
        answer_slots(ids, [3])  # type: ignore[list-item]
    assert answer_slots(ids[:, :0], [[]]).shape == (1, 0)


def test_weights_that_would_lose_something_are_refused() -> None:
    losses, mask = torch.ones(1, 2), torch.ones(1, 2, dtype=torch.bool)
    with pytest.raises(ValueError, match="part of a graph.*detach"):
        weighted_sum(losses, mask, torch.ones(1, 2, requires_grad=True))
    with pytest.raises(ValueError, match="weights are complex"):
        weighted_sum(losses, mask, torch.ones(1, 2, dtype=torch.complex64))
    with pytest.raises(ValueError, match="the weights add up to inf"):
        weighted_sum(losses, mask, torch.full((1, 2), 1e308, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"got ndarray \(1, 2\) of float64"):
        weighted_sum(losses, mask, np.ones((1, 2)))  # type: ignore[arg-type]
