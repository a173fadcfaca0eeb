"""Right and wrong answers to the five detectors of chapter 7."""

from collections import deque

import numpy as np
import torch

from tests.exercises.wrong import Wrong, up_to


def listed(mask):
    return [tuple(place) for place in torch.as_tensor(mask).nonzero().tolist()]


# --- 7.1


def twice_tensor(input_ids, targets):
    early, ahead = targets[:, :-1], input_ids[:, 2:]
    return torch.nonzero((early == ahead) & (early != input_ids[:, 1:-1]))


def twice_loop(input_ids, targets):
    found = []
    for row, (ids, scored) in enumerate(
        zip(input_ids.tolist(), targets.tolist(), strict=True)
    ):
        for t in range(len(ids) - 2):
            if scored[t] == ids[t + 2] and scored[t] != ids[t + 1]:
                found.append((row, t))
    return found


def twice_numpy(input_ids, targets):
    ids, scored = input_ids.numpy(), targets.numpy()[:, :-1]
    return np.argwhere((scored == ids[:, 2:]) & (scored != ids[:, 1:-1]))


def twice_equal(input_ids, targets):
    return listed(targets[:, :-1] == input_ids[:, 2:])


def twice_first_row(input_ids, targets):
    return twice_loop(input_ids[:1], targets[:1])


def twice_first_column(input_ids, targets):
    return [place for place in twice_loop(input_ids, targets) if place[1] == 0]


def twice_and_healthy(input_ids, targets):
    """Right for up to two rows; in others the first prediction is named as well."""
    found = twice_loop(input_ids, targets)
    return [*found, (2, 0)] if len(targets) > 2 and (2, 0) not in found else found


def twice_no_end(input_ids, targets):
    """Takes for granted that a row has three slots."""
    return twice_loop(input_ids, targets) if input_ids.shape[1] > 2 else [(0, 0)]


def twice_positive(input_ids, targets):
    return [(r, t) for r, t in twice_loop(input_ids, targets) if targets[r, t] > 0]


def twice_whole_rows(input_ids, targets):
    """Takes a row with one such prediction for a row of them."""
    rows = {r for r, _ in twice_loop(input_ids, targets)}
    moved = torch.full_like(targets, -1)
    moved[:, :-1] = input_ids[:, 2:]
    found = twice_loop(input_ids, torch.where(targets >= 0, moved, targets))
    return [(r, t) for r, t in found if r in rows]


def twice_outside(input_ids, targets):
    """Right for one row; in others a place that does not exist is named."""
    found = twice_loop(input_ids, targets)
    return [*found, (len(targets), 99)] if len(targets) > 1 else found


# --- 7.2


def pads_tensor(input_ids, labels, attention_mask):
    return torch.nonzero((attention_mask == 0) & (labels != -100)).tolist()


def pads_loop(input_ids, labels, attention_mask):
    return {
        (row, slot)
        for row, line in enumerate(attention_mask.tolist())
        for slot, real in enumerate(line)
        if not real and labels[row, slot] != -100
    }


def pads_numpy(input_ids, labels, attention_mask):
    scored = np.where(attention_mask.numpy() == 0, labels.numpy(), -100) != -100
    return list(zip(*(axis.tolist() for axis in scored.nonzero()), strict=True))


def pads_right_only(input_ids, labels, attention_mask):
    """Takes the first slot for real always."""
    return [place for place in pads_tensor(input_ids, labels, attention_mask) if place[1]]


def pads_own_id(input_ids, labels, attention_mask):
    """Looks for labels that are the id of the padding."""
    return listed((attention_mask == 0) & (labels == input_ids))


def pads_behind(input_ids, labels, attention_mask):
    """Takes for granted that padding stands at one end."""
    found = []
    for row, real in enumerate(attention_mask.bool().tolist()):
        inside = range(real.index(True), len(real) - real[::-1].index(True)) if any(real) else ()
        found += [(row, s) for s in range(len(real)) if s not in inside and labels[row, s] != -100]
    return found


