"""Which mean is this number? Every candidate is recognised, and ties are said to be ties."""

from __future__ import annotations

import pytest
import torch

from course_lib import LossSum, pack_documents, reduce_losses
from course_lib.audit import audit_loss, identify_denominator
from course_lib.audit.means import Part, as_part, join, reductions

BATCH = pack_documents([[1, 2, 3], [1, 1], [2, 3, 1, 2, 2]], 10, eos_id=4, boundary="B")
LOSSES = torch.rand(len(BATCH), 9, generator=torch.Generator().manual_seed(3)) + 1
MASK = BATCH.target_mask


@pytest.mark.parametrize(("by", "name"), [("token", "token mean"), ("sequence", "sequence mean"),
                                          ("slot", "slot mean")])  # fmt: skip
def test_our_own_reductions_are_recognised(by, name):
    number = float(reduce_losses(LOSSES, MASK, by=by))
    assert identify_denominator(number, LOSSES, MASK).names == [name]


def test_means_over_documents_and_real_tokens_are_recognised():
    more = {"document_ids": BATCH.document_ids, "attention_mask": BATCH.attention_mask}
    number = float(reduce_losses(LOSSES, MASK, by="sequence", document_ids=BATCH.document_ids))
    assert identify_denominator(number, LOSSES, MASK, **more).names == ["document mean"]
    total = float(LOSSES[MASK].sum())
    real = total / int(BATCH.attention_mask.sum())
    assert identify_denominator(real, LOSSES, MASK, **more).names == ["mean over real tokens"]


def test_a_mean_over_microbatches_is_recognised():
    means = [float(reduce_losses(LOSSES[r : r + 1], MASK[r : r + 1])) for r in range(len(BATCH))]
    found = identify_denominator(sum(means) / len(means), LOSSES, MASK, microbatch_size=1)
    assert "mean of micro-batch means" in found.names
    assert "sequence mean" in found.names and not found.unique
    assert "cannot tell them apart" in str(found)


def test_equal_losses_cannot_tell_means_apart():
    found = identify_denominator(2.0, torch.full((2, 3), 2.0), torch.ones(2, 3, dtype=torch.bool))
    assert found.names == ["token mean", "sequence mean", "slot mean"] and not found.unique


def test_a_strange_number_is_none_of_them():
    found = identify_denominator(123.0, LOSSES, MASK)
    assert found.names == [] and "is none of these" in str(found)
    assert len(found.candidates) > 5


def test_what_was_not_tried_is_named_and_what_was_is_not():
    assert "microbatch_size" in str(identify_denominator(123.0, LOSSES, MASK))
    every = {"document_ids": BATCH.document_ids, "attention_mask": BATCH.attention_mask}
    full = identify_denominator(123.0, LOSSES, MASK, microbatch_size=1, **every)
    assert "not tried" not in str(full)


def test_no_match_names_the_nearest():
    mean = float(LOSSES[MASK].mean())
    found = identify_denominator(mean * 1.001, LOSSES, MASK)
    assert not found.matches and found.nearest.name == "token mean"
    assert "the nearest is the token mean, off by 0.001" in str(found)


def test_one_that_fits_far_better_is_named_with_the_tolerance():
    losses = [[1.0, 1.0], [1.0, 1.00008]]  # token and sequence mean differ by 2e-5 in what follows
    mask = [[True, False], [True, True]]
    found = identify_denominator(3.00008 / 3, losses, mask, tolerance=1e-4)
    assert len(found.names) > 1 and found.nearest.name == "token mean"
    assert "the token mean best; a smaller tolerance" in str(found)
    assert "cannot tell" not in str(found)
    assert identify_denominator(3.00008 / 3, losses, mask, tolerance=1e-7).names == ["token mean"]


def test_no_candidate_is_listed_twice_and_plurals_are_words():
    found = identify_denominator(123.0, LOSSES, MASK, microbatch_size=1)
    names = [f"{c.name} {c.formula}" for c in found.candidates]
    assert len(names) == len(set(names))
    assert "  sum = sum" not in str(found) and "micro-batchs" not in str(found)
    assert str(found).count("  sum = ") == 1 and "first of the micro-batches" in str(found)


@pytest.mark.parametrize("losses", [[[1.0, 2.0], [3.0]], [torch.ones(2), torch.ones(3)],
                                    [torch.ones(1, 2), torch.ones(1, 3)]])  # fmt: skip
def test_ragged_rows_are_refused_with_the_way_out(losses):
    with pytest.raises(ValueError, match="losses must be one rectangle.*stack"):
        identify_denominator(2.0, losses, [[True, True], [True, False]])
    with pytest.raises(ValueError, match="target_mask must be one rectangle"):
        identify_denominator(2.0, [[1.0, 2.0], [3.0, 0.0]], losses)


