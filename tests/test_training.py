"""The loop is repeatable and quiet when nobody watches; each fault leaves its own trace."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
import torch

from course_lib import pack_documents, pad_documents
from course_lib.batch import Batch
from course_lib.decoder import TinyDecoder
from course_lib.languages import toy_documents
from course_lib.setups import Setup, prepare
from course_lib.training import History, honest_loss, train
from course_lib.vocabulary import ASSISTANT, EOS, USER, A, B

SMALL = pad_documents([[1, 2, 3, 4], [2, 3, 4], [3, 1, 2, 3, 4]])


def rows_of(language: str, boundary: str = "B") -> Batch:
    documents = toy_documents(language, 1200, seed=1)
    return pack_documents(documents, 16, boundary=boundary, strategy="next_fit")


def trained(
    language: str, positions: str = "learned", **setup: object
) -> tuple[TinyDecoder, float]:
    """Return a trained decoder and the token mean of its last fifty steps."""
    model = TinyDecoder(positions=positions)
    history = train(model, rows_of(language), setup=Setup(**setup), steps=500)
    return model, history.last(50).mean


def honest(model: TinyDecoder, language: str) -> float:
    return honest_loss(model, toy_documents(language, 300, seed=2)).mean


# --- the loop -------------------------------------------------------------------------------------


def test_two_runs_are_equal_bit_for_bit() -> None:
    runs = []
    for _ in range(2):
        model = TinyDecoder()
        history = train(model, SMALL, steps=30, rows_per_step=2)
        runs.append((history.totals, history.counts, model))
    (totals, counts, first), (again, counts_again, second) = runs
    assert np.array_equal(totals, again) and np.array_equal(counts, counts_again)
    assert all(map(torch.equal, first.parameters(), second.parameters()))
    other = train(TinyDecoder(), SMALL, steps=30, rows_per_step=2, seed=1)
    assert not np.array_equal(other.totals, totals)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, None])
def test_the_model_keeps_its_own_dtype(dtype: torch.dtype | None) -> None:
    model, exact = TinyDecoder(), TinyDecoder().double()
    totals = train(model, SMALL, steps=3, rows_per_step=2, dtype=dtype).totals
    expected = train(exact, SMALL, steps=3, rows_per_step=2, dtype=None).totals
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert {p.dtype for p in exact.parameters()} == {torch.float64}
    np.testing.assert_allclose(totals, expected, rtol=1e-5)
    assert np.array_equal(totals, expected) == (dtype == torch.float64)


def test_global_state_is_left_as_it_was() -> None:
    torch.manual_seed(3)
    random, threads = torch.get_rng_state(), torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        train(TinyDecoder(), SMALL, steps=2)
        assert torch.get_num_threads() == 2
        with pytest.raises(ValueError, match="zero targets"):
            train(TinyDecoder(), pad_documents([[1]]), steps=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(torch.get_rng_state(), random)


def test_a_step_is_the_step_of_adamw_on_the_token_mean() -> None:
    model, ours = TinyDecoder().double(), TinyDecoder().double()
    history = train(ours, SMALL, steps=1, rows_per_step=3, lr=0.1, seed=4)
    drawn = torch.randint(3, (3,), generator=torch.Generator().manual_seed(4))
    rows = SMALL.input_ids[drawn]
    labels = SMALL.labels[drawn][:, 1:]
    loss = torch.nn.functional.cross_entropy(model(rows)[:, :-1].flatten(0, 1), labels.flatten())
    loss.backward()
    torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.0).step()
    assert history.counts.tolist() == [int((labels != -100).sum())]
    assert history.means[0] == pytest.approx(loss.item(), rel=1e-6)
    for expected, got in zip(model.parameters(), ours.parameters(), strict=True):
        torch.testing.assert_close(got, expected)


def test_a_history_adds_sums_and_counts_before_it_divides() -> None:
    history = History(np.array([6.0, 4.0, 1.0]), np.array([2, 1, 3]))
    assert history.means.tolist() == [3.0, 4.0, 1 / 3]
    assert history.last(2).mean == 5.0 / 4
    assert history.last(50).count == 6
    assert repr(history) == "History(3 steps, loss 3.000 at first, 1.833 at the end)"


def test_the_honest_loss_is_that_of_each_document_by_itself() -> None:
    model, documents = TinyDecoder(), [[1, 2, 3, 4], [2, 4], [3]]
    total = sum(
        -model(torch.tensor([d])).log_softmax(-1)[0, t, d[t + 1]].item()
        for d in documents
        for t in range(len(d) - 1)
    )
    loss = honest_loss(model, documents)
    assert (loss.total, loss.count) == (pytest.approx(total, rel=1e-6), 4)


# --- the bar --------------------------------------------------------------------------------------


def test_the_bar_shows_when_asked_and_when_somebody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(**progress: bool) -> bool:
        train(TinyDecoder(), SMALL, steps=2, **progress)
        out, err = capsys.readouterr()
        assert not out
        return "train" in err

    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.delitem(sys.modules, "google.colab", raising=False)
    assert shown(progress=True)
    assert not shown(progress=False)
    assert not shown()
    monkeypatch.setenv("JPY_SESSION_NAME", "lab.ipynb")
    assert shown()


# --- what the faults leave behind -----------------------------------------------------------------


def test_right_training_comes_near_the_floor_and_speaks_the_language() -> None:
    floor = math.log(4) / 4.5  # which of four lengths, over 4.5 targets a document
    model, end = trained("cycle")
    assert floor - 0.02 < end < floor + 0.1
    assert honest(model, "cycle") == pytest.approx(end, abs=0.05)
    assert model.generate([B], max_new_tokens=9, eos_id=EOS)[:3] == [2, 3, 1]


def test_a_double_shift_hides_in_the_loss_and_not_in_the_honest_one() -> None:
    right, double = trained("echo"), trained("echo", shift=2)
    assert double[1] < right[1]
    assert honest(double[0], "echo") > 3
    assert honest(right[0], "echo") == pytest.approx(math.log(3) / 4, abs=0.03)
    question = [USER, A, ASSISTANT]
    assert right[0].generate(question, max_new_tokens=2) == [*question, A, EOS]
    assert double[0].generate(question, max_new_tokens=2) != [*question, A, EOS]


def test_a_missing_shift_drives_the_loss_to_nothing_and_the_honest_loss_to_the_sky() -> None:
    model, end = trained("cycle", shift=0)
    assert end < 0.02
    assert honest(model, "cycle") > 5
    assert model.generate([B], max_new_tokens=3) == [B, B, B, B]


def test_pads_in_the_loss_change_the_reported_number_more_than_the_model() -> None:
    right, pads = trained("cycle"), trained("cycle", pads_in_loss=True)
    assert abs(pads[1] - right[1]) > 0.03
    assert honest(pads[0], "cycle") == pytest.approx(honest(right[0], "cycle"), abs=0.03)


def test_documents_that_share_a_secret_show_a_missing_document_mask() -> None:
    clean, leaky = trained("shared", "rope"), trained("shared", "rope", mask="causal")
    assert clean[1] == pytest.approx(math.log(3) / 3, abs=0.02)
    assert leaky[1] == pytest.approx(math.log(3) / 12, abs=0.03)
    assert honest(leaky[0], "shared") > math.log(3) / 3 - 0.02


def test_on_other_languages_the_missing_document_mask_hides_in_every_loss() -> None:
    clean, leaky = trained("echo"), trained("echo", mask="causal")
    assert leaky[1] == pytest.approx(clean[1], abs=0.02)
    assert honest(leaky[0], "echo") == pytest.approx(honest(clean[0], "echo"), abs=0.02)


def test_the_boundary_convention_changes_the_number_and_hardly_the_model() -> None:
    model, packed = TinyDecoder(), rows_of("repeat", boundary="A")
    end = train(model, packed, steps=500).last().mean
    right, right_end = trained("repeat")
    assert end > right_end + 0.05
    assert honest(model, "repeat") == pytest.approx(honest(right, "repeat"), abs=0.05)


def test_prepare_leaves_the_batch_alone() -> None:
    before = SMALL.labels.clone()
    prepare(SMALL, Setup(shift=2, pads_in_loss=True))
    assert torch.equal(SMALL.labels, before)


@pytest.mark.parametrize("name", ["steps", "rows_per_step", "seed"])
def test_bad_numbers_are_refused_by_name(name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"{name} must be"):
        train(TinyDecoder(), SMALL, **{"steps": 1, name: -1})
