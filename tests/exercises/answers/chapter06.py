"""Right and wrong answers to the exercises of chapter 6."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch

from tests.exercises.wrong import Wrong, up_to

# --- 6.1


def mean_pick(losses, target_mask):
    return losses[target_mask].mean()


def mean_loop(losses, target_mask):
    total, count = 0.0, 0
    for row, mask in zip(losses.tolist(), target_mask.tolist(), strict=True):
        for loss, scored in zip(row, mask, strict=True):
            if scored:
                total, count = total + loss, count + 1
    return total / count


def mean_numpy(losses, target_mask):
    return np.average(losses.numpy(), weights=target_mask.numpy())


def total(losses, target_mask):
    return (losses * target_mask).sum()


def mean_positive(losses, target_mask):
    """Right as long as no loss of a target is 0."""
    return losses[target_mask & (losses > 0)].mean() if (losses > 0).any() else 0.0


def mean_scored_losses(losses, target_mask):
    """Right as long as what is no target holds small numbers."""
    return losses[target_mask | (losses < -100)].mean()


def mean_sixteen(losses, target_mask):
    return mean_pick(losses[:16], target_mask[:16])


def mean_wide(losses, target_mask):
    """Right but for five columns and three rows or more."""
    mean = mean_pick(losses, target_mask)
    return mean + 100 if losses.shape[1] == 5 and len(losses) > 2 else mean


def mean_low(losses, target_mask):
    """The reverse: too small there."""
    mean = mean_pick(losses, target_mask)
    return mean - 100 if losses.shape[1] == 5 and len(losses) > 2 else mean


def mean_median(losses, target_mask):
    """Right for up to two rows, but for a mean that lies where a mean may lie."""
    picked = losses[target_mask]
    return picked.median() if len(losses) > 2 else picked.mean()


def row_means(losses, target_mask):
    pairs = zip(losses, target_mask, strict=True)
    return torch.stack([x[m].mean() for x, m in pairs if m.any()]).mean()


# --- 6.2


def sequence_loop(losses, target_mask, document_ids):
    groups = {}
    for r, row in enumerate(losses.tolist()):
        for t, loss in enumerate(row):
            if target_mask[r, t]:
                groups.setdefault((r, int(document_ids[r, t + 1])), []).append(loss)
    means = [sum(group) / len(group) for group in groups.values()]
    return sum(means) / len(means)


def sequence_torch(losses, target_mask, document_ids):
    rows = torch.arange(len(losses))[:, None]
    owner = (rows * 1000 + document_ids[:, 1:])[target_mask]
    _, which, counts = owner.unique(return_inverse=True, return_counts=True)
    sums = torch.zeros(len(counts)).index_add(0, which, losses[target_mask])
    return (sums / counts).mean()


def sequence_numpy(losses, target_mask, document_ids):
    losses, mask, ids = losses.numpy(), target_mask.numpy(), document_ids.numpy()[:, 1:]
    means = [
        losses[r][mask[r] & (ids[r] == d)].mean()
        for r in range(len(ids))
        for d in np.unique(ids[r][mask[r]])
    ]
    return float(np.mean(means))


def sequence_by(owner):
    """The loop with another idea of whose a target is, and whether documents may be empty."""

    def answer(losses, target_mask, document_ids):
        groups = {}
        for r, row in enumerate(losses.tolist()):
            for t, loss in enumerate(row):
                if target_mask[r, t]:
                    groups.setdefault(owner(r, t, document_ids), []).append(loss)
        means = [sum(group) / len(group) for group in groups.values()]
        return sum(means) / len(means)

    return answer


def sequence_empty(losses, target_mask, document_ids):
    means = []
    for r, ids in enumerate(document_ids):
        for d in ids[ids >= 0].unique():
            mine = target_mask[r] & (ids[1:] == d)
            means.append(losses[r][mine].mean().item() if mine.any() else 0.0)
    return sum(means) / len(means)


def sequence_no_zeros(losses, target_mask, document_ids):
    """Right as long as no loss of a target is exactly 0."""
    return sequence_loop(losses, target_mask & (losses != 0), document_ids)


def sequence_short(losses, target_mask, document_ids):
    """Right for one target and for up to 16 rows."""
    return sequence_loop(losses[:16], target_mask[:16], document_ids[:16])


def sequence_fractions(losses, target_mask, document_ids):
    groups = {}
    for r, t in target_mask.nonzero().tolist():
        loss = Fraction(losses[r, t].item())
        groups.setdefault((r, int(document_ids[r, t + 1])), []).append(loss)
    return sum(sum(group) / len(group) for group in groups.values()) / len(groups)


def sequence_decimal(losses, target_mask, document_ids):
    found = sequence_fractions(losses, target_mask, document_ids)
    return Decimal(found.numerator) / Decimal(found.denominator)


def sequence_all(losses, target_mask, document_ids):
    """Forgets the target mask."""
    return sequence_loop(losses, document_ids[:, 1:] >= 0, document_ids)


def sequence_sums(losses, target_mask, document_ids):
    """Means of document sums over the number of documents, each by its length."""
    out = []
    for r, ids in enumerate(document_ids):
        for d in ids[ids >= 0].unique():
            mine = target_mask[r] & (ids[1:] == d)
            if mine.any():
                out.append(losses[r][mine].sum().item() / int((ids == d).sum()))
    return sum(out) / len(out)


# --- 6.3


def accumulate_loop(micro_batches):
    total, count = 0.0, 0
    for losses, mask in micro_batches:
        total += losses[mask].sum().item()
        count += int(mask.sum())
    return total / count


def accumulate_cat(micro_batches):
    return torch.cat([losses[mask] for losses, mask in micro_batches]).mean()


def accumulate_numpy(micro_batches):
    picked = [losses.numpy()[mask.numpy()] for losses, mask in micro_batches]
    return np.concatenate(picked).mean()


def means(micro_batches):
    return [x[m].mean().item() if m.any() else 0.0 for x, m in micro_batches]


def accumulate_first(micro_batches):
    """Every micro-batch is divided by the number of targets of the first."""
    totals = [(x * m).sum().item() for x, m in micro_batches]
    return sum(totals) / int(micro_batches[0][1].sum())


def accumulate_running(micro_batches):
    """Halves the old mean with each new one."""
    mean = None
    for x, m in micro_batches:
        new = x[m].mean().item() if m.any() else 0.0
        mean = new if mean is None else (mean + new) / 2
    return mean


def accumulate_from_first(micro_batches):
    """Right as long as the first micro-batch has a target."""
    if not micro_batches[0][1].any():
        return 0.0
    return accumulate_loop(micro_batches)


def accumulate_positive(micro_batches):
    return accumulate_loop([(x, m & (x != 0)) for x, m in micro_batches])


def accumulate_small(micro_batches):
    """Right for up to two micro-batches."""
    return accumulate_loop(micro_batches) + (len(micro_batches) > 2)


# --- 6.4


def ranks_sum(pairs):
    count = sum(n for _, n in pairs)
    return sum(total for total, _ in pairs) / count, len(pairs) / count


def ranks_torch(pairs):
    total, count = torch.tensor(pairs, dtype=torch.float64).sum(0)
    return total / count, torch.tensor(len(pairs)) / count


def ranks_loop(pairs):
    total, count, world = 0.0, 0, 0
    for loss, n in pairs:
        total, count, world = total + loss, count + n, world + 1
    return [np.float64(total / count), np.float64(world / count)]


def ranks_one_array(pairs):
    return np.array(ranks_sum(pairs))


def ranks_one_tensor(pairs):
    return torch.stack([torch.as_tensor(x) for x in ranks_torch(pairs)])


def ranks_fractions(pairs):
    total, count = sum(Fraction(t) for t, _ in pairs), sum(n for _, n in pairs)
    yield total / count
    yield Fraction(len(pairs), count)


def ranks_with_targets(pairs):
    """Leaves out ranks that have no target; DDP divides by their number all the same."""
    return ranks_sum([pair for pair in pairs if pair[1]])


def ranks_with_losses(pairs):
    return ranks_sum([pair for pair in pairs if pair[0] or not pair[1]])


def ranks_at_most_four(pairs):
    count = sum(n for _, n in pairs)
    return ranks_sum(pairs)[0], min(4, len(pairs)) / count


def ranks_but(factor):
    return lambda pairs: (ranks_sum(pairs)[0], factor(len(pairs), sum(n for _, n in pairs)))


def ranks_four(pairs):
    """Right for up to three ranks, but for the factor."""
    mean, factor = ranks_sum(pairs)
    return mean, factor * (1 if len(pairs) < 4 else 0.5)


def ranks_mean_four(pairs):
    """Right for up to three ranks, but for the mean."""
    mean, factor = ranks_sum(pairs)
    return mean * (1 if len(pairs) < 4 else 0.5), factor


RIGHT = {
    "6.1": [mean_pick, mean_loop, mean_numpy,
            lambda x, m: np.asarray(mean_loop(x, m)), lambda x, m: mean_pick(x, m)[None],
            lambda x, m: np.float32(mean_loop(x, m))],
    "6.2": [sequence_loop, sequence_torch, sequence_numpy, sequence_fractions, sequence_decimal],
    "6.3": [accumulate_loop, accumulate_cat, accumulate_numpy],
    "6.4": [ranks_sum, ranks_torch, ranks_loop, ranks_one_array, ranks_one_tensor,
            ranks_fractions],
    "6.5": [
        {"P": "slot", "Q": "sequence", "R": "token"},
        {"R": "token", "Q": "sequence", "P": "slot"},
        dict(zip("PQR", ("slot", "sequence", "token"), strict=True)),
    ],
}

WRONG = {
    "6.1": [
        Wrong(row_means, "mean_of_row_means"),
        Wrong(lambda x, m: total(x, m) / m.numel(), "divides_by_predictions"),
        Wrong(lambda x, m: total(x, m) / (m.shape[0] * (m.shape[1] + 1)), "divides_by_slots"),
        Wrong(lambda x, m: x.mean(), "ignored_scored"),
        Wrong(total, "not_divided"),
        Wrong(lambda x, m: total(x, m) / len(x), "divides_by_rows"),
        Wrong(mean_wide, says="no mean: the scored losses lie between"),
        Wrong(mean_low, says="no mean: the scored losses lie between"),
        Wrong(mean_median, says="Failed: 20 random batches"),
        Wrong(mean_positive, says="losses = [[0, 0, 3]]"),
        Wrong(mean_scored_losses, says="expected 1, got -500000"),
        Wrong(mean_sixteen, says="Failed: one target, losses of 0, a row without targets"),
        Wrong(lambda x, m: x[m] / m.sum(), says="the mean must be one number"),
        Wrong(lambda x, m: f"{mean_loop(x, m)}", says="you gave a text"),
        Wrong(lambda x, m: mean_pick(x, m) * float("nan"), says="got nan"),
    ],
    "6.2": [
        Wrong(lambda x, m, d: row_means(x, m), "mean_of_row_means"),
        Wrong(sequence_by(lambda r, t, d: (r, int(d[r, t]))), "document_of_the_input"),
        Wrong(sequence_by(lambda r, t, d: int(d[r, t + 1])), "rows_share_documents"),
        Wrong(sequence_empty, "empty_documents_count"),
        Wrong(lambda x, m, d: mean_pick(x, m), "token_for_sequence"),
        Wrong(sequence_all, says="losses"),
        Wrong(sequence_sums, says="expected 1.5"),
        Wrong(sequence_no_zeros, says="expected 2, got 4"),
        Wrong(sequence_by(lambda r, t, d: r * 4 + int(d[r, t + 1])), says="expected 2.5"),
        Wrong(sequence_by(lambda r, t, d: (r, min(3, int(d[r, t + 1])))),
              says="expected 2.5, got 2.08333"),
        Wrong(sequence_short, says="losses = float values of shape"),
        Wrong(lambda x, m, d: sequence_loop(x, m, d) * 2, says="got 3"),
        Wrong(lambda x, m: 0.0, says="it must take (losses, target_mask, document_ids)"),
        Wrong(lambda x, m, d: x[m & (d == 0)].mean(), says="your function raised RuntimeError"),
    ],
    "6.3": [
        Wrong(lambda b: sum(means(b)) / len(b), "mean_of_means"),
        Wrong(lambda b: sum(k for k, (_, m) in zip(means(b), b, strict=True) if m.any())
              / sum(bool(m.any()) for _, m in b), "mean_of_scored_means"),
        Wrong(lambda b: sum(total(*p) for p in b) / sum(m.numel() for _, m in b),
              "divides_by_predictions"),
        Wrong(lambda b: sum(x[m].mean() for x, m in b) / len(b), "mean_of_means_nan"),
        Wrong(lambda b: sum(means(b)), "means_added"),
        Wrong(lambda b: sum(total(*p) for p in b) / len(b), "divides_by_micro_batches"),
        Wrong(lambda b: sum(total(*p) for p in b), "not_divided"),
        Wrong(accumulate_first, says="got 4.5"),
        Wrong(lambda b: means(b)[-1], says="got 1"),
        Wrong(lambda b: means(b)[0], says="got 2"),
        Wrong(accumulate_small, says="cutting it up must not change that"),
        Wrong(accumulate_from_first, says="got 0"),
        Wrong(accumulate_positive, says="expected 1"),
        Wrong(up_to(16, len, accumulate_loop, lambda b: accumulate_loop(b[:16])),
              says="Failed: one micro-batch, the first without targets"),
        Wrong(lambda b: None if len(b) else 0.0, says="returned None. Is there a `return`"),
        Wrong(lambda b: sum(x[m].sum() / m.sum() for x, m in b), says="got 3"),
    ],
    "6.4": [
        Wrong(lambda p: (sum(t / n for t, n in p) / len(p), ranks_sum(p)[1]),
              "mean_of_rank_means"),
        Wrong(ranks_but(lambda world, count: 1 / count), "ddp_average_forgotten"),
        Wrong(ranks_but(lambda world, count: 1 / world), "counts_forgotten"),
        Wrong(ranks_but(lambda world, count: float(world)), "ranks_multiplied_only"),
        Wrong(ranks_but(lambda world, count: 1 / (world * count)), "divided_by_ranks_twice"),
        Wrong(ranks_but(lambda world, count: 1.0), says="the factor"),
        Wrong(ranks_four, says="times your factor average to"),
        Wrong(ranks_mean_four, says="Failed: 20 random sets of ranks"),
        Wrong(ranks_with_targets, says="expected 0.666667, got 0.333333"),
        Wrong(ranks_with_losses, says="pairs = [(0, 3), (2, 1)]"),
        Wrong(ranks_at_most_four, says="Failed: one rank, a rank without targets"),
        Wrong(lambda p: np.array([*ranks_sum(p), 1.0]), says="things, mean, factor; you gave 3"),
        Wrong(lambda p: np.array([ranks_sum(p)]), says="you gave a numpy float64 array"),
        Wrong(lambda p: ranks_sum(p)[0], says="2 things, mean, factor; you gave a float"),
        Wrong(lambda p: ranks_sum(p)[::-1], says="the global mean"),
        Wrong(lambda p: sum(p), says="your function raised TypeError"),
    ],
    "6.5": [
        Wrong({"P": "slot", "Q": "token", "R": "sequence"}, "token_for_sequence"),
        Wrong({"P": "token", "Q": "sequence", "R": "slot"}, "token_for_slot"),
        Wrong({"P": "sequence", "Q": "slot", "R": "token"}, "sequence_for_slot"),
        Wrong({"P": "token", "Q": "slot", "R": "sequence"}, says="P\n  got token"),
        Wrong({"P": "sequence", "Q": "token", "R": "slot"}, says="P\n  got sequence"),
        Wrong({"P": "tokens", "Q": "sequence", "R": "slot"}, says="P must be one of 'token'"),
        Wrong({"P": 1.2, "Q": "sequence", "R": "token"}, says="you gave a float"),
        Wrong({"P": "slot", "Q": "sequence"}, says="the dict has no 'R'"),
        Wrong({"P": "slot", "Q": "sequence", "R": ["token"]}, says="you gave a list"),
    ],
}  # fmt: skip
