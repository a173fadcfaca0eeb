"""Right and wrong answers to the exercises of chapter 13."""

import math

import torch
import torch.nn.functional as F

from course_lib import document_mask
from tests.exercises.wrong import Wrong, up_to


def weights_loop(q, k, document_ids):
    length, width = q.shape
    weights = [[0.0] * length for _ in range(length)]
    for i in range(length):
        keys = [j for j in range(i + 1) if document_ids[i] == document_ids[j] >= 0]
        powers = [math.exp(float(q[i] @ k[j]) / math.sqrt(width)) for j in keys]
        for j, power in zip(keys, powers, strict=True):
            weights[i][j] = power / sum(powers)
    return weights


def weights_masked(q, k, document_ids):
    mask = document_mask(document_ids)
    scores = (q @ k.T / q.shape[1] ** 0.5).masked_fill(~mask, -math.inf)
    return scores.softmax(-1).nan_to_num(0.0)


def weights_sdpa(q, k, document_ids):
    """Attention over the rows of an identity matrix gives the weights."""
    mask = document_mask(document_ids)
    eye = torch.eye(len(q))
    return F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)


def weights_with(mask_of, scale=lambda d: d**-0.5, axis=-1, fill=0.0):
    def weights(q, k, document_ids):
        mask = mask_of(document_ids)
        scores = (q @ k.T * scale(q.shape[1])).masked_fill(~mask, -math.inf)
        return scores.softmax(axis).nan_to_num(fill)

    return weights


def weights_padding_reads_padding(q, k, document_ids):
    """Padding attends to earlier padding: right for a single slot of it."""
    pad = document_ids < 0
    mask = document_mask(document_ids) | (pad[:, None] & pad).tril(-1)
    return (q @ k.T / q.shape[1] ** 0.5).masked_fill(~mask, -math.inf).softmax(-1).nan_to_num(0.0)


def weights_by_count(q, k, document_ids):
    """Powers divided by how many keys there are: right where all scores are equal."""
    mask = document_mask(document_ids)
    return (q @ k.T / q.shape[1] ** 0.5).exp() * mask / mask.sum(1, keepdim=True).clamp(min=1)


def same(ids):
    return ids[:, None] == ids


def causal(ids):
    return torch.ones(len(ids), len(ids), dtype=torch.bool).tril()


def gradient_loop(logits, labels):
    length, vocab = logits.shape
    rows = [[0.0] * vocab for _ in range(length)]
    for t in range(length - 1):
        target = int(labels[t + 1])
        if target < 0:
            continue
        powers = [math.exp(float(z)) for z in logits[t]]
        rows[t] = [p / sum(powers) - (v == target) for v, p in enumerate(powers)]
    return rows


def gradient_autograd(logits, labels):
    z = logits.double().requires_grad_()
    F.cross_entropy(z[:-1], labels[1:], reduction="sum").backward()
    return z.grad


def gradient_vectorised(logits, labels):
    targets = F.pad(labels[1:], (0, 1), value=-100)
    scored = targets >= 0
    hot = F.one_hot(targets.clamp(min=0), logits.shape[1])
    return (logits.softmax(-1) - hot) * scored[:, None]


def gradient_of(reduction="sum", pair=lambda z, y: (z[:-1], y[1:])):
    def gradient(logits, labels):
        z = logits.clone().requires_grad_()
        F.cross_entropy(*pair(z, labels), reduction=reduction).backward()
        return z.grad

    return gradient


def gradient_ignored_scored(logits, labels):
    targets = F.pad(labels[1:], (0, 1), value=-100)
    hot = F.one_hot(targets.clamp(min=0), logits.shape[1]) * (targets >= 0)[:, None]
    return logits.softmax(-1) - hot


def gradient_sigmoid(logits, labels):
    """Each score by itself: right for two tokens with equal scores."""
    return gradient_vectorised(logits, labels) - (logits.softmax(-1) - logits.sigmoid()) * (
        F.pad(labels[1:], (0, 1), value=-100) >= 0
    ).unsqueeze(1)


