"""Right and wrong answers to the three exercises on the document mask."""

import numpy as np
import torch

from tests.exercises.wrong import Wrong, up_to

# --- one rule for a pair of query and key, right and wrong


def right(q, k, ids):
    return k <= q and ids[q] == ids[k] and ids[q] >= 0


RULES = {
    "no_document_mask": lambda q, k, ids: k <= q,
    "no_document_mask_but_padding": lambda q, k, ids: k <= q and ids[q] >= 0 and ids[k] >= 0,
    "future_in_document": lambda q, k, ids: ids[q] == ids[k] and ids[q] >= 0,
    "padding_is_a_document": lambda q, k, ids: k <= q and ids[q] == ids[k],
    "upper_triangle": lambda q, k, ids: right(k, q, ids),
    "self_masked": lambda q, k, ids: right(q, k, ids) and q != k,
    "true_means_masked": lambda q, k, ids: not right(q, k, ids),
    "pad_sees_itself": lambda q, k, ids: right(q, k, ids) or (q == k and ids[q] < 0),
    "pad_keeps_view": lambda q, k, ids: right(q, k, ids) or (k <= q and ids[q] < 0 <= ids[k]),
}


def by_rule(rule):
    def answer(document_ids):
        slots = range(len(document_ids))
        return [[bool(rule(q, k, document_ids)) for k in slots] for q in slots]

    return answer


def batch_by_rule(rule):
    return lambda document_ids: torch.tensor([by_rule(rule)(r) for r in document_ids.tolist()])


# --- 5.3


def loop_digits(document_ids):
    mask = []
    for q, mine in enumerate(document_ids):
        row = []
        for k, other in enumerate(document_ids):
            row.append(int(k <= q and mine == other and mine != -1))
        mask.append(row)
    return mask


def loop_numpy(document_ids):
    size = len(document_ids)
    mask = np.zeros((size, size), dtype=bool)
    for q in range(size):
        for k in range(q + 1):
            mask[q, k] = document_ids[q] == document_ids[k] >= 0
    return mask


def loop_torch(document_ids):
    ids = torch.tensor(document_ids)
    return ((ids[:, None] == ids) & (ids >= 0)[:, None]).tril()


def loop_neighbour(document_ids):
    """Takes a document for finished once another number has been seen in between."""
    return by_rule(lambda q, k, ids: right(q, k, ids) and q - k < 4)(document_ids)


def loop_leaks_late(document_ids):
    """Right for up to two documents, but for single tokens."""
    return by_rule(lambda q, k, ids: right(q, k, ids) or ids[q] == 2 and q - k == 3)(document_ids)


# --- 5.4


def mask_compare(document_ids):
    size = document_ids.shape[1]
    same = document_ids[:, :, None] == document_ids[:, None, :]
    causal = torch.ones(size, size, dtype=torch.bool).tril()
    return same & causal & (document_ids >= 0)[:, :, None]


def mask_arange(document_ids):
    slots = torch.arange(document_ids.shape[1])
    ids = torch.where(document_ids < 0, -1, document_ids)
    same = ids.unsqueeze(2).eq(ids.unsqueeze(1))
    return same.logical_and(slots[:, None] >= slots).logical_and(ids.unsqueeze(2) != -1)


def mask_numpy(document_ids):
    ids = document_ids.numpy()
    return np.tril(np.equal(ids[:, :, None], ids[:, None, :]) & (ids[:, None, :] >= 0))


def mask_rows(document_ids):
    """One comparison a row of the batch: a loop over rows, not over positions."""
    return torch.stack([loop_tensor(ids) for ids in document_ids])


def loop_tensor(ids):
    return ((ids[:, None] == ids) & (ids >= 0)[:, None]).tril()


def mask_python(document_ids):
    return torch.tensor([by_rule(right)(row) for row in document_ids.tolist()])


def mask_query_loop(document_ids):
    mask = mask_compare(document_ids) & False
    for q in range(document_ids.shape[1]):
        mask[:, q, : q + 1] = document_ids[:, : q + 1] == document_ids[:, q, None]
        mask[:, q] &= document_ids[:, q, None] >= 0
    return mask


def mask_comprehension(document_ids):
    slots = [t for t in range(document_ids.shape[1])]
    return mask_compare(document_ids)[:, slots]


def mask_window(document_ids):
    """Right as long as a document has 20 tokens or fewer."""
    return mask_compare(document_ids) & ~mask_compare(document_ids).tril(-20)


def mask_first_row(document_ids):
    return mask_compare(document_ids[:1]).expand(len(document_ids), -1, -1)


def mask_late(document_ids):
    """Right for up to two rows; in others the first column is lost."""
    mask = mask_compare(document_ids)
    mask[2:, :, 0] = False
    return mask


def mask_leaks_third(document_ids):
    """Right for up to two rows."""
    mask = mask_compare(document_ids)
    mask[2:] = torch.ones_like(mask[2:]).tril()
    return mask


def mask_two_rows(document_ids):
    """Right for one row; in others padding sees the row."""
    mask = mask_compare(document_ids)
    mask[1:, :, 0] = False
    return mask


# --- 5.5

HAND = [
    [1, 0, 0, 0, 0, 0],
    [1, 1, 0, 0, 0, 0],
    [0, 0, 1, 0, 0, 0],
    [0, 0, 1, 1, 0, 0],
    [0, 0, 1, 1, 1, 0],
    [0, 0, 0, 0, 0, 0],
]
HAND_IDS = [0, 0, 1, 1, 1, -1]


