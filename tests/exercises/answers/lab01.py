"""Right and wrong answers to the exercises of lab 1."""

import math
from collections import UserDict

import numpy as np
import torch
import torch.nn.functional as F

from course_lib.decoder import TinyDecoder
from tests.exercises.wrong import Wrong, up_to

# --- L1.1

COUNTS = {
    "token embedding": 28,
    "positions": 64,
    "attention": 80,
    "feed-forward": 192,
    "layer norms": 24,
    "output": 35,
    "total": 423,
}


def counts(**change):
    """The right counts but for `change`; the total follows."""
    parts = COUNTS | {name.replace("_", " "): n for name, n in change.items()}
    return parts | {"total": sum(n for name, n in parts.items() if name != "total")}


def from_model():
    sizes = {name: p.numel() for name, p in TinyDecoder().named_parameters()}
    found = {
        "token embedding": sizes["token_embedding.weight"],
        "positions": sizes["position_embedding.weight"],
        "attention": sum(n for k, n in sizes.items() if ".attention." in k),
        "feed-forward": sum(n for k, n in sizes.items() if ".swiglu." in k),
        "layer norms": sum(n for k, n in sizes.items() if "norm" in k),
        "output": sizes["output.weight"] + sizes["output.bias"],
    }
    return found | {"total": sum(found.values())}


# --- L1.2


def difference_cat(packed, separate):
    alone = torch.cat(separate)
    return (packed[: len(alone)] - alone).abs().max()


def difference_loop(packed, separate):
    start, worst = 0, 0.0
    for one in separate:
        for t, row in enumerate(one):
            for a, b in zip(packed[start + t].tolist(), row.tolist(), strict=True):
                if math.isnan(a - b):
                    return a - b
                worst = max(worst, abs(a - b))
        start += len(one)
    return worst


def difference_max(packed, separate):
    """Right as long as no logit is NaN."""
    pairs = zip(packed.flatten().tolist(), torch.cat(separate).flatten().tolist(), strict=False)
    return max(0.0, *(abs(a - b) for a, b in pairs))


def difference_masked(packed, separate):
    """Right as long as the padding holds numbers: 0 times NaN is NaN."""
    alone = torch.cat([*separate, torch.zeros(len(packed) - sum(map(len, separate)),
                                              packed.shape[1])])  # fmt: skip
    real = torch.arange(len(packed))[:, None] < sum(map(len, separate))
    return ((packed - alone) * real).abs().max()


def difference_numpy(packed, separate):
    alone = np.concatenate([one.numpy() for one in separate])
    return np.abs(packed.numpy()[: len(alone)] - alone).max()


def difference_first(packed, separate):
    return difference_cat(packed, separate[:1])


def difference_last(packed, separate):
    start = sum(map(len, separate[:-1]))
    return difference_cat(packed[start:], separate[-1:])


def difference_three(packed, separate):
    """Right for up to three documents."""
    return difference_cat(packed, separate[:3])


def difference_negative(packed, separate):
    """Right for up to three documents."""
    found = difference_cat(packed, separate)
    return found if len(separate) < 4 else -found - 1


# --- L1.3


def equal(*values):
    names = ("learned, reset", "learned, running", "rope, reset", "rope, running")
    return dict(zip(names, values, strict=True))


# --- L1.4


def honest_rows(logits, documents):
    total, count = 0.0, 0
    for row, document in zip(logits, documents, strict=True):
        targets = torch.tensor(document[1:], dtype=torch.long)
        total += F.cross_entropy(row[: len(targets)], targets, reduction="sum").item()
        count += len(targets)
    return total / count


def honest_padded(logits, documents, shift=1, pad=-100):
    labels = torch.full(logits.shape[:2], pad)
    for row, document in zip(labels, documents, strict=True):
        row[: len(document)] = torch.tensor(document)
    moved = labels[:, shift:]
    return F.cross_entropy(logits[:, : moved.shape[1]].flatten(0, 1), moved.flatten())


def honest_numpy(logits, documents):
    scores = logits.double().numpy()
    scores = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    losses = [
        -scores[r, t, token]
        for r, document in enumerate(documents)
        for t, token in enumerate(document[1:])
    ]
    return np.mean(losses)


def honest_mean_of_means(logits, documents):
    means = [honest_rows([row], [d]) for row, d in zip(logits, documents, strict=True)
             if len(d) > 1]  # fmt: skip
    return sum(means) / len(means)


def honest_over(size):
    def answer(logits, documents):
        targets = sum(len(d) - 1 for d in documents)
        return honest_rows(logits, documents) * targets / size(logits, documents)

    return answer


def honest_base_2(logits, documents):
    return honest_rows(logits, documents) / np.log(2)


def honest_small_vocabulary(logits, documents):
    """Right for the toy vocabulary."""
    return honest_rows(logits[..., :7], [[min(i, 6) for i in d] for d in documents])


def honest_no_zeros(logits, documents):
    return honest_padded(logits, [[i or -100 for i in d] for d in documents])


def honest_first(logits, documents):
    """Right as long as the first document has a target."""
    return honest_rows(logits, documents) if len(documents[0]) > 1 else 0.0


def honest_four(logits, documents):
    """Right for up to four documents; then far too small."""
    return honest_rows(logits, documents) * (1e-6 if len(documents) > 4 else 1)