RIGHT = {
    "13.1": [weights_loop, weights_masked, weights_sdpa],
    "13.2": [gradient_loop, gradient_autograd, gradient_vectorised],
}

WRONG = {
    "13.1": [
        Wrong(weights_with(causal), "no_document_mask"),
        Wrong(
            weights_with(lambda ids: causal(ids) & (ids >= 0)[:, None]),
            "no_document_mask_but_padding",
        ),
        Wrong(weights_with(lambda ids: same(ids) & (ids >= 0)), "future_in_document"),
        Wrong(weights_with(lambda ids: same(ids) & causal(ids)), "padding_is_a_document"),
        Wrong(weights_with(lambda ids: document_mask(ids).tril(-1)), "self_masked"),
        Wrong(weights_with(document_mask, fill=math.nan), says="0 / 0 is NaN"),
        Wrong(weights_with(document_mask, lambda d: 1), says="the scores are not divided by √d"),
        Wrong(weights_with(document_mask, lambda d: 1 / d), says="divided by d, not by √d"),
        Wrong(weights_with(document_mask, axis=0), says="query 0, key 0"),
        Wrong(lambda q, k, ids: weights_masked(q, k, ids) / 2, says="expected 1, got 0.5"),
        Wrong(weights_padding_reads_padding, says="is padding and may attend to nothing"),
        Wrong(lambda q, k, ids: weights_masked(q, k, ids.clamp(max=3)),
              says="Failed: one slot, only padding, one number"),
        Wrong(lambda q, k, ids: weights_masked(q, k, ids) + (ids.max() < 0), says="got 1"),
        Wrong(up_to(16, lambda q, k, ids: q.shape[1], weights_masked,
                    lambda q, k, ids: weights_masked(q[:, :16], k[:, :16], ids)),
              says="q = float values of shape"),
        Wrong(weights_by_count, says="the weights of query 0 add to"),
        Wrong(lambda q, k, ids: weights_masked(k, q, ids), says="the weights: query 1, key 0"),
        Wrong(lambda q, k, ids: weights_masked(q, k, ids)[:-1], says="shape"),
        Wrong(lambda q, k, ids: document_mask(ids), says="dtype"),
    ],
    "13.2": [
        Wrong(gradient_of(pair=lambda z, y: (z, y)), "missing_shift"),
        Wrong(gradient_of(pair=lambda z, y: (z[:-2], y[2:])), "double_shift"),
        Wrong(gradient_of(pair=lambda z, y: (z, y.roll(-1))), "wraps_around"),
        Wrong(gradient_ignored_scored, "ignored_scored"),
        Wrong(gradient_of("mean"), says="gradient of the mean over"),
        Wrong(lambda z, y: -gradient_autograd(z, y), says="the sign is turned"),
        Wrong(lambda z, y: z.softmax(-1), says="expected -0.5, got 0.5"),
        Wrong(lambda z, y: gradient_autograd(z, y) if len(y) > 1 else z.softmax(-1),
              says="labels = [1]"),
        Wrong(up_to(16, lambda z, y: len(y), gradient_autograd,
                    lambda z, y: torch.cat([gradient_autograd(z[:17], y[:17]), 0 * z[17:]])),
              says="Failed: one slot, no target, and long rows"),
        Wrong(lambda z, y: gradient_autograd(z, y) + (y[1:] == -100).all().double(),
              says="expected 0, got 1"),
        Wrong(gradient_sigmoid, says="what one score gains, others lose"),
        Wrong(lambda z, y: gradient_autograd(z, y)[:-1], says="shape"),
        Wrong(lambda z, y: gradient_autograd(z, y).sum(1).tolist(), says="shape of the gradient"),
        Wrong(lambda z, y: gradient_autograd(z, y) != 0, says="dtype"),
    ],
}  # fmt: skip
