"""Right and wrong answers to the exercises of lab 3."""

import math

import numpy as np
import torch

from course_lib.packing import pack_lengths
from tests.exercises.wrong import Wrong, up_to

# --- L3.1


def account_ceil(rows, lengths, capacity):
    tokens = sum(lengths)
    return {
        "rows": len(rows),
        "utilization": tokens / (len(rows) * capacity),
        "gap": len(rows) - math.ceil(tokens / capacity),
    }


def account_rows(rows, lengths, capacity):
    fills = [sum(lengths[i] for i in row) for row in rows]
    needed = (sum(fills) + capacity - 1) // capacity
    shares = [fill / capacity for fill in fills]
    return {"rows": len(fills), "utilization": sum(shares) / len(shares),
            "gap": len(fills) - needed}  # fmt: skip


def account_numpy(rows, lengths, capacity):
    used = np.sum(lengths) / capacity
    return {"rows": np.int64(len(rows)), "utilization": used / len(rows),
            "gap": len(rows) - int(np.ceil(used))}  # fmt: skip


def account_but(**change):
    def answer(rows, lengths, capacity):
        made = {name: make(rows, lengths, capacity) for name, make in change.items()}
        return account_ceil(rows, lengths, capacity) | made

    return answer


def fills_of(rows, lengths):
    return [sum(lengths[i] for i in row) for row in rows]


def share_of_full(rows, lengths, capacity):
    fills = fills_of(rows, lengths)
    fills = fills[:-1] or fills
    return sum(fills) / len(fills) / capacity


def account_first(rows, lengths, capacity):
    """Right for up to three rows; then documents are forgotten."""
    return account_ceil(rows, lengths[:4] if len(rows) > 3 else lengths, capacity)


# --- L3.2


def cut_line(lengths, capacity):
    start = found = 0
    for n in lengths:
        found += start // capacity != (start + n - 1) // capacity
        start += n
    return found


