"""Right and wrong answers to the exercises of lab 2."""

import numpy as np
import torch

from course_lib.masks import causal_mask
from tests.exercises.wrong import Wrong, up_to

# --- L2.3

DRAWN = {
    "starts": [0, 3],
    "position_ids": [0, 1, 2, 0, 1, 2, 3, -1],
    "mask": [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 1, 0, 0],
        [0, 0, 0, 1, 1, 1, 1, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ],
    "labels": [2, 1, 4, -100, 3, 1, 4, -100],
    "numerator": 4.5,
    "denominator": 5,
}


def drawn(**change):
    return DRAWN | change


def mask_but(query, key):
    rows = [list(row) for row in DRAWN["mask"]]
    rows[query][key] = 1 - rows[query][key]
    return rows


TRIANGLE = np.tri(8, dtype=int)
TRIANGLE[7] = 0

# --- L2.2


def triangle(n):
    return n * (n + 1) // 2


def pairs_formula(lengths, capacity, kind):
    real = sum(lengths)
    if kind == "causal":
        return triangle(capacity)
    if kind == "padding":
        return triangle(real) + (capacity - real) * real
    return sum(triangle(n) for n in lengths)


def pairs_loop(lengths, capacity, kind):
    ids = [d for d, n in enumerate(lengths) for _ in range(n)]
    ids += [-1] * (capacity - len(ids))
    found = 0
    for q in range(capacity):
        for k in range(q + 1):
            document = ids[q] == ids[k] >= 0
            found += {"causal": True, "padding": ids[k] >= 0, "document": document}[kind]
    return found


def pairs_tensor(lengths, capacity, kind):
    mask = causal_mask(capacity)
    ids = torch.full((capacity,), -1)
    ids[: sum(lengths)] = torch.repeat_interleave(torch.tensor(lengths))
    if kind == "padding":
        mask &= ids >= 0
    if kind == "document":
        mask &= (ids[:, None] == ids) & (ids >= 0)
    return mask.sum()


def pairs_but(**change):
    def answer(lengths, capacity, kind):
        made = change.get(kind)
        return made(lengths, capacity) if made else pairs_formula(lengths, capacity, kind)

    return answer


def pairs_short(lengths, capacity, kind):
    """Right for up to three documents."""
    return pairs_formula(lengths[:3] if kind == "document" else lengths, capacity, kind)


def pairs_full(lengths, capacity, kind):
    """Right as long as there is more than one slot."""
    return pairs_formula(lengths, capacity, kind) if capacity > 1 else 0


def pairs_none(lengths, capacity, kind):
    """Right for up to three documents; then less than the diagonal."""
    return pairs_formula(lengths, capacity, kind) if len(lengths) < 4 else 1


# --- L2.1

MOVES = {"boundary": "labels", "prompt": "labels", "mask kind": "mask", "lengths": "both"}


def moves(**change):
    return MOVES | {name.replace("_", " "): word for name, word in change.items()}


RIGHT = {
    "L2.3": [
        DRAWN,
        drawn(mask=torch.tensor(DRAWN["mask"]).bool(), starts=np.array([0, 3])),
        drawn(labels=torch.tensor(DRAWN["labels"]), position_ids=tuple(DRAWN["position_ids"])),
    ],
    "L2.2": [pairs_formula, pairs_loop, pairs_tensor],
    "L2.1": [MOVES, dict(reversed(MOVES.items())), moves(boundary="labels")],
}

WRONG = {
    "L2.3": [
        Wrong(drawn(labels=[2, 1, 4, 3, 3, 1, 4, -100], numerator=6.5, denominator=6),
              "boundary_kept"),
        Wrong(drawn(mask=TRIANGLE), "no_document_mask"),
        Wrong(drawn(position_ids=[0, 1, 2, 3, 4, 5, 6, -1]), "positions_not_reset"),
        Wrong(drawn(position_ids=[0, 1, 2, 0, 1, 2, 3, 0]), "pad_position_zero"),
        Wrong(drawn(labels=[-100, 1, 4, -100, 3, 1, 4, -100]), "row_start_masked"),
        Wrong(drawn(denominator=8), "divides_by_slots"),
        Wrong(drawn(denominator=7), "counts_real_tokens"),
        Wrong(drawn(starts=[0, 4]), says="starts: document 1\n  expected 3, got 4"),
        Wrong(drawn(starts=[0, 3, 7]), says="shape of starts"),
        Wrong(drawn(mask=mask_but(3, 2)), says="mask: query 3, key 2"),
        Wrong(drawn(mask=mask_but(7, 7)), says="mask: query 7, key 7"),
        Wrong(drawn(numerator=6.5), says="numerator\n  got 6.5"),
        Wrong({k: v for k, v in DRAWN.items() if k != "mask"}, says="the dict has no 'mask'"),
        Wrong(DRAWN["mask"], says="you gave a list"),
    ],
    "L2.2": [
        Wrong(pairs_but(causal=lambda n, c: triangle(c - 1),
                        padding=lambda n, c: triangle(sum(n) - 1) + (c - sum(n)) * sum(n),
                        document=lambda n, c: sum(triangle(x - 1) for x in n)), "self_masked"),
        Wrong(pairs_but(document=lambda n, c: sum(x * x for x in n)), "future_in_document"),
        Wrong(pairs_but(padding=lambda n, c: triangle(sum(n))), "pad_query_masked"),
        Wrong(pairs_but(padding=lambda n, c: triangle(c)), "padding_keys_visible"),
        Wrong(pairs_but(document=lambda n, c: sum(map(triangle, [*n, c - sum(n)]))),
              "padding_is_a_document"),
        Wrong(pairs_but(document=lambda n, c: triangle(sum(n))), "no_document_mask"),
        Wrong(pairs_but(causal=lambda n, c: c * c), says="expected 21, got 36"),
        Wrong(pairs_short, says="Failed: 80 random rows"),
        Wrong(pairs_none, says="no causal mask of"),
        Wrong(pairs_full, says="expected 1, got 0"),
        Wrong(up_to(16, lambda n, c, kind: len(n), pairs_formula,
                    lambda n, c, kind: pairs_formula([min(x, 16) for x in n], c, kind)),
              says="Failed: one token, with and without padding"),
        Wrong(lambda n, c, kind: pairs_formula(n, c, kind) / 1, says="you gave a float"),
        Wrong(lambda n, c, kind: causal_mask(c), says="must be a whole number"),
    ],
    "L2.1": [
        Wrong(moves(boundary="mask"), "boundary_hides"),
        Wrong(moves(boundary="both"), "boundary_does_both"),
        Wrong(moves(prompt="both"), "prompt_hidden"),
        Wrong(moves(mask_kind="both"), "mask_scores"),
        Wrong(moves(lengths="mask"), "lengths_mask_only"),
        Wrong(moves(lengths="labels"), says="lengths\n  got labels"),
        Wrong(moves(prompt="neither"), says="prompt\n  got neither"),
        Wrong(moves(mask_kind="attention"), says="must be one of 'mask', 'labels', 'both'"),
        Wrong(list(MOVES.values()), says="you gave a list"),
    ],
}  # fmt: skip
