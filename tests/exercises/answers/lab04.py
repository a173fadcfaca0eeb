"""Right and wrong answers to the exercises of lab 4."""

from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

from tests.exercises.wrong import Wrong, up_to

# --- L4.2


def weights_lists(counts):
    total = sum(sum(row) for row in counts)
    return [[len(counts) * n / total for n in row] for row in counts]


def weights_tensor(counts):
    n = torch.tensor(counts)
    return n / n.sum() * n.shape[0]


def weights_numpy(counts):
    return np.array(counts) / np.mean([sum(row) for row in counts])


def weights_fractions(counts):
    return [[Fraction(len(counts) * n, total(counts)) for n in row] for row in counts]


def weights_scaled(make):
    def answer(counts):
        return [[make(n, row, counts) for n in row] for row in counts]

    return answer


def total(counts):
    return sum(map(sum, counts))


def weights_small(counts):
    """Right for up to two ranks."""
    return weights_lists(counts) if len(counts) < 3 else weights_tensor(counts) * 2 / len(counts)


def weights_turned(counts):
    """Right sums, but the ranks in reverse order."""
    return weights_lists(counts)[::-1]


# --- L4.1


def drift_torch(gradient, full):
    return F.cosine_similarity(gradient, full, 0), (gradient - full).norm() / full.norm()


def drift_numpy(gradient, full):
    g, f = gradient.numpy(), full.numpy()
    size = np.linalg.norm
    return g @ f / size(g) / size(f), size(g - f) / size(f)


def drift_loop(gradient, full):
    g, f = gradient.tolist(), full.tolist()
    dot = sum(a * b for a, b in zip(g, f, strict=True))
    gg, ff = sum(a * a for a in g), sum(b * b for b in f)
    off = sum((a - b) ** 2 for a, b in zip(g, f, strict=True))
    return [dot / (gg * ff) ** 0.5, (off / ff) ** 0.5]


def relative(make):
    return lambda g, f: (F.cosine_similarity(g, f, 0), make(g, f))


def drift_long(gradient, full):
    """Right for up to four parameters."""
    return drift_torch(gradient[:4], full[:4])


def drift_large(part):
    """Right for up to four parameters; then one of the two numbers cannot be."""

    def answer(gradient, full):
        found = list(drift_torch(gradient, full))
        if len(gradient) > 4:
            found[part] = -2.0
        return found

    return answer


RIGHT = {
    "L4.2": [weights_lists, weights_tensor, weights_numpy, weights_fractions],
    "L4.1": [drift_torch, drift_numpy, drift_loop, lambda g, f: torch.stack(drift_torch(g, f)),
             lambda g, f: np.array(drift_numpy(g, f))],
}

WRONG = {
    "L4.2": [
        Wrong(weights_scaled(lambda n, row, all_: n / total(all_)), "share_of_all"),
        Wrong(weights_scaled(lambda n, row, all_: n / sum(row)), "share_of_the_rank"),
        Wrong(weights_scaled(lambda n, row, all_: 1 / len(row)), "equal_weights"),
        Wrong(weights_scaled(lambda n, row, all_: len(all_) / total(all_)), "weights_of_sums"),
        Wrong(weights_scaled(lambda n, row, all_: len(all_) * n / total(all_) / len(row)),
              "shared_twice"),
        Wrong(weights_scaled(lambda n, row, all_: 1.0), says="weights: rank 0, micro-batch 0"),
        Wrong(weights_small, says="your ranks average to"),
        Wrong(weights_scaled(lambda n, row, all_: len(all_) * min(n, 9) / total(all_)),
              says="Failed: one micro-batch, one for each rank, and many"),
        Wrong(up_to(16, len, weights_lists,
                    lambda counts: [[16 * x for x in row] for row in weights_lists(counts)]),
              says="counts ="),
        Wrong(lambda counts: weights_lists(counts) if counts != [[3]] else [[0.0]],
              says="expected 1, got 0"),
        Wrong(weights_turned, says="weights: rank 0, micro-batch 0"),
        Wrong(lambda counts: weights_lists(counts)[0], says="shape of weights"),
        Wrong(lambda counts: {"a": 1}, says="you gave a dict"),
    ],
    "L4.1": [
        Wrong(relative(lambda g, f: (g.norm() - f.norm()) / f.norm()), "lengths_subtracted"),
        Wrong(relative(lambda g, f: (g - f).norm() / g.norm()), "over_own_length"),
        Wrong(relative(lambda g, f: (g - f).norm()), "not_relative"),
        Wrong(lambda g, f: (g @ f, (g - f).norm() / f.norm()), "dot_product"),
        Wrong(lambda g, f: (1 - F.cosine_similarity(g, f, 0), (g - f).norm() / f.norm()),
              "cosine_distance"),
        Wrong(relative(lambda g, f: ((g - f) ** 2).sum() / (f ** 2).sum()), "squared_lengths"),
        Wrong(lambda g, f: drift_torch(g, f)[::-1], says="the cosine\n  expected 1, got 0"),
        Wrong(drift_long, says="Failed:"),
        Wrong(up_to(16, lambda g, f: len(g), drift_torch,
                    lambda g, f: drift_torch(g[:16], f[:16])),
              says="gradient = float values of shape [500]"),
        Wrong(lambda g, f: drift_torch(g, f) if len(g) > 1 else (1.0, 0.0),
              says="expected -1, got 1"),
        Wrong(drift_large(0), says="a cosine lies between -1 and 1; yours is -2"),
        Wrong(drift_large(1), says="a length is never negative"),
        Wrong(lambda g, f: F.cosine_similarity(g, f, 0), says="the answer must be 2 things"),
        Wrong(relative(lambda g, f: (g - f).abs().sum() / f.abs().sum()), says="Failed:"),
        Wrong(lambda g, f: (F.cosine_similarity(g, f), 0), says="your function raised"),
    ],
}  # fmt: skip
