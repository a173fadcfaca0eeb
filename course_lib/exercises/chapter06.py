"""Exercises of chapter 6: one sum, and the number that it is divided by."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Exact, Property, Random
from course_lib.exercises.containers import Fields, Items
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.loss import LossSum, reduce_losses

Micro = list[tuple[Tensor, Tensor]]
MEAN = One("the mean", "float")


def _mask(rows: list[list[int]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.bool)


# --- 6.1


def _row_means(losses: Tensor, target_mask: Tensor) -> Tensor:
    return reduce_losses(losses, target_mask, "sequence")


def _sum(losses: Tensor, target_mask: Tensor) -> Tensor:
    return losses.masked_fill(~target_mask, 0).sum()


def _lesson() -> Args:
    """The lesson's two sequences: 1 and 3 nats, and five times 1; four entries are no targets."""
    losses = [[1.0, 3.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]]
    return torch.tensor(losses), _mask([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])


def _losses(rng: random.Random) -> Args:
    rows, columns = rng.randint(1, 4), rng.randint(2, 6)
    return cases.losses(rng, rows, columns), cases.some_true(rng, rows, columns)


def _outside(value: Any, losses: Tensor, target_mask: Tensor) -> str:
    low, high = losses[target_mask].min().item(), losses[target_mask].max().item()
    if low - 1e-4 <= scalar_of(value) <= high + 1e-4:
        return ""
    return f"no mean: the scored losses lie between {low:g} and {high:g}"


# --- 6.2


def _by_document(losses: Tensor, target_mask: Tensor, document_ids: Tensor) -> Tensor:
    return reduce_losses(losses, target_mask, "sequence", document_ids)


def _by_input(losses: Tensor, target_mask: Tensor, document_ids: Tensor) -> Tensor:
    return reduce_losses(losses, target_mask, "sequence", document_ids[:, :-1])


def _rows_forgotten(losses: Tensor, target_mask: Tensor, document_ids: Tensor) -> Tensor:
    flat = document_ids[:, 1:].reshape(1, -1)
    return reduce_losses(losses.reshape(1, -1), target_mask.reshape(1, -1), "sequence", flat)


def _empty_count(losses: Tensor, target_mask: Tensor, document_ids: Tensor) -> Tensor:
    """Documents without a target enter the mean of means as 0."""
    scored = document_ids[:, 1:].where(target_mask, -1)
    pairs = [(r, d) for r, row in enumerate(document_ids) for d in row[row >= 0].unique()]
    with_target = sum(bool((scored[r] == d).any()) for r, d in pairs)
    return _by_document(losses, target_mask, document_ids) * with_target / len(pairs)


def _packed_losses(rng: random.Random) -> Args:
    mask, ids = cases.packed_targets(rng)
    return cases.losses(rng, len(mask), mask.shape[1]), mask, ids


def _small_packed() -> list[Args]:
    return [
        (
            torch.tensor([[1.0, 3.0, 1.0, 1.0, 1.0, 0.0]]),
            _mask([[1, 1, 1, 1, 1, 0]]),
            cases.rectangle([[0, 0, 0, 1, 1, 1, -1]]),
        ),
        (
            torch.tensor([[1.0, 3.0, 0.0], [5.0, 2.0, 2.0]]),
            _mask([[1, 0, 0], [1, 1, 1]]),
            cases.rectangle([[0, 0, 1, -1], [0, 0, 1, 1]]),
        ),
    ]


# --- 6.3 and 6.4


def _whole(micro_batches: Micro) -> Any:
    return sum(LossSum.of(losses, mask) for losses, mask in micro_batches).mean


def _mean_of_means(micro_batches: Micro) -> Any:
    means = [reduce_losses(x, m) if m.any() else x.sum() * 0 for x, m in micro_batches]
    return torch.stack(means).mean()


def _mean_of_scored_means(micro_batches: Micro) -> Any:
    return _mean_of_means([(x, m) for x, m in micro_batches if m.any()])


def _per_prediction(micro_batches: Micro) -> Any:
    return sum(_sum(*pair) for pair in micro_batches) / sum(m.numel() for _, m in micro_batches)


def _per_micro_batch(micro_batches: Micro) -> Any:
    return sum(_sum(*pair) for pair in micro_batches) / len(micro_batches)


def _micro_batches(rng: random.Random) -> Args:
    batches = [_losses(rng) for _ in range(rng.randint(2, 4))]
    if cases.coin(rng, 0.3):
        losses, mask = batches[-1]
        batches[-1] = losses, mask & False
    return (batches,)


def _split_matters(value: Any, micro_batches: Micro) -> str:
    """The same losses in one micro-batch of a single row must give the same mean."""
    losses = torch.cat([x.flatten() for x, _ in micro_batches])[None]
    mask = torch.cat([m.flatten() for _, m in micro_batches])[None]
    one = _whole([(losses, mask)]).item()
    if abs(scalar_of(value) - one) < 1e-4:
        return ""
    return f"all losses in one batch have the mean {one:.6g}: cutting it up must not change that"


