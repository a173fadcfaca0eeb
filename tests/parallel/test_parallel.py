"""Real processes: the global token mean, its gradient, DDP's averaging, and ranks that die."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st

from course_lib import LossSum, pad_documents
from course_lib.parallel import (
    RankError,
    all_sum,
    average_gradients,
    backward,
    ddp_factor,
    run_ranks,
    shard_sequence,
)
from course_lib.parallel.demo import distance, loss_of, one_step, toy_model
from tests.strategies import documents

DOCS = [[1, 2, 3, 1, 2, 4], [1, 4], [3, 3, 4], [2, 4], [1, 1, 1, 4]]


def one_process() -> tuple[float, torch.Tensor]:
    model = toy_model()
    loss = loss_of(model, DOCS).mean
    loss.backward()
    return float(loss.detach()), model.weight.grad


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("micro", [1, 2])
def test_global_mean_is_that_of_one_process(ranks: int, micro: int) -> None:
    loss, gradient = one_process()
    for value, grad in run_ranks(one_step, ranks, DOCS, micro):
        assert value == pytest.approx(loss, abs=1e-12)
        torch.testing.assert_close(torch.as_tensor(grad), gradient, rtol=0, atol=1e-12)


def test_mean_of_means_is_another_gradient() -> None:
    loss, gradient = one_process()
    results = run_ranks(one_step, 2, DOCS, 1, "mean_of_means")
    means = [
        np.mean([float(loss_of(toy_model(), [d]).mean.detach()) for d in DOCS[rank::2]])
        for rank in range(2)
    ]
    for value, grad in results:
        assert value == pytest.approx(np.mean(means), abs=1e-12) != pytest.approx(loss, abs=1e-3)
        assert distance(torch.as_tensor(grad), gradient) > 0.05


def with_ddp(rank: int, ranks: int, factor_of: str) -> torch.Tensor:
    """The same step through PyTorch's own DistributedDataParallel."""
    model = torch.nn.parallel.DistributedDataParallel(toy_model())
    pair = loss_of(model, DOCS[rank::ranks])
    count = all_sum(pair).count
    loss = pair.total * ddp_factor(count) if factor_of == "sum" else pair.mean
    loss.backward()
    return model.module.weight.grad


def test_the_factor_corrects_what_ddp_averages() -> None:
    _, gradient = one_process()
    for grad in run_ranks(with_ddp, 2, "sum"):
        torch.testing.assert_close(torch.as_tensor(grad), gradient, rtol=0, atol=1e-12)
    for grad in run_ranks(with_ddp, 2, "mean"):
        assert distance(torch.as_tensor(grad), gradient) > 0.05


def test_a_window_that_ends_early_is_divided_by_what_it_holds() -> None:
    """Five documents in micro-batches of two: rank 0 has two micro-batches, rank 1 has one."""
    counts = [len(DOCS[rank::2]) for rank in range(2)]
    assert counts == [3, 2]
    loss, gradient = one_process()
    for value, grad in run_ranks(one_step, 2, DOCS, 2):
        assert value == pytest.approx(loss, abs=1e-12)
        torch.testing.assert_close(torch.as_tensor(grad), gradient, rtol=0, atol=1e-12)


def silent(rank: int, ranks: int) -> float:
    pair = LossSum(0.0, 0) if rank == 0 else LossSum(4.0, 2)
    return all_sum(pair).mean


def test_a_rank_without_targets_takes_part() -> None:
    assert run_ranks(silent, 2) == [2.0, 2.0]
    with pytest.raises(ValueError, match="no rank has a target in this step"):
        backward([LossSum(0.0, 0)])


def dies(rank: int, ranks: int, how: str) -> None:
    if rank == 1:
        if how == "raises":
            raise KeyError("labels")
        if how == "killed":
            os.kill(os.getpid(), 9)
        time.sleep(60)
    dist.barrier()


def alive_children() -> int:
    done = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True)
    return len(done.stdout.split())


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("raises", "rank 1 of 2 raised KeyError"),
        ("killed", r"rank 1 of 2 died without an answer \(exit code -9\)"),
        ("sleeps", "no answer in time from rank 0, 1"),
    ],
)
def test_a_rank_that_dies_ends_the_run(how: str, message: str) -> None:
    before = alive_children()
    start = time.monotonic()
    with pytest.raises(RankError, match=message):
        run_ranks(dies, 2, how, timeout=3 if how == "sleeps" else 120)
    assert time.monotonic() - start < 60, "the run outlived the rank that died"
    assert alive_children() <= before


def test_under_torchrun() -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc_per_node", "2"]
    done = subprocess.run(
        [*command, "-m", "course_lib.parallel"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    by_rule = {line[0]: line for line in lines}
    assert by_rule["global_mean"][4] == "0.00%" != by_rule["mean_of_means"][4]
    assert by_rule["global_mean"][2].rstrip(",") == by_rule["one"][3]


def test_alone_it_says_how_to_start_it(capsys: pytest.CaptureFixture) -> None:
    from course_lib.parallel.__main__ import main

    assert main() == 2 and "torchrun" in capsys.readouterr().out


@given(documents(min_length=2, max_length=8), st.sampled_from([1, 2, 4]))
def test_cut_after_the_shift_loses_nothing(docs: list, ranks: int) -> None:
    batch = pad_documents(docs, multiple_of=ranks)
    good = shard_sequence(batch.input_ids, batch.labels, ranks)
    joined = torch.cat([s.targets for s in good], 1)
    assert torch.equal(joined[:, :-1], batch.labels[:, 1:])
    assert sum(s.num_targets for s in good) == batch.num_targets
    bad = shard_sequence(batch.input_ids, batch.labels, ranks, shift_first=False)
    width = batch.input_ids.shape[1] // ranks
    at_cuts = sum(int((batch.labels[:, width * r] != -100).sum()) for r in range(1, ranks))
    assert sum(s.num_targets for s in bad) == batch.num_targets - at_cuts


def test_rows_that_cannot_be_cut() -> None:
    ids = torch.tensor([[1, 2, 3]])
    with pytest.raises(ValueError, match="rows of 3 slots cannot be cut into 2 equal parts"):
        shard_sequence(ids, ids, 2)
    with pytest.raises(ValueError, match="ranks must be at least 1"):
        run_ranks(one_step, 0)


def test_gradients_that_are_missing_count_as_zero() -> None:
    model = toy_model()
    average_gradients(model)
    assert (model.weight.grad == 0).all()