def honest_long(logits, documents):
    """Right for up to four documents; then somewhat too large."""
    return honest_rows(logits, documents) * (1.01 if len(documents) > 4 else 1)


RIGHT = {
    "L1.1": [COUNTS, from_model(), {k: np.int64(v) for k, v in COUNTS.items()},
             UserDict({k: torch.tensor(v) for k, v in COUNTS.items()})],
    "L1.2": [difference_cat, difference_loop, difference_numpy],
    "L1.3": [
        equal(True, False, True, True),
        equal(*np.array([True, False, True, True])),
        equal(*torch.tensor([True, False, True, True])),
    ],
    "L1.4": [honest_rows, honest_padded, honest_numpy],
}

WRONG = {
    "L1.1": [
        Wrong(counts(attention=64, output=28), "biases_forgotten"),
        Wrong(counts(layer_norms=16), "final_norm_forgotten"),
        Wrong(COUNTS | {"feed-forward": 128, "total": 359}, "two_matrices"),
        Wrong(counts(layer_norms=12), "norm_bias_forgotten"),
        Wrong(counts(positions=0), "positions_forgotten"),
        Wrong(counts(output=7), "output_tied"),
        Wrong(COUNTS | {"total": 420}, says="your parts add up to 423, and your total is 420"),
        Wrong(counts(attention=96), says="attention\n  got 96"),
        Wrong(counts(positions=28), says="positions\n  got 28"),
        Wrong({k: v for k, v in COUNTS.items() if k != "total"}, says="the dict has no 'total'"),
        Wrong(423, says="you gave a whole number"),
        Wrong(COUNTS | {"output": "7 * 4 + 7"}, says="output must be a whole number"),
    ],
    "L1.2": [
        Wrong(lambda p, s: (p[: len(torch.cat(s))] - torch.cat(s)).max(), "signed_difference"),
        Wrong(lambda p, s: (p[: len(torch.cat(s))] - torch.cat(s)).abs().mean(),
              "mean_difference"),
        Wrong(lambda p, s: max((p[: len(x)] - x).abs().max().item() for x in s), "from_slot_0"),
        Wrong(difference_first, "only_first_document"),
        Wrong(lambda p, s: max(difference_cat(p, s), p[len(torch.cat(s)):].abs().sum()),
              "padding_compared"),
        Wrong(difference_max, "nan_vanishes"),
        Wrong(difference_masked, says="expected 3, got nan"),
        Wrong(up_to(16, lambda p, s: len(s), difference_cat,
                    lambda p, s: difference_cat(p, s[:1])), says="packed = float values"),
        Wrong(difference_last, says="expected 0.5, got 0.25"),
        Wrong(difference_three, says="Failed: 60 random rows"),
        Wrong(difference_negative, says="a largest absolute difference is never negative"),
        Wrong(lambda p, s: (p - torch.cat(s)).abs().max(), says="your function raised Runtime"),
        Wrong(lambda p, s: p[: len(torch.cat(s))] - torch.cat(s), says="must be one number"),
        Wrong(lambda p, s: ((p[: len(torch.cat(s))] - torch.cat(s)) ** 2).max(), says="got 0.25"),
        Wrong(lambda p, s: -difference_cat(p, s), says="got -0.5"),
        Wrong(lambda p, s: difference_loop(p, s) < 1e-6, says="you gave a truth value"),
    ],
    "L1.3": [
        Wrong(equal(True, False, True, False), "rope_needs_reset"),
        Wrong(equal(True, True, True, True), "reset_never_matters"),
        Wrong(equal(False, False, True, True), "learned_never_equal"),
        Wrong(equal(False, True, False, False), "only_running_equal"),
        Wrong(equal(False, False, False, False), "nothing_equal"),
        Wrong(equal(True, True, False, False), says="learned, running\n  got True"),
        Wrong(equal(True, False, False, True), says="rope, reset\n  got False"),
        Wrong(equal(True, False, True, 1), says="rope, running must be True or False"),
        Wrong([True, False, True, True], says="you gave a list"),
    ],
    "L1.4": [
        Wrong(lambda z, d: honest_padded(z, d, pad=0), "pad_target"),
        Wrong(lambda z, d: honest_padded(z, d, shift=0), "missing_shift"),
        Wrong(lambda z, d: honest_padded(z, d, shift=2), "double_shift"),
        Wrong(honest_mean_of_means, "mean_of_row_means"),
        Wrong(honest_over(lambda z, d: z.shape[0] * (z.shape[1] - 1)), "divides_by_predictions"),
        Wrong(honest_over(lambda z, d: sum(map(len, d))), "counts_real_tokens"),
        Wrong(honest_over(lambda z, d: 1), says="the honest loss\n  expected"),
        Wrong(honest_small_vocabulary, says="Failed: one target, single tokens"),
        Wrong(honest_no_zeros, says="documents = [[3], [0, 0], [5]]"),
        Wrong(honest_first, says="got 0"),
        Wrong(honest_base_2, says="Failed: one document, two of unlike length"),
        Wrong(honest_four, says="no token of these logits has so small a loss"),
        Wrong(honest_long, says="Failed: 20 random sets of documents"),
        Wrong(lambda z, d: honest_rows(z.softmax(-1), d), says="the honest loss\n  expected"),
        Wrong(lambda z, d: F.cross_entropy(z, d), says="your function raised TypeError"),
    ],
}  # fmt: skip
