"""Exercise 6.4: sums and counts of ranks."""

from __future__ import annotations

import random
from typing import Any

from course_lib.exercises import cases
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.containers import Items, parts
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One, scalar_of
from course_lib.loss import LossSum


def _ranks(pairs: list[tuple[float, int]]) -> tuple[float, float]:
    whole = sum(LossSum(total, count) for total, count in pairs)
    return float(whole.mean), len(pairs) / whole.count


def _rank_means(pairs: list[tuple[float, int]]) -> tuple[float, float]:
    means = [LossSum(total, max(count, 1)).mean for total, count in pairs]
    return sum(means) / len(pairs), _ranks(pairs)[1]


def _pairs(rng: random.Random) -> Args:
    return ([(rng.randint(1, 40) / 4, rng.randint(1, 9)) for _ in range(rng.randint(2, 4))],)


def _many_pairs(rng: random.Random) -> Args:
    """Over 16 ranks, some of them without targets."""
    counts = [5, *(rng.randint(0, 9) for _ in range(cases.many(rng)))]
    return ([(rng.randint(0, 40) / 4 if count else 0.0, count) for count in counts],)


def _gradient(value: Any, pairs: list[tuple[float, int]]) -> str:
    """What DDP's average of the scaled sums comes to must be the global mean."""
    factor = scalar_of(parts(value)[1])
    averaged = sum(factor * total for total, _ in pairs) / len(pairs)
    if abs(averaged - _ranks(pairs)[0]) < 1e-4:
        return ""
    return (
        f"the ranks' sums times your factor average to {averaged:.6g}, "
        f"and the global mean is {_ranks(pairs)[0]:.6g}"
    )


EXERCISES = (
    Exercise(
        id="6.4",
        title="Ranks",
        objective="Correct what data-parallel averaging does to a token mean.",
        minutes=10,
        difficulty="hard",
        chapter=6,
        idea="DDP divides the sum of gradients by the number of ranks; the loss must undo that.",
        prompt="Each rank has a sum of losses and a count of targets, which may be 0. Return the "
        "global token mean, and the factor by which every rank multiplies its own sum so that the "
        "average of the gradients over ranks is the gradient of that mean.",
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
            Edges(
                "one rank, a rank without targets, losses of 0, and many ranks",
                lambda: [
                    ([(4.0, 2)],),
                    ([(0.0, 0), (6.0, 3)],),
                    ([(0.0, 3), (2.0, 1)],),
                ],
                _many_pairs,
            ),
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
)  # fmt: skip
