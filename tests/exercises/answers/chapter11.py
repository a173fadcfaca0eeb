"""Right and wrong answers to the exercises of chapter 11."""

import numpy as np
import torch

from tests.exercises.wrong import Wrong

# --- 11.1


def labels_loop(input_ids, turn_lengths):
    labels, start = [], 0
    for turn, n in enumerate(turn_lengths):
        part = input_ids[start : start + n]
        labels += part if turn % 2 else [-100] * n
        start += n
    return labels


def labels_repeat(input_ids, turn_lengths):
    lengths = torch.tensor(turn_lengths)
    turn = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    return torch.where(turn % 2 == 1, torch.tensor(input_ids), -100)


def labels_searched(input_ids, turn_lengths):
    ends = np.cumsum(turn_lengths)
    turn = np.searchsorted(ends, np.arange(len(input_ids)), side="right")
    return np.where(turn % 2, input_ids, -100)


def picked(wanted, other=-100):
    """Trains on the turns that `wanted(turn, count)` names."""

    def answer(input_ids, turn_lengths):
        count, labels, start = len(turn_lengths), [], 0
        for turn, n in enumerate(turn_lengths):
            part = input_ids[start : start + n]
            labels += part if wanted(turn, count) else [other] * n
            start += n
        return labels

    return answer


def last_answer(turn, count):
    return turn == max(k for k in range(-1, count) if k % 2)


def without_end(input_ids, turn_lengths):
    labels, end = labels_loop(input_ids, turn_lengths), 0
    for turn, n in enumerate(turn_lengths):
        end += n
        if turn % 2 and n:
            labels[end - 1] = -100
    return labels


def without_first(input_ids, turn_lengths):
    labels, start = labels_loop(input_ids, turn_lengths), 0
    for turn, n in enumerate(turn_lengths):
        if turn % 2 and n:
            labels[start] = -100
        start += n
    return labels


def labels_shifted(input_ids, turn_lengths):
    return [*labels_loop(input_ids, turn_lengths)[1:], -100]


def labels_four_turns(input_ids, turn_lengths):
    """Right for up to four turns; a further answer is forgotten."""
    return picked(lambda turn, count: turn in (1, 3))(input_ids, turn_lengths)


def labels_sixteen_turns(input_ids, turn_lengths):
    """Right for up to sixteen turns."""
    return picked(lambda turn, count: turn % 2 and turn < 16)(input_ids, turn_lengths)


def labels_without_pad(input_ids, turn_lengths):
    """Right until an answer holds the id 0."""
    return [-100 if token == 0 else token for token in labels_loop(input_ids, turn_lengths)]


# --- 11.2


def mean_loop(micro_batches):
    top = bottom = 0.0
    for losses, mask, weights in micro_batches:
        for row in zip(losses.tolist(), mask.tolist(), weights.tolist(), strict=True):
            for loss, target, weight in zip(*row, strict=True):
                if target:
                    top += weight * loss
                    bottom += weight
    return top / bottom


def mean_sums(micro_batches):
    top = sum((x * w)[m].sum() for x, m, w in micro_batches)
    return top / sum(w[m].sum() for _, m, w in micro_batches)


def mean_numpy(micro_batches):
    flat = [np.concatenate([part[i][part[1]].numpy() for part in micro_batches]) for i in (0, 2)]
    return np.average(flat[0], weights=flat[1])


def above(micro_batches):
    return sum((x * w)[m].sum() for x, m, w in micro_batches)


def part_mean(x, m, w):
    return (x * w)[m].sum() / w[m].sum() if m.any() else torch.tensor(0.0)


def unweighted(micro_batches):
    return sum(x[m].sum() for x, m, _ in micro_batches)


def mean_with_constant(micro_batches):
    """Right but for a summand that somebody added against a division by zero."""
    return above(micro_batches) / (sum(w[m].sum() for _, m, w in micro_batches) + 1)


def mean_of_sixteen(micro_batches):
    """Right for up to sixteen micro-batches."""
    return mean_sums(micro_batches[:16])


def mean_at_least_one(micro_batches):
    """Clamps the denominator to 1, as one does with a count."""
    return above(micro_batches) / max(1.0, float(sum(w[m].sum() for _, m, w in micro_batches)))


RIGHT = {
    "11.1": [labels_loop, labels_repeat, labels_searched],
    "11.2": [mean_loop, mean_sums, mean_numpy],
}

WRONG = {
    "11.1": [
        Wrong(picked(lambda turn, count: turn > 0), "only_first_prompt_masked"),
        Wrong(picked(last_answer), "only_last_answer"),
        Wrong(picked(lambda turn, count: turn % 2 == 0), "answers_masked"),
        Wrong(without_end, "turn_end_masked"),
        Wrong(without_first, "first_answer_masked"),
        Wrong(picked(lambda turn, count: True), "prompts_scored"),
        Wrong(picked(lambda turn, count: turn % 2, other=0), "zero_for_ignored"),
        Wrong(labels_shifted, says="labels: slot 2"),
        Wrong(labels_four_turns, says="turn 5 is an answer"),
        Wrong(labels_sixteen_turns, says="Failed: one turn, ids of 0, and long conversations"),
        Wrong(labels_without_pad, says="expected 0"),
        Wrong(lambda ids, turns: [labels_loop(ids, turns)], says="shape of labels"),
        Wrong(lambda ids, turns: labels_repeat(ids, turns) != -100, says="yours holds torch.bool"),
    ],
    "11.2": [
        Wrong(lambda b: above(b) / sum(m.sum() for _, m, _ in b), "weights_not_counted"),
        Wrong(lambda b: above(b) / sum(w.sum() for _, _, w in b), "weights_of_all_slots"),
        Wrong(lambda b: sum(part_mean(*part) for part in b) / len(b), "mean_of_means"),
        Wrong(lambda b: unweighted(b) / sum(m.sum() for _, m, _ in b), "weights_ignored"),
        Wrong(lambda b: unweighted(b) / sum(w[m].sum() for _, m, w in b), "weights_only_below"),
        Wrong(above, says="expected 2, got 4"),
        Wrong(mean_with_constant, says="expected 2, got 1.33333"),
        Wrong(lambda b: mean_sums(b) + 100 * (len(b) > 2), says="of the targets lie between"),
        Wrong(mean_of_sixteen, says="long lists"),
        Wrong(mean_at_least_one, says="expected 4, got 2"),
        Wrong(lambda b: [part_mean(*part) for part in b], says="must be one number"),
    ],
}