def cell(query, key):
    return [[v ^ ((q, k) == (query, key)) for k, v in enumerate(r)] for q, r in enumerate(HAND)]


RIGHT = {
    "5.3": [by_rule(right), loop_digits, loop_numpy, loop_torch,
            lambda ids: (iter(row) for row in loop_digits(ids)),
            lambda ids: loop_numpy(ids).astype(np.uint8)],
    "5.4": [mask_compare, mask_arange, mask_numpy, mask_rows],
    "5.5": [HAND, np.array(HAND), torch.tensor(HAND).bool(), by_rule(right)(HAND_IDS),
            tuple(map(tuple, HAND)), torch.tensor(HAND, dtype=torch.uint8),
            list(torch.tensor(HAND).int())],
}

WRONG = {
    "5.3": [
        *(Wrong(by_rule(rule), name) for name, rule in RULES.items()),
        Wrong(loop_neighbour, says="Failed: 20 random rows"),
        Wrong(lambda ids: by_rule(right)([min(d, 3) for d in ids]),
              says="Failed: one slot, only padding, padding at both ends"),
        Wrong(lambda ids: by_rule(right)([d % 16 if d >= 0 else d for d in ids]),
              says="in document 0."),
        Wrong(by_rule(lambda q, k, ids: right(q, k, ids) and q - k < 16), says="key is not ahead"),
        Wrong(by_rule(lambda q, k, ids: right(q, k, ids) or len(ids) == 1), says="[-1]"),
        Wrong(up_to(0, lambda ids: ids[0] < 0 <= max(ids), loop_digits,
                    lambda ids: loop_digits([0] * len(ids))), says="[-1, 0, 0, 1, -1]"),
        Wrong(loop_leaks_late, says="(document 2) may attend to key"),
        Wrong(by_rule(lambda q, k, ids: right(q, k, ids) or k == q + 1 and ids[q] == ids[k] >= 0),
              says="lies in the future of query"),
        Wrong(by_rule(lambda q, k, ids: right(q, k, ids) and k > 0),
              says="lie in document 0, and the key is not ahead"),
        Wrong(by_rule(lambda q, k, ids: right(q, k, ids) or k == 0 and ids[q] == 1),
              says="Why: query 1 lies in document 1, key 0 in document 0"),
        Wrong(by_rule(lambda q, k, ids: right(q, k, ids) or ids[q] < 0 and k == 0),
              says="Why: query 3 is padding"),
        Wrong(by_rule(lambda q, k, ids: right(q, k, ids) or ids[k] < 0 and k == q + 1),
              says="lies in the future"),
        Wrong(lambda ids: [[2 * v for v in row] for row in loop_digits(ids)], says="dtype: mask"),
        Wrong(lambda ids: np.where(loop_digits(ids), 0.0, -1e9), says="numpy float64"),
        Wrong(lambda ids: [loop_digits(ids)], says="expected [5, 5], got [1, 5, 5]"),
        Wrong(lambda ids: [row[: q + 1] for q, row in enumerate(loop_digits(ids))],
              says="mask is ragged"),
    ],
    "5.4": [
        *(Wrong(batch_by_rule(rule), name) for name, rule in RULES.items()),
        Wrong(mask_python, says="there is a loop over positions"),
        Wrong(mask_query_loop, says="there is a loop over positions"),
        Wrong(mask_comprehension, says="Failed: Python steps do not grow with T"),
        Wrong(mask_window, says="mask: row 0, query 20, key 0"),
        Wrong(lambda ids: mask_compare(ids.clamp(max=3)),
              says="Failed: one slot, only padding, padding at both ends"),
        Wrong(up_to(16, len, mask_compare, lambda ids: mask_compare(ids[:16])), says="got [16, "),
        Wrong(lambda ids: mask_compare(ids) | (ids.max() < 0), says="Why: query 0 is padding"),
        Wrong(mask_first_row, says="Why: query 6 is padding"),
        Wrong(mask_late, says="Failed: 20 random batches"),
        Wrong(mask_two_rows, says="expected True, got False"),
        Wrong(mask_leaks_third, says="may attend to key"),
        Wrong(lambda ids: mask_compare(ids).int(), says="mask must be truth values"),
        Wrong(lambda ids: torch.where(mask_compare(ids), 0.0, -torch.inf), says="torch.float32"),
        Wrong(lambda ids: mask_compare(ids)[:, None], says="got [1, 1, 5, 5]"),
        Wrong(lambda ids: mask_compare(ids).tolist(), says="must be a tensor or array"),
    ],
    "5.5": [
        *(Wrong(by_rule(rule)(HAND_IDS), name) for name, rule in RULES.items()
          if name != "pad_sees_itself"),
        Wrong(cell(2, 1), says="Why: query 2 lies in document 1, key 1 in document 0"),
        Wrong(cell(1, 0), says="Why: query 1 and key 0 lie in document 0"),
        Wrong(cell(3, 4), says="Why: key 4 lies in the future of query 3"),
        Wrong(cell(5, 1), says="Why: query 5 is padding"),
        Wrong(HAND[:5], says="expected [6, 6], got [5, 6]"),
        Wrong([[2 * v for v in row] for row in HAND], says="dtype: mask must be truth values"),
        Wrong(str(HAND), says="you gave a text"),
    ],
}  # fmt: skip
