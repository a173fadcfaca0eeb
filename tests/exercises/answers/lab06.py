"""Right and wrong answers to the exercises of lab 6."""

from fractions import Fraction

import numpy as np
import torch

from course_lib import document_ids_from_lengths, document_mask
from tests.exercises.wrong import Wrong, up_to

# --- L6.1


def tiles_loop(lengths, tile):
    ids = [d for d, n in enumerate(lengths) for _ in range(n)]
    counts = [0, 0, 0]
    for top in range(0, len(ids), tile):
        for left in range(0, len(ids), tile):
            cells = [
                k <= q and ids[q] == ids[k]
                for q in range(top, top + tile)
                for k in range(left, left + tile)
            ]
            counts[any(cells) + all(cells)] += 1
    return tuple(counts)


def tiles_tensor(lengths, tile):
    mask = document_mask(document_ids_from_lengths(lengths))
    blocks = mask.unflatten(0, (-1, tile)).unflatten(2, (-1, tile)).float().mean((1, 3))
    return (blocks == 0).sum(), ((blocks > 0) & (blocks < 1)).sum(), (blocks == 1).sum()


def tiles_boundaries(lengths, tile):
    """The way of course_lib.attention.tables: from the starts of the documents."""
    starts = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths).reshape(-1, tile)
    skipped = partial = full = 0
    for r, row in enumerate(starts):
        one = row[0] == row[-1]
        for c in range(len(starts)):
            if c > r or (c + 1) * tile <= row[0]:
                skipped += 1
            elif c < r and one and row[0] <= c * tile:
                full += 1
            else:
                partial += 1
    return [skipped, partial, full]


def tiles_of(rule):
    def answer(lengths, tile):
        ids = document_ids_from_lengths(lengths)
        q, k = torch.meshgrid(torch.arange(len(ids)), torch.arange(len(ids)), indexing="ij")
        mask = rule(q, k, ids[q] == ids[k])
        blocks = mask.unflatten(0, (-1, tile)).unflatten(2, (-1, tile)).float().mean((1, 3))
        skipped, full = int((blocks == 0).sum()), int((blocks == 1).sum())
        return skipped, blocks.numel() - skipped - full, full

    return answer


def tiles_diagonal_full(lengths, tile):
    skipped, partial, full = tiles_loop(lengths, tile)
    ids = document_ids_from_lengths(lengths).view(-1, tile)
    whole = int((ids[:, 0] == ids[:, -1]).sum())
    return skipped, partial - whole, full + whole


def tiles_short(lengths, tile):
    """Right as long as there are at most two documents."""
    skipped, partial, full = tiles_loop(lengths, tile)
    return (skipped, partial, full) if len(lengths) < 3 else (skipped + 1, partial, full - 1)


def tiles_nothing_before(lengths, tile):
    """Right as long as there is more than one tile."""
    return tiles_loop(lengths, tile) if sum(lengths) > tile else (1, 0, 0)


def tiles_one_missing(lengths, tile):
    skipped, partial, full = tiles_loop(lengths, tile)
    return (skipped, partial, full) if len(lengths) < 3 else (skipped - 1, partial, full)


def tiles_few_partial(lengths, tile):
    """Right as long as there are at most two documents; then partial tiles are skipped."""
    skipped, partial, full = tiles_loop(lengths, tile)
    return (skipped, partial, full) if len(lengths) < 3 else (skipped + partial, 0, full)


# --- L6.2


def triangle(n):
    return n * (n + 1) / 2


def bounds_plain(lengths, context):
    area = len(lengths) * triangle(context) / sum(triangle(n) for n in lengths)
    return len(lengths) * context / sum(lengths), area


def bounds_numpy(lengths, context):
    n = np.asarray(lengths)
    full = np.full_like(n, context)
    return full.sum() / n.sum(), (full * (full + 1)).sum() / (n * (n + 1)).sum()


