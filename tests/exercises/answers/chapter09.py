"""Right and wrong answers to the exercises of chapter 9."""

import math

import numpy as np
import torch

from course_lib import document_ids_from_lengths, document_mask, pad_documents
from tests.exercises.wrong import Wrong


def cut(lengths, size):
    return [lengths[i : i + size] for i in range(0, len(lengths), size)]


def slots_loop(lengths, batch_size):
    total = 0
    for i in range(0, len(lengths), batch_size):
        batch = lengths[i : i + batch_size]
        total += len(batch) * max(batch)
    return total


def slots_numpy(lengths, batch_size):
    starts = np.arange(0, len(lengths), batch_size)
    widths = np.maximum.reduceat(np.asarray(lengths), starts)
    return int(widths @ np.diff(np.append(starts, len(lengths))))


def slots_batches(lengths, batch_size):
    """Make the batches and count."""
    batches = cut([[1] * n for n in lengths], batch_size)
    return sum(pad_documents(batch).input_ids.numel() for batch in batches)


def slots_small_only(lengths, batch_size):
    """Right for small batches."""
    return slots_loop(lengths, min(batch_size, 8))


def pairs_sum(rows):
    return sum(n * (n + 1) // 2 for row in rows for n in row)


def pairs_counted(rows):
    return sum(position + 1 for row in rows for n in row for position in range(n))


def pairs_mask(rows):
    """Write the masks out."""
    width = max(map(sum, rows))
    ids = torch.stack([document_ids_from_lengths(row, width) for row in rows])
    return int(document_mask(ids).sum())


def pairs_comb(rows):
    return sum(math.comb(n + 1, 2) for row in rows for n in row)


def pairs_float(rows):
    return sum(n * (n + 1) / 2 for row in rows for n in row)


def half(n):
    return n * (n + 1) // 2


RIGHT = {
    "9.1": [slots_loop, slots_numpy, slots_batches],
    "9.2": [pairs_sum, pairs_counted, pairs_mask, pairs_comb],
}

WRONG = {
    "9.1": [
        Wrong(lambda x, b: len(x) * max(x), says="longest document of all"),
        Wrong(lambda x, b: sum(b * max(c) for c in cut(x, b)), says="counted as a full one"),
        Wrong(lambda x, b: sum(b * max(c) for c in cut(x, b) if len(c) == b),
              says="shorter batch is not counted"),
        Wrong(lambda x, b: sum(x), says="these are the tokens"),
        Wrong(lambda x, b: slots_loop(x, b) - sum(x), says="this is the waste alone"),
        Wrong(lambda x, b: slots_loop(sorted(x, reverse=True), b), says="sorted first"),
        Wrong(lambda x, b: sum(max(c) for c in cut(x, b)), says="one row is counted for each"),
        Wrong(slots_small_only, says="the number of slots"),
        Wrong(lambda x, b: slots_loop(x, b) if len(x) < 5 else sum(x) - 1, says="slots, yours are"),
        Wrong(lambda x, b: slots_loop(x, b) if len(x) < 5 else len(x) * max(x) + 1,
              says="so there are at most"),
        Wrong(lambda x, b: [slots_loop(x, b)] * 2, says="number of slots must be"),
    ],
    "9.2": [
        Wrong(lambda r: sum(half(sum(x)) for x in r), "no_document_mask_but_padding"),
        Wrong(lambda r: sum(sum(x) ** 2 for x in r), "full_rows"),
        Wrong(lambda r: sum(n * n for x in r for n in x), "future_in_document"),
        Wrong(lambda r: sum(half(n - 1) for x in r for n in x), "self_masked"),
        Wrong(lambda r: sum(map(sum, r)), "counts_tokens_for_pairs"),
        Wrong(lambda r: pairs_sum(r[:1]), says="the number of pairs"),
        Wrong(lambda r: sum(map(len, r)), says="the number of pairs"),
        Wrong(lambda r: pairs_sum(r) if len(r) < 3 else 1, says="pairs at least, yours are"),
        Wrong(lambda r: sum(half(min(n, 16)) for x in r for n in x), says="Failed: a single token"),
        Wrong(lambda r: pairs_sum(r) if sum(map(len, r)) > 1 else 0, says="the number of pairs"),
        Wrong(lambda r, capacity: pairs_sum(r), says="it must take (rows)"),
    ],
}  # fmt: skip
