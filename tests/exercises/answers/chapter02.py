"""Right and wrong answers to the exercises of chapter 2."""

from collections import deque

import numpy as np
import torch

from tests.exercises.wrong import Wrong, up_to

# --- 2.1 pairs of the row 1 3 2 1 4

PAIRS = [(0, 3), (1, 2), (2, 1), (3, 4)]

# --- 2.2


def shift_slices(logits, labels):
    return logits[:, :-1, :], labels[:, 1:]


def shift_loop(logits, labels):
    batch, width, vocab = logits.shape
    kept = torch.empty(batch, width - 1, vocab)
    targets = torch.empty(batch, width - 1, dtype=torch.int32)
    for t in range(width - 1):
        kept[:, t], targets[:, t] = logits[:, t], labels[:, t + 1]
    return kept, targets


def shift_generator(logits, labels):
    yield logits[:, :-1]
    yield labels.numpy()[:, 1:]


def shift_numpy(logits, labels):
    return np.delete(logits.numpy(), -1, axis=1), np.delete(labels.numpy(), 0, axis=1)


def shift_narrow(logits, labels):
    size = labels.shape[1] - 1
    return [logits.narrow(1, 0, size), labels.narrow(1, 1, size)]


def shift_keeps_one(logits, labels):
    """Right as long as a row has two slots."""
    size = max(1, labels.shape[1] - 1)
    return logits[:, :size], labels[:, -size:]


def shift_sixteen(logits, labels):
    """Right for rows of up to 16 slots."""
    return logits[:, :-1], torch.cat([labels[:, 1:16], labels[:, 16:-1]], 1)


def shift_wide_batches(logits, labels):
    """Right as long as no row is longer than four."""
    moved = labels[:, 1:].clone()
    if labels.shape[1] > 4:
        moved[:, 0] = labels[:, 0]
    return logits[:, :-1], moved


def shift_zeroes_padding(logits, labels):
    """Right as long as no row is longer than four, and at column 0."""
    moved = labels[:, 1:].clone()
    if labels.shape[1] > 4:
        moved[:, 1:][moved[:, 1:] == -100] = 0
    return logits[:, :-1], moved


def shift_in_place(logits, labels):
    targets = labels[:, 1:].clone()
    labels[:, 0] = -100
    return logits[:, :-1], targets


# --- 2.3


def double_compare(input_ids, labels, loss_shifts):
    scored = labels[:, :-1] != -100
    if not loss_shifts or not scored.any():
        return False
    return torch.equal(labels[:, :-1][scored], input_ids[:, 1:][scored])


def double_loop(input_ids, labels, loss_shifts):
    agreed = 0
    for ids, row in zip(input_ids.tolist(), labels.tolist(), strict=True):
        for t in range(len(ids) - 1):
            if row[t] == -100:
                continue
            if row[t] != ids[t + 1]:
                return False
            agreed += 1
    return loss_shifts and agreed > 0


def double_numpy(input_ids, labels, loss_shifts):
    ids, early = input_ids.numpy(), labels.numpy()
    scored = early[:, :-1] != -100
    same = np.where(scored, early[:, :-1] == ids[:, 1:], True)
    return np.bool_(loss_shifts and scored.any() and same.all())


def double_empty(input_ids, labels, loss_shifts):
    """Takes labels that tell nothing for labels that agree."""
    scored = labels[:, :-1] != -100
    return bool(loss_shifts and (labels[:, :-1] == input_ids[:, 1:])[scored].all())


def double_most(input_ids, labels, loss_shifts):
    scored = labels[:, :-1] != -100
    early = (labels[:, :-1] == input_ids[:, 1:])[scored].float()
    return bool(loss_shifts and len(early) and early.mean() > 0.9)


def double_any(input_ids, labels, loss_shifts):
    scored = labels[:, :-1] != -100
    return bool(loss_shifts and (labels[:, :-1] == input_ids[:, 1:])[scored].any())


def double_with_ignored(input_ids, labels, loss_shifts):
    return bool(loss_shifts and (labels[:, :-1] == input_ids[:, 1:]).all())


def double_first_row(input_ids, labels, loss_shifts):
    return bool(loss_shifts and labels[0, 0] == input_ids[0, 1])


def double_not_copy(input_ids, labels, loss_shifts):
    return bool(loss_shifts and not torch.equal(input_ids, labels))


def double_or_any_early(input_ids, labels, loss_shifts):
    """Right but for five columns or more, where the loss is not asked."""
    return double_compare(input_ids, labels, loss_shifts or labels.shape[1] > 4)


RIGHT = {
    "2.1": [
        PAIRS,
        tuple(reversed(PAIRS)),
        np.array(PAIRS),
        torch.tensor(PAIRS),
        list(zip(range(4), [3, 2, 1, 4], strict=True)),
        {(0, 3), (1, 2), (2, 1), (3, 4)},
        dict(PAIRS).items(),
        deque(map(list, PAIRS)),
        np.array(PAIRS, dtype=object),
    ],
    "2.2": [shift_slices, shift_loop, shift_numpy, shift_narrow, shift_generator],
    "2.3": [double_compare, double_loop, double_numpy],
}

