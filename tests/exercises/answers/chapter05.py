"""Right and wrong answers to the exercises of chapter 5, but for those on masks."""

from collections import UserDict, deque
from itertools import accumulate

import numpy as np
import torch

from tests.exercises.wrong import Wrong, up_to

# --- 5.1


def positions_loop(lengths, total):
    out = []
    for n in lengths:
        out += range(n)
    return out + [-1] * (total - len(out))


def positions_torch(lengths, total):
    sizes = torch.tensor(lengths)
    starts = torch.repeat_interleave(sizes.cumsum(0) - sizes, sizes)
    positions = torch.arange(int(sizes.sum())) - starts
    return torch.nn.functional.pad(positions, (0, total - len(positions)), value=-1)


def positions_numpy(lengths, total):
    out = np.full(total, -1)
    out[: sum(lengths)] = np.concatenate([np.arange(n) for n in lengths])
    return out


def positions_four(lengths, total):
    """Right for up to three documents."""
    out = positions_loop(lengths, total)
    if len(lengths) > 3:
        out[sum(lengths[:3])] = lengths[2]
    return out


def positions_modulo(lengths, total):
    """Right for documents of up to five tokens."""
    return [p % 5 if p >= 0 else p for p in positions_loop(lengths, total)]


def positions_two(lengths, total):
    """Right as long as the row has two slots or more."""
    return positions_loop(lengths, total) if total > 1 else [-1]


def positions_five(lengths, total):
    """Right for documents of up to four tokens."""
    return [min(p, 3) for p in positions_loop(lengths, total)]


# --- 5.2


def cu_loop(lengths):
    marks = [0]
    for n in lengths:
        marks.append(marks[-1] + n)
    return torch.tensor(marks, dtype=torch.int32)


def cu_torch(lengths):
    sums = torch.cumsum(torch.tensor(lengths, dtype=torch.int32), 0, dtype=torch.int32)
    return torch.nn.functional.pad(sums, (1, 0))


def cu_numpy(lengths):
    return np.array([0, *accumulate(lengths)], dtype=np.int32)


def cu(*marks):
    return torch.tensor(marks, dtype=torch.int32)


def cu_four(lengths):
    """Right for up to three documents."""
    return cu_loop([*lengths[:3], *(1 for _ in lengths[3:])])


def cu_middle(lengths):
    """Right for up to three documents, and at the end."""
    marks = cu_loop(lengths)
    marks[3:-1] -= 1
    return marks


# --- 5.6


def fit_padless(lengths, capacity):
    """One array where all rows are alike, as np.array makes it of a list."""
    rows = fit_loop(lengths, capacity)
    return np.array(rows) if len(set(map(len, rows))) == 1 else np.array(rows, dtype=object)


def fit_values(lengths, capacity):
    return {number: row for number, row in enumerate(fit_loop(lengths, capacity))}.values()


def fit_deque(lengths, capacity):
    return deque(deque(row) for row in fit_loop(lengths, capacity))


def fit_lazy(lengths, capacity):
    return (tuple(map(torch.tensor, row)) for row in fit_loop(lengths, capacity))


def fit_int32(lengths, capacity):
    rows = [np.array(row, dtype=np.int32) for row in fit_loop(lengths, capacity)]
    return rows if len(rows) > 1 else torch.tensor(np.array(rows))


def fit_ten(lengths, capacity):
    """Right for up to ten documents: then numbers are sorted as texts."""
    order = sorted(map(str, range(len(lengths))))
    order.sort(key=lambda i: -lengths[int(i)])
    return fit(order=lambda n: map(int, order))(lengths, capacity)


def fit_sixteen_rows(lengths, capacity):
    """Looks at the first 16 rows only."""
    return fit(choose=lambda rows, free: rows[0] if rows[0] < 16 else None)(lengths, capacity)


def fit_one(lengths, capacity):
    """Right for two documents or more."""
    return fit_loop(lengths, capacity) if len(lengths) > 1 else []


def fit_loop(lengths, capacity):
    rows, free = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        for row in range(len(rows)):
            if free[row] >= lengths[i]:
                break
        else:
            rows.append([])
            free.append(capacity)
            row = len(rows) - 1
        rows[row].append(i)
        free[row] -= lengths[i]
    return rows


def fit_next(lengths, capacity):
    rows = []
    for i in np.argsort(-np.array(lengths), kind="stable").tolist():
        fits = (r for r in rows if sum(lengths[j] for j in r) + lengths[i] <= capacity)
        row = next(fits, None)
        if row is None:
            rows.append([i])
        else:
            row.append(i)
    return rows


def fit_tensors(lengths, capacity):
    sizes = torch.tensor(lengths)
    free = torch.full((len(lengths),), capacity)
    rows = [[] for _ in lengths]
    for i in torch.argsort(sizes, descending=True, stable=True):
        row = int((free >= sizes[i]).nonzero()[0])
        free[row] -= sizes[i]
        rows[row].append(int(i))
    return [torch.tensor(row) for row in rows if row]