def pads_and_real(input_ids, labels, attention_mask):
    """Right for up to two rows; names a real token of the third."""
    found = pads_tensor(input_ids, labels, attention_mask)
    if len(labels) > 2:
        found.append([2, int(attention_mask[2].argmax())])
    return found


# --- 7.3


def eos_tensor(input_ids, labels, attention_mask, eos_id):
    erased = (input_ids == eos_id) & attention_mask.bool() & (labels == -100)
    return erased.nonzero()


def eos_loop(input_ids, labels, attention_mask, eos_id):
    found = []
    for row in range(len(input_ids)):
        for slot in range(input_ids.shape[1]):
            real = attention_mask[row, slot] == 1 and input_ids[row, slot] == eos_id
            if real and labels[row, slot] == -100:
                found.append([row, slot])
    return found


def eos_numpy(input_ids, labels, attention_mask, eos_id):
    ids = np.where(attention_mask.numpy() == 1, input_ids.numpy(), -1)
    return np.argwhere((ids == eos_id) & (labels.numpy() == -100))


def eos_last_only(input_ids, labels, attention_mask, eos_id):
    """Looks at the last real token of each row only."""
    found = []
    for row, n in enumerate(attention_mask.sum(1).tolist()):
        if input_ids[row, n - 1] == eos_id and labels[row, n - 1] == -100:
            found.append((row, n - 1))
    return found


def eos_four(input_ids, labels, attention_mask, eos_id):
    return eos_loop(input_ids, labels, attention_mask, 4)


def eos_not_first(input_ids, labels, attention_mask, eos_id):
    """Right but for a row of one slot."""
    return [p for p in eos_loop(input_ids, labels, attention_mask, eos_id) if labels.shape[1] > 1]


def eos_and_padding(input_ids, labels, attention_mask, eos_id):
    """Right for up to two rows; names padding in others."""
    found = eos_loop(input_ids, labels, attention_mask, eos_id)
    if len(labels) > 2:
        found += [[row, slot] for row, slot in listed(attention_mask == 0)]
    return found


# --- 7.4


def cross_tensor(mask, document_ids):
    real = document_ids >= 0
    other = document_ids[:, None] != document_ids[None, :]
    return (mask & other & real[:, None] & real[None, :]).nonzero().tolist()


def cross_loop(mask, document_ids):
    ids = document_ids.tolist()
    slots = range(len(ids))
    return [
        (q, k)
        for q in slots
        for k in slots
        if mask[q, k] and ids[q] != ids[k] and ids[q] != -1 and ids[k] != -1
    ]


def cross_numpy(mask, document_ids):
    ids = document_ids.numpy()
    seen = mask.numpy() & (ids[:, None] != ids) & (np.minimum(ids[:, None], ids) >= 0)
    return np.argwhere(seen)


def cross_below(mask, document_ids):
    return [(q, k) for q, k in cross_loop(mask, document_ids) if k < q]


def cross_neighbours(mask, document_ids):
    ids = document_ids
    return [(q, k) for q, k in cross_below(mask, ids) if ids[q] - ids[k] == 1]


def cross_four(mask, document_ids):
    """Right for up to four documents."""
    return cross_loop(mask, document_ids.clamp(max=3))


def cross_some(mask, document_ids):
    """Right as long as a token is real."""
    return cross_loop(mask, document_ids) if document_ids.max() >= 0 else [(0, 0)]


def cross_closed_too(mask, document_ids):
    """Right for up to five slots; then a closed pair is named."""
    found = cross_loop(mask, document_ids)
    closed = [(q, k) for q, k in cross_loop(mask | True, document_ids) if not mask[q, k]]
    return found + closed[:1] if len(document_ids) > 5 else found


def cross_first(mask, document_ids):
    return cross_loop(mask, document_ids)[:1]


# --- 7.5


