"""Run a function on several ranks, collect what they return, and leave no process behind."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from course_lib.inputs import as_int

MOMENT = 1.0
"""Seconds that the other ranks get to answer after one has failed."""


class RankError(RuntimeError):
    """A rank raised, died or did not answer in time; the message says which and how."""


def run_ranks(
    worker: Callable[..., Any], ranks: int, *args: Any, timeout: float = 60.0
) -> list[Any]:
    """Call `worker(rank, ranks, *args)` in `ranks` processes and return their results in order.

    Each process is forked, joins a `torch.distributed` group (gloo) and uses one thread, so it
    works from a notebook, where functions have no module to be imported from. Tensors in a result
    come back as numpy arrays. `timeout` is in seconds, for the whole run.

    Raises RankError as soon as one rank raises, dies or runs out of time; the others are ended.

    >>> def who(rank, ranks):
    ...     return rank * 10
    >>> run_ranks(who, 2)
    [0, 10]
    """
    count = as_int(ranks, "ranks", at_least=1)
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        meeting = f"file://{Path(folder) / 'group'}"
        pipes, processes = [], []
        for rank in range(count):
            mine, theirs = context.Pipe(duplex=False)
            process = context.Process(
                target=_rank, args=(worker, rank, count, args, meeting, timeout, theirs)
            )
            process.daemon = True
            process.start()
            theirs.close()
            pipes.append(mine)
            processes.append(process)
        try:
            return _collect(pipes, processes, time.monotonic() + timeout)
        finally:
            _end(processes)


def _rank(
    worker: Callable[..., Any], rank: int, ranks: int, args: tuple, meeting: str, timeout: float,
    answer: Connection,
) -> None:  # fmt: skip
    """The life of one rank."""
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    try:
        dist.init_process_group(
            "gloo", init_method=meeting, rank=rank, world_size=ranks,
            timeout=timedelta(seconds=timeout),
        )  # fmt: skip
        dist.barrier()  # who is done early would hang up on one that is still connecting
        result = worker(rank, ranks, *args)
        answer.send((True, _plain(result)))
    except BaseException as error:  # the parent must hear of everything
        story = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        answer.send((False, (time.monotonic(), story)))
    finally:
        answer.close()
        if dist.is_initialized():
            dist.destroy_process_group()


def _collect(pipes: list[Connection], processes: list[BaseProcess], until: float) -> list[Any]:
    """Take one answer from each rank; a bad one ends the run.

    When a rank dies, its neighbours soon raise because the connection is gone. So the others get a
    moment to answer; a death is reported before an exception, and the earliest exception first.
    """
    results: dict[int, Any] = {}
    raised: dict[int, tuple[float, str]] = {}
    died: list[int] = []
    open_pipes = {pipe: rank for rank, pipe in enumerate(pipes)}
    while open_pipes:
        ready = wait(list(open_pipes), timeout=max(0.0, until - time.monotonic()))
        if not ready:
            break
        for pipe in ready:
            rank = open_pipes.pop(pipe)
            try:
                good, value = pipe.recv()
            except EOFError:
                died.append(rank)
                continue
            (results if good else raised)[rank] = value
        if died or raised:
            until = min(until, time.monotonic() + MOMENT)
    if died:
        processes[died[0]].join(5)
        code = processes[died[0]].exitcode
        raise RankError(
            f"rank {died[0]} of {len(pipes)} died without an answer (exit code {code}); "
            "the other ranks were ended."
        )
    if raised:
        rank = min(raised, key=lambda r: raised[r][0])  # the first to fail is the cause
        head, _, trace = raised[rank][1].partition("\n")
        raise RankError(f"rank {rank} of {len(pipes)} raised {head}\n{trace}")
    if open_pipes:
        late = ", ".join(str(rank) for rank in sorted(open_pipes.values()))
        raise RankError(
            f"no answer in time from rank {late}. A rank may be waiting for another one in a "
            "collective call that not all ranks make; or raise timeout."
        )
    return [results[rank] for rank in range(len(pipes))]


def _end(processes: list[BaseProcess]) -> None:
    """See every process off, by force if need be."""
    for process in processes:
        process.join(0.5)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()


def _plain(result: Any) -> Any:
    """Detach tensors and copy them out of shared memory, so that a pipe can carry them."""
    if isinstance(result, torch.Tensor):
        return result.detach().cpu().numpy()
    if isinstance(result, dict):
        return {key: _plain(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return type(result)(_plain(value) for value in result)
    return result