def test_labels_are_no_mask():
    with pytest.raises(ValueError, match="labels\\[:, 1:\\] != -100"):
        identify_denominator(2.0, [[1.0, 3.0]], [[5, -100]])
    assert identify_denominator(1.0, [[1.0, 3.0]], [[1, 0]]).names[0] == "token mean"


def test_shapes_and_empty_masks_are_refused():
    with pytest.raises(ValueError, match="differ"):
        identify_denominator(1.0, LOSSES, MASK[:, 1:])
    with pytest.raises(ValueError, match="no targets"):
        identify_denominator(1.0, LOSSES, MASK & False)


def test_parts_come_in_many_forms():
    want = Part(6.0, 3)
    for form in (LossSum(6.0, 3), (6.0, 3), {"loss_sum": 6.0, "n_targets": 3}, [1.0, 2.0, 3.0],
                 {"mean": 2.0, "count": 3}, {"losses": [1.0, 2.0, 3.0]}):  # fmt: skip
        assert as_part(form) == want, form
    with pytest.raises(ValueError, match="a part needs one of"):
        as_part({"loss_sum": 1.0})
    assert join([want, want]).mean == want.mean


def test_the_token_mean_comes_first_and_is_right():
    parts = [Part(2.0, 1), Part(3.0, 3)]
    first = reductions(parts, "rank", "mean_of_rank_means")[0]
    assert (first.name, first.value, first.code) == ("token mean", 1.25, None)


NESTED = [[(7.0, 7), (3.0, 1)], [(2.0, 2), (8.0, 4)]]


@pytest.mark.parametrize(
    ("reported", "codes"),
    [(20 / 14, []), (1.75, ["mean_of_microbatch_means"]), ((10 / 8 + 10 / 6) / 2,
      ["mean_of_rank_means"]), (20 / 14 / 2, ["divided_twice"])],
)  # fmt: skip
def test_microbatches_of_ranks(reported, codes):
    assert audit_loss(reported, NESTED, over="ranks").codes == codes


def test_a_tie_is_said_to_be_one():
    parts = [{"loss_sum": 6.0, "n_targets": 2, "total_tokens": 8},
             {"loss_sum": 6.0, "n_targets": 6, "total_tokens": 8}]  # fmt: skip
    (found,) = audit_loss(2.0, parts).findings
    assert found.code == "weights_count_non_targets"
    assert "It also equals: mean of micro-batch means" in found.sentence


def test_contributions_must_add_up_to_the_token_mean():
    assert audit_loss(None, [(2.0, 1), (3.0, 3)], contributions=[0.5, 0.75]).codes == []
    halved = audit_loss(None, [(2.0, 1), (3.0, 3)], contributions=[0.25, 0.375])
    assert halved.codes == ["divided_twice"]


def test_loss_and_perplexity_together():
    fine = {"loss": 1.25, "perplexity": 3.4903}
    assert audit_loss(fine, [(2.0, 1), (3.0, 3)], over="batches").codes == []
    both = {"loss": 1.5, "perplexity": 4.4817}
    assert audit_loss(both, [(2.0, 1), (3.0, 3)], over="batches").codes == [
        "eval_mean_of_batch_means"
    ]


PARTS = [(2.0, 1), (3.0, 3), (4.0, 3)]  # token mean 9/7, mean of means 13/9


@pytest.mark.parametrize(
    ("reported", "codes"),
    [
        (1.2857, []), (1.286, []), (1.29, []), ({"loss": 1.286, "perplexity": 3.617}, []),
        ({"loss": 1.286, "perplexity": 3.62}, []), (1.3, ["loss_unexplained"]),
        (1.287, ["loss_unexplained"]), (1.285, ["loss_unexplained"]),
        (1.444, ["mean_of_microbatch_means"]), (1.44, ["mean_of_microbatch_means"]),
        (0.429, ["divided_twice"]), ({"loss": 1.286, "perplexity": 3.7}, ["loss_unexplained"]),
    ],
)  # fmt: skip
def test_a_number_that_was_rounded_is_the_number(reported, codes):
    assert audit_loss(reported, PARTS).codes == codes


def test_a_wrong_mean_that_the_token_mean_rounds_to_is_still_found():
    parts = [(100.0, 100), (151.5, 101)]  # token mean 1.2512, mean of means 1.25
    (found,) = audit_loss(1.25, parts).findings
    assert found.code == "mean_of_microbatch_means"
    assert "same number when it is rounded to 2 decimals" in found.sentence


def test_no_parts_are_refused():
    with pytest.raises(ValueError, match="parts"):
        audit_loss(1.0)
    with pytest.raises(ValueError, match="over must be one of"):
        audit_loss(1.0, [(1.0, 1)], over="steps")