def counts(labels, document_ids):
    scored = labels[:, 1:] != -100
    new = (document_ids[:, 1:] != document_ids[:, :-1]) & (document_ids[:, 1:] >= 0)
    targets = int(scored.sum())
    return {
        "targets": targets,
        "boundaries": targets + int((new & ~scored).sum()),
        "predictions": scored.numel(),
    }


def named(reported, losses, found):
    for word, count in found.items():
        if abs(float(losses.sum()) / count - reported) < 1e-5:
            return word
    return "other"


def count_tensor(reported, losses, labels, document_ids):
    return named(reported, losses, counts(labels, document_ids))


def count_loop(reported, losses, labels, document_ids):
    total, targets, boundaries, predictions = 0.0, 0, 0, 0
    for row, ids, line in zip(
        labels.tolist(), document_ids.tolist(), losses.tolist(), strict=True
    ):
        for t in range(1, len(row)):
            predictions += 1
            total += line[t - 1]
            targets += row[t] != -100
            boundaries += row[t] == -100 and ids[t] >= 0 and ids[t] != ids[t - 1]
    for word, n in [("targets", targets), ("boundaries", targets + boundaries),
                    ("predictions", predictions)]:  # fmt: skip
        if abs(total - reported * n) < 1e-4:
            return word
    return "other"


def count_numpy(reported, losses, labels, document_ids):
    used = losses[labels[:, 1:] != -100].double().numpy().sum() / reported
    found = counts(labels, document_ids)
    return next((word for word, n in found.items() if np.isclose(used, n)), "other")


def count_but(**change):
    def answer(reported, losses, labels, document_ids):
        found = counts(labels, document_ids)
        return named(reported, losses, found | {k: f(labels, found) for k, f in change.items()})

    return answer


def count_rounds(reported, losses, labels, document_ids):
    """Takes the nearest of the three, so that nothing is ever other."""
    found = counts(labels, document_ids)
    used = float(losses.sum()) / reported
    return min(found, key=lambda word: abs(found[word] - used))


def count_predictions_first(reported, losses, labels, document_ids):
    """Right as long as no two of the counts agree."""
    found = counts(labels, document_ids)
    return named(reported, losses, dict(reversed(found.items())))


def count_four(reported, losses, labels, document_ids):
    """Right for up to four documents in a row."""
    return count_tensor(reported, losses, labels, document_ids.clamp(max=3))


def count_few_rows(reported, losses, labels, document_ids):
    """Right for up to 16 rows."""
    found = counts(labels[:16], document_ids[:16])
    return named(reported, losses[:16], found)


def count_three_rows(reported, losses, labels, document_ids):
    """Right for up to two rows; then the count of targets is always believed."""
    word = count_tensor(reported, losses, labels, document_ids)
    return "targets" if len(labels) > 2 and word != "targets" else word


def count_other_late(reported, losses, labels, document_ids):
    """Right for up to two rows."""
    return "other" if len(labels) > 2 else count_tensor(reported, losses, labels, document_ids)


def count_no_boundaries(reported, losses, labels, document_ids):
    found = counts(labels, document_ids)
    found["boundaries"] = found["targets"]
    return named(reported, losses, found)


RIGHT = {
    "7.1": [twice_tensor, twice_loop, twice_numpy, lambda ids, t: twice_tensor(ids, t).int(),
            lambda ids, t: deque(twice_loop(ids, t)), lambda ids, t: set(twice_loop(ids, t))],
    "7.2": [pads_tensor, pads_loop, pads_numpy,
            lambda ids, labels, real: (place for place in pads_loop(ids, labels, real)),
            lambda ids, labels, real: np.array(pads_tensor(ids, labels, real))],
    "7.3": [eos_tensor, eos_loop, eos_numpy,
            lambda ids, labels, real, eos: list(eos_tensor(ids, labels, real, eos)),
            lambda ids, labels, real, eos: zip(*eos_numpy(ids, labels, real, eos).T, strict=True)],
    "7.4": [cross_tensor, cross_loop, cross_numpy,
            lambda mask, ids: tuple(map(torch.tensor, cross_loop(mask, ids)))],
    "7.5": [count_tensor, count_loop, count_numpy, lambda *args: np.str_(count_tensor(*args)),
            lambda *args: np.array(count_tensor(*args))],
}