def cut_numpy(lengths, capacity):
    ends = np.cumsum(lengths)
    return ((ends - lengths) // capacity != (ends - 1) // capacity).sum()


def cut_fill(lengths, capacity):
    left, found = capacity, 0
    for n in lengths:
        found += n > left
        while n > left:
            n, left = n - left, capacity
        left = left - n or capacity
    return found


def cut_rows(lengths, capacity):
    line = [d for d, n in enumerate(lengths) for _ in range(n)]
    rows = [line[s : s + capacity] for s in range(0, len(line), capacity)]
    return sum(a[-1] == b[0] for a, b in zip(rows, rows[1:], strict=False))


def cut_short(lengths, capacity):
    """Right for up to five documents."""
    return cut_line(lengths[:5], capacity)


# --- L3.3


def windows_slices(lengths, capacity, window):
    return sum(len(pack_lengths(lengths[s : s + window], capacity))
               for s in range(0, len(lengths), window))  # fmt: skip


def windows_loop(lengths, capacity, window):
    rows, waiting = 0, []
    for n in lengths:
        waiting.append(n)
        if len(waiting) == window:
            rows += len(pack_lengths(waiting, capacity))
            waiting = []
    return rows + (len(pack_lengths(waiting, capacity)) if waiting else 0)


def windows_queue(lengths, capacity, window):
    rest, rows = list(lengths), []
    while rest:
        rows += pack_lengths(rest[:window], capacity).to_lists()
        rest = rest[window:]
    return len(rows)


def windows_lost(lengths, capacity, window):
    rows, waiting = 0, []
    for n in lengths:
        waiting.append(n)
        if len(waiting) == window:
            rows += len(pack_lengths(waiting, capacity))
            waiting = []
    return rows


def windows_bound(lengths, capacity, window):
    return sum(math.ceil(sum(lengths[s : s + window]) / capacity)
               for s in range(0, len(lengths), window))  # fmt: skip


def windows_strided(lengths, capacity, window):
    count = math.ceil(len(lengths) / window)
    return sum(len(pack_lengths(lengths[s::count], capacity)) for s in range(count))


RIGHT = {
    "L3.1": [account_ceil, account_rows, account_numpy],
    "L3.2": [cut_line, cut_numpy, cut_fill, lambda n, c: torch.tensor(cut_line(n, c))],
    "L3.3": [windows_slices, windows_loop, windows_queue],
}

WRONG = {
    "L3.1": [
        Wrong(account_but(gap=lambda r, n, c: len(r) - sum(n) // c), "bound_rounded_down"),
        Wrong(account_but(utilization=lambda r, n, c: 1 - sum(n) / len(r) / c), "padding_share"),
        Wrong(account_but(utilization=lambda r, n, c: sum(n) / len(r) / max(fills_of(r, n))),
              "widest_row"),
        Wrong(account_but(utilization=share_of_full), "last_row_left_out"),
        Wrong(account_but(gap=lambda r, n, c: len(r) * c - sum(n)), "gap_in_slots"),
        Wrong(account_but(gap=lambda r, n, c: len(n) - len(r)), "bound_counts_documents"),
        Wrong(account_but(rows=lambda r, n, c: len(n)), says="rows\n  expected 2, got 3"),
        Wrong(account_but(utilization=lambda r, n, c: 100 * sum(n) / len(r) / c),
              says="expected 0.75, got 75"),
        Wrong(account_but(gap=lambda r, n, c: len(r) - math.ceil(sum(n) / c) - (len(r) > 3)),
              says="Failed:"),
        Wrong(account_first, says="random packings"),
        Wrong(up_to(16, lambda r, n, c: len(r), account_ceil,
                    lambda r, n, c: account_ceil(r[:16], n, c)), says="got 16"),
        Wrong(account_but(gap=lambda r, n, c: len(r) - max(1, round(sum(n) / c))), says="gap"),
        Wrong(account_but(utilization=lambda r, n, c: max(1e-3, sum(n) / len(r) / c)),
              says="expected 0.00012207, got 0.001"),
        Wrong(account_but(gap=lambda r, n, c: -1 if len(r) > 3 else len(r) - math.ceil(sum(n) / c)),
              says="a gap below 0 would be fewer rows"),
        Wrong(account_but(utilization=lambda r, n, c: sum(n) / c / min(len(r), 3)),
              says="a utilization lies above 0 and at most at 1"),
        Wrong(lambda r, n, c: (len(r), sum(n) / c, 0), says="you gave a tuple"),
        Wrong(lambda r, n, c: {"rows": len(r)}, says="the dict has no 'utilization'"),
    ],
    "L3.2": [
        Wrong(lambda n, c: sum((sum(n[:i]) + x) // c != sum(n[:i]) // c
                               for i, x in enumerate(n)), "end_at_border_cut"),
        Wrong(lambda n, c: sum(x > c for x in n), "only_overlong"),
        Wrong(lambda n, c: math.ceil(sum(n) / c) - 1, "every_border_cuts"),
        Wrong(lambda n, c: len(n) - cut_line(n, c), "whole_documents_counted"),
        Wrong(cut_rows, "cuts_for_documents"),
        Wrong(cut_short, says="Failed: 60 random lists of lengths"),
        Wrong(lambda n, c: cut_line(n, c) if c > 1 else 0, says="lengths = [9, 1]"),
        Wrong(up_to(16, lambda n, c: len(n), cut_line, lambda n, c: cut_line(n[:16], c)),
              says="Failed: one token, rows of one token"),
        Wrong(lambda n, c: cut_line(n, c) if len(n) < 5 else 99, says="a border cuts at most one"),
        Wrong(lambda n, c: float(cut_line(n, c)), says="you gave a float"),
        Wrong(lambda n, c: [i for i in range(len(n))], says="you gave a list"),
    ],
    "L3.3": [
        Wrong(lambda n, c, w: len(pack_lengths(n, c)), "window_ignored"),
        Wrong(windows_lost, "last_window_lost"),
        Wrong(windows_bound, "bound_for_rows"),
        Wrong(windows_strided, "windows_strided"),
        Wrong(lambda n, c, w: len(pack_lengths(n, c, "next_fit")), "next_fit_of_all"),
        Wrong(lambda n, c, w: windows_slices(n, c, w + 1), says="expected 4, got 3"),
        Wrong(lambda n, c, w: windows_slices(n, c, w) if len(n) < 6 else 1,
              says="tokens need at least"),
        Wrong(lambda n, c, w: windows_slices(n[:12], c, w), says="Failed:"),
        Wrong(lambda n, c, w: windows_slices(n, c, min(w, 16)), says="expected 17, got 25"),
        Wrong(lambda n, c, w: windows_slices(n, c, w) if len(n) > 1 else 0, says="lengths = [5]"),
        Wrong(lambda n, c, w: pack_lengths(n[:w], c), says="must be a whole number"),
    ],
}  # fmt: skip