def fit(order=None, choose=None):
    """First fit, with another order or another choice of the row."""
    order = order or (lambda lengths: sorted(range(len(lengths)), key=lambda i: -lengths[i]))
    choose = choose or (lambda fitting, free: fitting[0])

    def answer(lengths, capacity):
        rows, free = [], []
        for i in order(lengths):
            fitting = [r for r in range(len(rows)) if free[r] >= lengths[i]]
            row = choose(fitting, free) if fitting else None
            if row is None:
                rows.append([])
                free.append(capacity)
                row = len(rows) - 1
            rows[row].append(i)
            free[row] -= lengths[i]
        return rows

    return answer


def fit_last_row(fitting, free):
    return fitting[-1] if fitting[-1] == len(free) - 1 else None


def fit_never_full(lengths, capacity):
    rows, free = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        row = next((r for r in range(len(rows)) if lengths[i] < free[r]), len(rows))
        if row == len(rows):
            rows.append([])
            free.append(capacity)
        rows[row].append(i)
        free[row] -= lengths[i]
    return rows


def fit_newest(fitting, free):
    return fitting[-1]


def fit_loses(lengths, capacity):
    """Loses a document when there are more than six."""
    rows = fit_loop(lengths, capacity)
    return [[i for i in row if i < 6] for row in rows if min(row) < 6]


def fit_too_full(lengths, capacity):
    """Puts everything into one row when there are more than six documents."""
    rows = fit_loop(lengths, capacity)
    return [[i for row in rows for i in row]] if len(lengths) > 6 else rows


def fit_swapped(lengths, capacity):
    """The rows in reverse order when there are more than six documents."""
    rows = fit_loop(lengths, capacity)
    return rows[::-1] if len(lengths) > 6 else rows


def fit_extra(lengths, capacity):
    return [*fit_loop(lengths, capacity), []]


# --- 5.7


def row(**change):
    return {
        "input_ids": [1, 2, 7, 3, 7, 4, 5, 6, 7, 0],
        "position_ids": [0, 1, 2, 0, 1, 0, 1, 2, 3, -1],
        "labels": [1, 2, 7, 3, 7, 4, 5, 6, 7, -100],
    } | change


NO_EOS = {
    "input_ids": [1, 2, 3, 4, 5, 6, 0, 0, 0, 0],
    "position_ids": [0, 1, 0, 0, 1, 2, -1, -1, -1, -1],
    "labels": [1, 2, 3, 4, 5, 6, -100, -100, -100, -100],
}

RIGHT = {
    "5.1": [positions_loop, positions_torch, positions_numpy,
            lambda n, t: iter(positions_loop(n, t)),
            lambda n, t: positions_torch(n, t).int(),
            lambda n, t: tuple(map(np.int64, positions_loop(n, t)))],
    "5.2": [cu_loop, cu_torch, cu_numpy],
    "5.6": [fit_loop, fit_next, fit_tensors, fit(), fit_padless, fit_values, fit_deque, fit_lazy,
            fit_int32],
    "5.7": [
        row(),
        {k: np.array(v) for k, v in row().items()},
        {k: torch.tensor(v) for k, v in row().items()},
        UserDict({k: deque(v) for k, v in row().items()}),
    ],
}