def _ranks(pairs: list[tuple[float, int]]) -> tuple[float, float]:
    whole = sum(LossSum(total, count) for total, count in pairs)
    return float(whole.mean), len(pairs) / whole.count


def _rank_means(pairs: list[tuple[float, int]]) -> tuple[float, float]:
    return sum(LossSum(t, c).mean for t, c in pairs) / len(pairs), _ranks(pairs)[1]


def _pairs(rng: random.Random) -> Args:
    return ([(rng.randint(1, 40) / 4, rng.randint(1, 9)) for _ in range(rng.randint(2, 4))],)


def _gradient(value: Any, pairs: list[tuple[float, int]]) -> str:
    """What DDP's average of the scaled sums comes to must be the global mean."""
    averaged = sum(scalar_of(value[1]) * total for total, _ in pairs) / len(pairs)
    if abs(averaged - _ranks(pairs)[0]) < 1e-4:
        return ""
    return (
        f"the ranks' sums times your factor average to {averaged:.6g}, "
        f"and the global mean is {_ranks(pairs)[0]:.6g}"
    )


# --- 6.5

DOCUMENT_LOSSES, ROW_SLOTS = [[2.0, 4.0], [1.0, 1.0, 1.0, 1.0, 2.0]], 10
WORDS = ("token", "sequence", "slot")
ORDER = random.Random("6.5").sample(WORDS, 3)


def _named() -> dict[str, str]:
    return dict(zip("PQR", ORDER, strict=True))


def _reported() -> dict[str, float]:
    """The three reported losses, each by its own denominator."""
    sizes = [len(row) for row in DOCUMENT_LOSSES]
    losses = torch.tensor([[x for row in DOCUMENT_LOSSES for x in [0.0, *row]][1:] + [0.0]])
    ids = cases.rectangle([[0] * (sizes[0] + 1) + [1] * (sizes[1] + 1) + [-1]])
    return {n: reduce_losses(losses, losses > 0, by, ids).item() for n, by in _named().items()}


def _swapped(one: str, other: str) -> dict[str, str]:
    swap = {one: other, other: one}
    return {name: swap.get(word, word) for name, word in _named().items()}