WRONG = {
    "2.1": [
        Wrong([(0, 1), (1, 3), (2, 2), (3, 1), (4, 4)], "missing_shift"),
        Wrong([(0, 1), (1, 3), (2, 2), (3, 1)], "missing_shift_short"),
        Wrong([(0, 2), (1, 1), (2, 4)], "double_shift"),
        Wrong([(1, 1), (2, 3), (3, 2), (4, 1)], "shift_backwards"),
        Wrong([(1, 3), (2, 2), (3, 1), (4, 4)], "names_the_target_slot"),
        Wrong([*PAIRS, (4, -100)], "last_position_scored"),
        Wrong([*PAIRS, (4, 1)], "wraps_around"),
        Wrong(PAIRS[:3], says="expected in the list, got not in the list"),
        Wrong([*PAIRS, (5, 2)], says="expected not in the list, got in the list"),
        Wrong([*PAIRS, (3, 4)], says="names (3, 4) more than once"),
        Wrong([3, 2, 1, 4], says="must be a list of (position, target id); it holds 3"),
        Wrong([(0, 3, 1)], says="it holds (0, 3, 1)"),
        Wrong([(0, 3.0)], says="it holds (0, 3.0)"),
        Wrong([np.zeros((2, 2))], says="it holds a numpy float64 array"),
        Wrong(4, says="you gave a whole number"),
        Wrong(torch.tensor(4), says="you gave one number, 4"),
    ],
    "2.2": [
        Wrong(lambda lg, lb: (lg[:, :-1], lb[:, :-1]), "missing_shift"),
        Wrong(lambda lg, lb: (lg[:, 1:], lb[:, :-1]), "shift_backwards"),
        Wrong(lambda lg, lb: (lg[:, :-2], lb[:, 2:]), "double_shift"),
        Wrong(lambda lg, lb: (lg[:, 1:], lb[:, 1:]), "both_lose_the_first"),
        Wrong(lambda lg, lb: (lg, lb), "nothing_dropped"),
        Wrong(lambda lg, lb: (lg[:-1], lb[1:]), "shifts_rows"),
        Wrong(lambda lg, lb: (lg, lb.roll(-1, 1)), "wraps_around"),
        Wrong(lambda lg, lb: (lb[:, 1:], lg[:, :-1]), "results_swapped"),
        Wrong(shift_in_place, "changes_input", says="Reread chapter 2, Shift"),
        Wrong(shift_keeps_one, says="expected [1, 0, 5], got [1, 1, 5]"),
        Wrong(shift_sixteen, says="Failed: rows of one slot, and large batches"),
        Wrong(up_to(16, lambda lg, lb: len(lb), shift_slices,
                    lambda lg, lb: (lg[:16, :-1], lb[:16, 1:])), says="got [16, "),
        Wrong(shift_wide_batches, says="must be scored on the second label of the row"),
        Wrong(shift_zeroes_padding, says="Failed: 20 random padded batches"),
        Wrong(lambda lg, lb: lb[:, 1:], says="2 things, logits, targets; you gave a torch.int64"),
        Wrong(lambda lg, lb: (lg, lb, 0), says="2 things, logits, targets; you gave 3"),
        Wrong(lambda lg, lb: (lg[:, :-1], lb[:, 1:].float()), says="dtype: targets must be whole"),
        Wrong(lambda lg, lb: (lg[:, :-1], lb[:, 1:].tolist()), says="you gave a list"),
        Wrong(lambda lg, lb: (lg[:, :-1], lb[:, 1:, None]), says="shape of targets"),
    ],
    "2.3": [
        Wrong(lambda ids, labels, loss_shifts: double_compare(ids, labels, True),
              "ignores_the_loss"),
        Wrong(lambda ids, labels, loss_shifts: False, "always_fine"),
        Wrong(lambda ids, labels, loss_shifts: loss_shifts, "loss_shift_is_the_fault"),
        Wrong(double_any, "one_agreement_is_enough", says="labels = [[1, 1, 1, 2]]"),
        Wrong(double_with_ignored, "ignored_labels_compared", says="expected True, got False"),
        Wrong(double_first_row, says="labels = [[-100, 1, 4, -100]]"),
        Wrong(double_not_copy, "unlike_the_ids", says="expected False, got True"),
        Wrong(double_or_any_early, says="labels shifted once, by the collator, are right"),
        Wrong(lambda ids, labels, loss_shifts: "yes", says="must be True or False"),
        Wrong(lambda ids, labels, loss_shifts: int(loss_shifts), "loss_shift_is_the_fault",
              says="you gave a whole number"),
        Wrong(double_empty, says="expected False, got True"),
        Wrong(double_most, says="Failed: batches that tell nothing or little"),
        Wrong(up_to(16, lambda ids, labels, loss_shifts: len(ids), double_compare,
                    lambda ids, labels, loss_shifts: False), says="expected True, got False"),
        Wrong(lambda ids, labels: False, says="it must take (input_ids, labels, loss_shifts)"),
    ],
}  # fmt: skip