def bounds_counted(lengths, context):
    slots = torch.ones(len(lengths), context)
    pairs = sum(int(torch.ones(n, n).tril().sum()) for n in lengths)
    padded = len(lengths) * int(torch.ones(context, context).tril().sum())
    return slots.sum() / sum(lengths), torch.tensor(padded / pairs)


def bounds_fractions(lengths, context):
    area = Fraction(len(lengths) * context * (context + 1), sum(n * (n + 1) for n in lengths))
    return Fraction(len(lengths) * context, sum(lengths)), area


def area_of(make):
    return lambda lengths, context: (bounds_plain(lengths, context)[0], make(lengths, context))


def each_ratio(lengths, context):
    slots = sum(context / n for n in lengths) / len(lengths)
    return slots, sum(triangle(context) / triangle(n) for n in lengths) / len(lengths)


def few_slots(lengths, context):
    """Right for up to two documents."""
    slots, area = bounds_plain(lengths, context)
    return (slots, area) if len(lengths) < 3 else (0.5, area)


def small_area(lengths, context):
    """Right for up to two documents."""
    slots, area = bounds_plain(lengths, context)
    return (slots, area) if len(lengths) < 3 else (slots, 0.5)


RIGHT = {
    "L6.1": [tiles_loop, tiles_tensor, tiles_boundaries, lambda n, t: np.array(tiles_loop(n, t)),
             lambda n, t: torch.stack(tiles_tensor(n, t))],
    "L6.2": [bounds_plain, bounds_numpy, bounds_counted,
             lambda n, c: torch.tensor(bounds_plain(n, c)), bounds_fractions],
}

WRONG = {
    "L6.1": [
        Wrong(tiles_diagonal_full, "diagonal_full"),
        Wrong(tiles_of(lambda q, k, same: k <= q), "no_document_mask"),
        Wrong(tiles_of(lambda q, k, same: same), "future_in_document"),
        Wrong(tiles_of(lambda q, k, same: same & (k < q)), "self_masked"),
        Wrong(lambda n, t: tiles_loop(n, t)[::-1], "tiles_mixed_up"),
        Wrong(lambda n, t: sum(tiles_loop(n, t)), says="skipped, partial, full"),
        Wrong(tiles_short, says="skipped"),
        Wrong(tiles_nothing_before, says="expected 0, got 1"),
        Wrong(up_to(16, lambda n, t: len(n), tiles_loop,
                    lambda n, t: tiles_loop([*n[:16], sum(n[16:])], t)),
              says="Failed: a single tile, large tiles, and large rows"),
        Wrong(tiles_one_missing, says="tiles must be counted"),
        Wrong(tiles_few_partial, says="tiles on the diagonal is partial"),
        Wrong(lambda n, t: [float(x) for x in tiles_loop(n, t)], says="skipped"),
    ],
    "L6.2": [
        Wrong(
            area_of(lambda n, c: len(n) * c * c / sum(x * x for x in n)), "whole_squares"
        ),
        Wrong(
            area_of(lambda n, c: len(n) * triangle(c) / triangle(sum(n))), "no_document_mask"
        ),
        Wrong(each_ratio, "mean_of_ratios"),
        Wrong(
            lambda n, c: tuple(x / len(n) for x in bounds_plain(n, c)), "one_row_only"
        ),
        Wrong(lambda n, c: (len(n) * c / sum(n),) * 2, "slots_for_both"),
        Wrong(lambda n, c: tuple(1 / x for x in bounds_plain(n, c)), "ratio_turned"),
        Wrong(lambda n, c: bounds_plain(n, min(c, 64)), says="context = 100"),
        Wrong(up_to(16, lambda n, c: len(n), bounds_plain, lambda n, c: bounds_plain(n[:16], c)),
              says="Failed: one token, and large batches"),
        Wrong(few_slots, says="neither number can be below 1. by slots"),
        Wrong(small_area, says="neither number can be below 1. by area"),
        Wrong(lambda n, c: bounds_plain(n, c)[0], says="by slots, by area"),
        Wrong(lambda n, c: [str(x) for x in bounds_plain(n, c)], says="by slots"),
    ],
}  # fmt: skip