EXERCISES = (
    Exercise(
        id="6.1",
        title="Token mean",
        objective="Divide a sum of losses by the number of targets in it.",
        minutes=5,
        difficulty="easy",
        chapter=6,
        idea="the token mean is the sum over targets, divided by the number of targets.",
        prompt="Return the token mean of the losses. Entries outside of target_mask are no "
        "targets, whatever number stands there.",
        stub="def token_mean(losses, target_mask):\n"
        '    """both [B, T-1] -> one number"""\n    ...',
        hints=(
            "two numbers are needed, and a division at the very end.",
            "a boolean mask picks the entries: losses[target_mask].",
            "how many are picked? That is the denominator, over all rows together.",
        ),
        returns=MEAN,
        reference=reduce_losses,
        checks=(
            Exact(
                "the lesson's two sequences, a row with one target, entries that do not count",
                lambda: [
                    _lesson(),
                    (torch.tensor([[2.0, 7.0]]), _mask([[0, 1]])),
                    (torch.tensor([[1.0, 9.0], [2.0, 9.0]]), _mask([[1, 0], [1, 0]])),
                ],
            ),
            Property("a mean lies between its smallest and its largest loss", _losses, _outside),
            Random("20 random batches", _losses),
        ),
        misconceptions={
            "mean_of_row_means": _row_means,
            "divides_by_predictions": lambda losses, mask: _sum(losses, mask) / mask.numel(),
            "divides_by_slots": lambda losses, mask: _sum(losses, mask)
            / (mask.numel() + len(mask)),
            "ignored_scored": lambda losses, mask: losses.mean(),
            "not_divided": _sum,
            "divides_by_rows": lambda losses, mask: _sum(losses, mask) / len(losses),
        },
        own=("loss.reduce_losses", "loss.LossSum"),
    ),
    Exercise(
        id="6.2",
        title="Sequence mean under packing",
        objective="Average documents, not rows, when several documents share a row.",
        minutes=15,
        difficulty="hard",
        chapter=6,
        idea="a target belongs to the document of its own token, one slot right of its prediction.",
        prompt="Return the mean of the documents' own mean losses. A target belongs to the "
        "document of its token; documents without a target do not count. Document ids start at 0 "
        "in each row, -1 is padding.",
        stub="def sequence_mean(losses, target_mask, document_ids):\n"
        '    """[B, T-1], [B, T-1], [B, T] -> one number"""\n    ...',
        hints=(
            "losses have one column fewer than document_ids. Which column of ids fits the targets?",
            "document 0 of row 0 and document 0 of row 1 are two documents.",
            "for each row and each id: the losses of its targets, their mean if there are any; "
            "then the mean of these means.",
        ),
        returns=MEAN,
        reference=_by_document,
        checks=(
            Exact("a packed row, and two rows of two documents", _small_packed),
            Random("40 random packed batches", _packed_losses, 40),
        ),
        misconceptions={
            "mean_of_row_means": lambda losses, mask, ids: _row_means(losses, mask),
            "document_of_the_input": _by_input,
            "rows_share_documents": _rows_forgotten,
            "empty_documents_count": _empty_count,
            "token_for_sequence": lambda losses, mask, ids: reduce_losses(losses, mask),
        },
        own=("loss.reduce_losses",),
    ),
    Exercise(
        id="6.3",
        title="Accumulation",
        objective="Get the mean of a batch from its micro-batches.",
        minutes=8,
        difficulty="medium",
        chapter=6,
        idea="add sums and counts over all micro-batches, and divide once.",
        prompt="Return the token mean of the whole batch from its micro-batches. One of them may "
        "hold no target at all.",
        stub="def accumulate(micro_batches):\n"
        '    """list of (losses, target_mask) -> one number"""\n    ...',
        hints=(
            "which two numbers of a micro-batch can be added to those of another?",
            "a micro-batch without targets adds 0 to both.",
            "divide after the loop, not in it.",
        ),
        returns=MEAN,
        reference=_whole,
        checks=(
            Exact(
                "the lesson's sequences as two micro-batches, and one without targets",
                lambda: [
                    ([(x[None], m[None]) for x, m in zip(*_lesson(), strict=True)],),
                    ([_lesson(), (torch.tensor([[4.0]]), _mask([[0]]))],),
                ],
            ),
            Property("how the batch is cut does not matter", _micro_batches, _split_matters),
            Random("20 random batches", _micro_batches),
        ),
        misconceptions={
            "mean_of_means": _mean_of_means,
            "mean_of_scored_means": _mean_of_scored_means,
            "divides_by_predictions": _per_prediction,
            "divides_by_micro_batches": _per_micro_batch,
            "not_divided": lambda micro_batches: sum(_sum(*pair) for pair in micro_batches),
        },
        own=("loss.reduce_losses", "loss.LossSum"),
    ),
    Exercise(
        id="6.4",
        title="Ranks",
        objective="Correct what data-parallel averaging does to a token mean.",
        minutes=10,
        difficulty="hard",
        chapter=6,
        idea="DDP divides the sum of gradients by the number of ranks; the loss must undo that.",
        prompt="Each rank has a sum of losses and a count of targets. Return the global token "
        "mean, and the factor by which every rank multiplies its own sum so that the average of "
        "the gradients over ranks is the gradient of that mean.",
        stub="def ranks(pairs):\n"
        '    """one (sum, count) for each rank -> mean, factor"""\n    ...',
        hints=(
            "the global mean needs one sum and one count over all ranks.",
            "DDP gives (f·sum_0 + f·sum_1 + …) / number of ranks. What should it give?",
            "solve for f: it holds the number of ranks and the global count.",
        ),
        returns=Items((One("the global mean", "float"), One("the factor", "float")),
                      ("mean", "factor")),
        reference=_ranks,
        checks=(
            Exact(
                "the lesson's sums on two ranks, equal counts, three ranks",
                lambda: [
                    ([(4.0, 2), (5.0, 5)],),
                    ([(3.0, 2), (1.0, 2)],),
                    ([(6.0, 1), (1.0, 4), (2.0, 4)],),
                ],
            ),
            Property("the averaged gradient is that of the global mean", _pairs, _gradient),
            Random("20 random sets of ranks", _pairs),
        ),
        misconceptions={
            "mean_of_rank_means": _rank_means,
            "ddp_average_forgotten": lambda pairs: (
                _ranks(pairs)[0], _ranks(pairs)[1] / len(pairs)
            ),
            "counts_forgotten": lambda pairs: (_ranks(pairs)[0], 1 / len(pairs)),
            "ranks_multiplied_only": lambda pairs: (_ranks(pairs)[0], float(len(pairs))),
            "divided_by_ranks_twice": lambda pairs: (
                _ranks(pairs)[0], _ranks(pairs)[1] / len(pairs) ** 2
            ),
        },
        own=("loss.LossSum",),
    ),
    Exercise(
        id="6.5",
        title="Which denominator?",
        objective="Recognise a mean by its value.",
        minutes=5,
        difficulty="easy",
        chapter=6,
        idea="one sum has three means here: over targets, over sequences, over slots.",
        prompt="Two documents, with the losses of their targets given, share a row of 10 slots. "
        "Three trainers report the losses P, Q and R for it. Say for each what it is a mean over.",
        stub='answer = {"P": ..., "Q": ..., "R": ...}',
        hints=(
            "add up all losses. Which denominator gives each reported number?",
            "one of the three is no sum over everything: it averages two means.",
            "the smallest of them divides by the most.",
        ),
        returns=Fields({name: One(name, "word", WORDS) for name in "PQR"}),
        reference=_named,
        checks=(Exact("the three denominators"),),
        misconceptions={
            "token_for_sequence": lambda: _swapped("token", "sequence"),
            "token_for_slot": lambda: _swapped("token", "slot"),
            "sequence_for_slot": lambda: _swapped("sequence", "slot"),
        },
        given=lambda: {
            "losses": [list(row) for row in DOCUMENT_LOSSES],
            "slots": ROW_SLOTS,
        }
        | {name: round(value, 6) for name, value in _reported().items()},
    ),
)  # fmt: skip