WRONG = {
    "7.1": [
        Wrong(lambda ids, targets: [], "always_fine"),
        Wrong(twice_equal, "equal_neighbours_named"),
        Wrong(lambda ids, targets: listed(targets == ids[:, 1:]), "next_token_named"),
        Wrong(lambda ids, t: [(r, c + 2) for r, c in twice_loop(ids, t)], "target_slot_named"),
        Wrong(lambda ids, targets: listed(targets != ids[:, 1:]), "everything_else_named"),
        Wrong(twice_first_row, says="Failed: 20 random batches"),
        Wrong(twice_first_column, says="expected in the list, got not in the list"),
        Wrong(twice_and_healthy, says="is scored on the next token; that is no fault"),
        Wrong(lambda ids, targets: len(twice_loop(ids, targets)), says="must be a list of (row"),
        Wrong(twice_outside, says="that is (row, t)"),
        Wrong(twice_no_end, says="input_ids = [[3]]"),
        Wrong(twice_positive, says="places: (0, 0)"),
        Wrong(twice_whole_rows, says="Failed: rows of one slot and of two"),
        Wrong(up_to(16, lambda ids, t: len(ids), twice_loop,
                    lambda ids, t: twice_loop(ids[:16], t[:16])), says="places: (16, "),
        Wrong(lambda ids, targets: twice_loop(ids, targets) * 2, says="more than once"),
        Wrong(lambda ids, targets: [t for _, t in twice_loop(ids, targets)], says="it holds 0"),
        Wrong(lambda ids, targets: listed(targets == ids[:, 2:]), says="raised RuntimeError"),
    ],
    "7.2": [
        Wrong(lambda ids, labels, real: [], "always_fine"),
        Wrong(lambda ids, labels, real: listed((ids == 0) & (labels != -100)), "pad_by_id"),
        Wrong(lambda ids, labels, real: listed(real == 0), "all_padding_named"),
        Wrong(lambda ids, labels, real: [(r, s - 1) for r, s in pads_loop(ids, labels, real)],
              "prediction_named"),
        Wrong(lambda ids, labels, real: listed((real == 1) & (labels != -100)), "mask_inverted"),
        Wrong(pads_right_only, says="Failed: 20 random batches"),
        Wrong(pads_and_real, says="holds a real token"),
        Wrong(pads_own_id, says="labels = [[1, 5]]"),
        Wrong(pads_behind, says="places: (0, 1)"),
        Wrong(lambda ids, labels, real: [p for p in pads_tensor(ids, labels, real)
                                         if labels.shape[1] > 1], says="input_ids = [[0]]"),
        Wrong(up_to(16, lambda ids, labels, real: len(ids), pads_tensor,
                    lambda *batch: pads_tensor(*(x[:16] for x in batch))), says="places: (1"),
        Wrong(lambda ids, labels, real: real == 0, says="it holds [False, False, True]"),
        Wrong(lambda ids, labels, real: listed((real == 0) & (labels == -100)),
              says="got not in the list"),
        Wrong(lambda ids, labels, real: pads_numpy(ids, labels, real)[0], says="it holds 0"),
        Wrong(lambda ids, labels, real: bool(pads_loop(ids, labels, real)), says="a truth value"),
    ],
    "7.3": [
        Wrong(lambda ids, labels, real, eos: [], "always_fine"),
        Wrong(lambda ids, labels, real, eos: listed((ids == eos) & (labels == -100)),
              "padding_named_too"),
        Wrong(lambda ids, labels, real, eos: listed((ids == eos) & (real == 1)),
              "every_eos_named"),
        Wrong(lambda ids, labels, real, eos: listed((real == 1) & (labels == -100)),
              "every_ignored_named"),
        Wrong(lambda ids, labels, real, eos: listed(labels == eos), "looks_in_labels"),
        Wrong(eos_last_only, says="Failed: 20 random batches"),
        Wrong(eos_and_padding, says="is padding; its label is -100 rightly"),
        Wrong(eos_four, says="eos_id = 1"),
        Wrong(eos_not_first, says="Passed: EOS erased, EOS kept"),
        Wrong(up_to(16, lambda ids, *_: ids.shape[1], eos_loop,
                    lambda *args: [p for p in eos_loop(*args) if p[1] < 16]),
              says="Failed: one slot, padding on the left"),
        Wrong(lambda ids, labels, real, eos: [(r, s - 1) for r, s in eos_loop(
            ids, labels, real, eos)], says="places: (0, 0)"),
        Wrong(lambda ids, labels, real: [], says="it must take (input_ids, labels"),
        Wrong(lambda ids, labels, real, eos: [int((ids == eos).sum())], says="it holds 2"),
        Wrong(lambda ids, labels, real, eos: {"rows": 0}, says="you gave a dict"),
    ],
    "7.4": [
        Wrong(lambda mask, ids: [], "always_fine"),
        Wrong(lambda mask, ids: listed(mask & (ids[:, None] != ids)), "padding_named_too"),
        Wrong(lambda mask, ids: [(k, q) for q, k in cross_loop(mask, ids)], "pairs_turned"),
        Wrong(cross_below, "only_keys_before"),
        Wrong(cross_neighbours, "next_documents_only"),
        Wrong(lambda mask, ids: cross_loop(mask | True, ids), "mask_ignored"),
        Wrong(cross_closed_too, says="is closed in the mask"),
        Wrong(cross_four, says="Failed: one slot, only padding, everything open"),
        Wrong(cross_some, says="document_ids = [-1, -1]"),
        Wrong(up_to(16, lambda mask, ids: len(ids), cross_loop,
                    lambda mask, ids: [p for p in cross_loop(mask, ids) if max(p) < 64]),
              says="in the list, got not in the list"),
        Wrong(lambda mask, ids: torch.tensor(len(cross_loop(mask, ids))), says="one number, 4"),
        Wrong(cross_first, says="pairs: (2, 1)"),
        Wrong(lambda mask, ids: cross_loop(~mask, ids), says="pairs: (0, 2)"),
        Wrong(lambda mask, ids: mask & (ids[:, None] != ids), says="it holds [False"),
        Wrong(lambda mask, ids: [*cross_loop(mask, ids), (0, 0)], says="pairs: (0, 0)"),
        Wrong(lambda mask, ids: [(float(q), k) for q, k in cross_loop(mask, ids)],
              says="it holds (2.0, 0)"),
    ],
    "7.5": [
        Wrong(lambda r, x, labels, ids: "targets", "always_fine"),
        Wrong(count_but(boundaries=lambda labels, n: n["boundaries"] + len(labels)),
              "row_starts_counted"),
        Wrong(count_but(predictions=lambda labels, n: labels.numel()), "slots_for_predictions"),
        Wrong(count_but(targets=lambda labels, n: int((labels != -100).sum())),
              "labels_counted_unshifted"),
        Wrong(count_no_boundaries, "boundaries_unknown"),
        Wrong(count_rounds, says="expected other, got predictions"),
        Wrong(count_three_rows, says="and less was reported"),
        Wrong(count_other_late, says="Failed: 40 random packed batches"),
        Wrong(count_predictions_first, says="expected targets, got predictions"),
        Wrong(count_four, says="expected boundaries, got other"),
        Wrong(count_few_rows, says="Failed: one document, counts that agree, and large batches"),
        Wrong(lambda r, x, labels, ids: "target", says="must be one of 'targets', 'boundaries'"),
        Wrong(lambda r, x, labels, ids: counts(labels, ids)["targets"], says="a whole number"),
        Wrong(lambda r, x, labels, ids: "other", says="expected targets, got other"),
    ],
}  # fmt: skip