WRONG = {
    "5.1": [
        Wrong(lambda n, t: [*range(sum(n))] + [-1] * (t - sum(n)), "positions_not_reset"),
        Wrong(lambda n, t: [max(p, 0) for p in positions_loop(n, t)], "pad_position_zero"),
        Wrong(lambda n, t: [p + (p >= 0) for p in positions_loop(n, t)], "positions_from_one"),
        Wrong(lambda n, t: positions_loop([*n[:-1], n[-1] + t - sum(n)], t), "padding_counts_on"),
        Wrong(lambda n, t: [i for i, k in enumerate(n) for _ in range(k)] + [-1] * (t - sum(n)),
              "document_numbers"),
        Wrong(positions_four, says="document 3 begins at slot"),
        Wrong(positions_five, says="Failed: 20 random rows"),
        Wrong(lambda n, t: list(range(t)), "slots_for_positions"),
        Wrong(positions_modulo, says="expected 5, got 0"),
        Wrong(positions_two, says="expected 0, got -1"),
        Wrong(up_to(16, lambda n, t: len(n), positions_loop,
                    lambda n, t: positions_loop([*n[:16], sum(n[16:])], t)),
              says="Failed: one token, nothing but one document, and large rows"),
        Wrong(lambda n, t: positions_loop(n, sum(n)), says="expected [8], got [7]"),
        Wrong(lambda n, t: [positions_loop(n, t)], says="got [1, 8]"),
        Wrong(lambda n, t: [float(p) for p in positions_loop(n, t)], says="dtype: position_ids"),
        Wrong(lambda n, t: [list(range(k)) for k in n], says="position_ids is ragged"),
        Wrong(lambda n, t: positions_loop(n, t)[::-1], says="position_ids: slot 0"),
        Wrong(lambda n, t: {"positions": []}, says="you gave a dict"),
    ],
    "5.2": [
        Wrong(lambda n: cu_loop(n)[1:], "no_leading_zero"),
        Wrong(lambda n: cu(*n), "lengths_not_cumulative"),
        Wrong(lambda n: cu_loop(n)[:-1], "starts_only"),
        Wrong(lambda n: cu_loop(n)[1:] - 1, "last_slots"),
        Wrong(lambda n: cu(0, *n), "zero_and_lengths"),
        Wrong(lambda n: cu_loop(n).long(), says="must be int32; yours is torch.int64"),
        Wrong(lambda n: cu_loop(n).tolist(), says="int32 tensor or array; you gave a list"),
        Wrong(lambda n: cu_loop(n).flip(0), says="expected 0, got 7"),
        Wrong(cu_four, says="the last number must be the end of the last document"),
        Wrong(cu_middle, says="Failed: 20 random rows"),
        Wrong(lambda n: cu_loop([k % 65536 for k in n]), says="got 4464"),
        Wrong(lambda n: cu_loop(n) if n != [1] else cu(0), says="expected [2], got [1]"),
        Wrong(up_to(16, len, cu_loop, lambda n: cu_loop(n[:16])), says="got [17]"),
    ],
    "5.6": [
        Wrong(fit(order=lambda n: range(len(n))), "not_longest_first"),
        Wrong(fit(choose=lambda fitting, free: min(fitting, key=lambda r: free[r])), "best_row"),
        Wrong(fit(choose=fit_last_row), "only_the_last_row"),
        Wrong(fit(order=lambda n: sorted(range(len(n)), key=lambda i: (n[i], -i))),
              "shortest_first"),
        Wrong(fit(order=lambda n: sorted(range(len(n)), key=lambda i: (-n[i], -i))),
              "ties_turned"),
        Wrong(lambda n, c: [[n[i] for i in r] for r in fit_loop(n, c)], "lengths_for_numbers"),
        Wrong(lambda n, c: fit_loop(sorted(n, reverse=True), c), "sorted_numbers"),
        Wrong(lambda n, c: [sorted(r) for r in fit_loop(n, c)], "rows_sorted"),
        Wrong(fit(choose=fit_newest), "newest_row", says="rows: row"),
        Wrong(fit_never_full, "row_never_full"),
        Wrong(fit_loses, says="every document must stand in one row; yours hold the numbers"),
        Wrong(fit_too_full, says="tokens"),
        Wrong(fit_swapped, says="Failed: 40 random lists"),
        Wrong(fit_extra, says="number of rows of rows"),
        Wrong(fit_ten, says="Failed: one document, equal lengths, and long lists"),
        Wrong(fit_sixteen_rows, says="rows: row"),
        Wrong(fit_one, says="got no such row"),
        Wrong(lambda n, c: torch.tensor(len(n)), says="you gave a torch.int64 tensor of shape []"),
        Wrong(lambda n, c: [np.array(r) / 1 for r in fit_loop(n, c)], says="whole numbers: [0.0"),
        Wrong(lambda n, c: len(fit_loop(n, c)), says="must be a list of lists"),
        Wrong(lambda n, c: [i for r in fit_loop(n, c) for i in r], says="row 0 of rows must be"),
        Wrong(lambda n, c: [[i] for i in range(len(n))][::-1], says="got [2]"),
    ],
    "5.7": [
        Wrong(NO_EOS, "no_eos"),
        Wrong(row(position_ids=[0, 1, 2, 3, 4, 5, 6, 7, 8, -1]), "positions_not_reset"),
        Wrong(row(position_ids=[0, 1, 2, 0, 1, 0, 1, 2, 3, 0]), "pad_position_zero"),
        Wrong(row(labels=[1, 2, 7, -100, 7, -100, 5, 6, 7, -100]), "boundary_masked"),
        Wrong(row(labels=[1, 2, -100, 3, -100, 4, 5, 6, -100, -100]), "eos_erased"),
        Wrong(row(labels=[1, 2, 7, 3, 7, 4, 5, 6, 7, 0]), "pad_target"),
        Wrong(row(labels=[2, 7, 3, 7, 4, 5, 6, 7, -100, -100]), "collator_shifts"),
        Wrong(row(input_ids=[1, 2, 7, 3, 7, 4, 5, 6, 0, 0]), says="input_ids: slot 8"),
        Wrong(row(labels=[1, 2, 7, 3, 7, 4, 5, 6, 7]), says="shape of labels"),
        Wrong({"input_ids": row()["input_ids"]}, says="the dict has no 'position_ids'"),
        Wrong(row(position_ids=[0, 1, 2, 0, 1, 0, 1, 2, 4, -1]), says="position_ids: slot 8"),
        Wrong(list(row().values()), says="you gave a list"),
    ],
}  # fmt: skip
