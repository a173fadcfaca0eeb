"""The training loop of the decoder, and the loss that tells what it has really learned.

The loop is the same for every `setups.Setup`, right or wrong. Left out: learning-rate schedules,
gradient clipping, accumulation, saving.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from course_lib.batch import Batch
from course_lib.inputs import as_int
from course_lib.loss import LossSum
from course_lib.padding import pad_documents
from course_lib.setups import Setup, prepare


@dataclass(frozen=True, repr=False)
class History:
    """The loss of every step as the pair (sum, count): `totals` in nats and `counts`, [steps]."""

    totals: np.ndarray
    counts: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """Token mean of each step, [steps]."""
        return self.totals / self.counts

    def last(self, steps: int = 50) -> LossSum:
        """Return the sum over the last `steps` steps; its `.mean` is their token mean.

        >>> History(np.array([9.0, 2.0]), np.array([3, 2])).last(1).mean
        1.0
        """
        tail = slice(-as_int(steps, "steps", at_least=1), None)
        return LossSum(float(self.totals[tail].sum()), int(self.counts[tail].sum()))

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        first, end = self.means[0], self.last().mean
        return f"History({len(self)} steps, loss {first:.3f} at first, {end:.3f} at the end)"


def train(
    model: nn.Module,
    batch: Batch,
    *,
    setup: Setup | None = None,
    steps: int = 1000,
    rows_per_step: int = 32,
    lr: float = 0.02,
    seed: int = 0,
    dtype: torch.dtype | None = torch.float64,
    progress: bool | None = None,
) -> History:
    """Train `model` in place on rows drawn from `batch` and return the loss of every step.

    Each of `steps` steps draws `rows_per_step` rows with replacement, takes the token mean over
    their targets and lets AdamW (learning rate `lr`, no weight decay) make one step. The same
    `seed` and the same model give the same history, bit for bit, on a CPU. The steps are computed
    in `dtype` (None: that of the model), since in float32 two kinds of processor differ in the
    third digit after some hundred steps; afterwards the model has its own dtype again. One thread
    is used, which is fastest at this size. `progress` True or False shows or hides a bar; None
    shows it at a terminal and in a live notebook, not when a notebook is executed to be stored or
    compared.

    Raises ValueError when drawn rows hold no target at all.

    >>> from course_lib.decoder import TinyDecoder
    >>> len(train(TinyDecoder(), pad_documents([[1, 2, 3, 4]]), steps=2))
    2
    """
    from tqdm import tqdm

    feed, pairs = prepare(batch, setup), []
    draw = torch.Generator().manual_seed(as_int(seed, "seed"))
    size = (as_int(rows_per_step, "rows_per_step", at_least=1),)
    shown = _is_live() if progress is None else progress
    steps = as_int(steps, "steps", at_least=1)
    bar = tqdm(total=steps, desc="train", disable=not shown, leave=False)
    with _one_thread(), _computing_in(model, dtype), bar:
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0, fused=True)
        for _ in range(steps):
            loss = feed.rows(torch.randint(len(batch), size, generator=draw)).loss(model)
            optimizer.zero_grad(set_to_none=True)
            loss.mean.backward()
            optimizer.step()
            pairs.append((float(loss.total.detach()), loss.count))
            bar.update()
    totals, counts = zip(*pairs, strict=True)
    return History(np.array(totals), np.array(counts))


@torch.no_grad()
def honest_loss(model: nn.Module, documents: Iterable[Sequence[int]]) -> LossSum:
    """Return the loss that cannot be flattered: each document by itself, with the right targets.

    One document a row, positions from 0, one shift, no padding among the targets. The pair's
    `.mean` is the token mean in nats.

    >>> from course_lib.decoder import TinyDecoder
    >>> honest_loss(TinyDecoder(), [[1, 2, 3], [1, 4]]).count
    3
    """
    loss = prepare(pad_documents(documents)).loss(model)
    return LossSum(float(loss.total), loss.count)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run on one thread, then give the others back."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _computing_in(model: nn.Module, dtype: torch.dtype | None) -> Iterator[None]:
    """Give the model another dtype, then its own again."""
    own = next(model.parameters()).dtype
    model.to(dtype or own)
    try:
        yield
    finally:
        model.to(own)


def _is_live() -> bool:
    """Is somebody watching: at a terminal, or in a notebook that a Jupyter server or Colab runs?

    Jupyter servers tell their kernels the notebook's name; nbclient and nbval, which execute a
    notebook to store or compare its outputs, do not.
    """
    return sys.stderr.isatty() or "JPY_SESSION_NAME" in os.environ or "google.colab" in sys.modules
