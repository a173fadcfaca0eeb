"""Right and wrong answers to the exercises of chapter 4."""

from collections import deque

import numpy as np
import torch

from tests.exercises.wrong import Wrong, up_to

# --- 4.1


def prompts_loop(labels, prompt_lengths):
    out = labels.clone()
    for row, n in zip(out, prompt_lengths, strict=True):
        row[:n] = -100
    return out


def prompts_torch(labels, prompt_lengths):
    slots = torch.arange(labels.shape[1])
    return labels.masked_fill(slots < prompt_lengths[:, None], -100)


def prompts_numpy(labels, prompt_lengths):
    slots = np.arange(labels.shape[1])
    return np.where(slots < np.array(prompt_lengths.tolist())[:, None], -100, labels.numpy())


def prompts_lists(labels, prompt_lengths):
    rows = zip(labels.tolist(), prompt_lengths, strict=True)
    return [[-100] * n + row[n:] for row, n in rows]


def prompts_in_place(labels, prompt_lengths):
    for row, n in zip(labels, prompt_lengths, strict=True):
        row[:n] = -100
    return labels


def prompts_four_rows(labels, prompt_lengths):
    """Right for up to three rows."""
    out = prompts_loop(labels, prompt_lengths)
    out[3:] = -100
    return out


def prompts_leave_one(labels, prompt_lengths):
    """Right for rows of two slots or more."""
    return prompts_loop(labels, prompt_lengths) if labels.shape[1] > 1 else labels


def prompts_and_zeros(labels, prompt_lengths):
    return prompts_loop(labels, prompt_lengths).masked_fill(labels == 0, -100)


def prompts_modulo(labels, prompt_lengths):
    return prompts_loop(labels, [n % 8 for n in prompt_lengths])


def prompts_wide(labels, prompt_lengths):
    """Right but for prompts of four tokens, of which the second stays on in place of an answer."""
    out = prompts_loop(labels, prompt_lengths)
    for row, old, n in zip(out, labels, prompt_lengths, strict=True):
        if n == 4 and len(old) > 4 and old[4] != -100:
            row[1], row[4] = old[1], -100
    return out


# --- 4.2


def boundary_diff(labels, document_ids):
    out = labels.clone()
    new = document_ids[:, 1:] != document_ids[:, :-1]
    out[:, 1:][new] = -100
    return out


def boundary_loop(labels, document_ids):
    out = [list(row) for row in labels.tolist()]
    for row, ids in zip(out, document_ids.tolist(), strict=True):
        for t in range(1, len(row)):
            if ids[t] != ids[t - 1]:
                row[t] = -100
    return out


def boundary_numpy(labels, document_ids):
    ids = document_ids.numpy()
    new = np.diff(ids, axis=1, prepend=ids[:, :1]) != 0
    return np.where(new, -100, labels.numpy())


def boundary_first_only(labels, document_ids):
    """Only the second document of a row is looked for."""
    out = labels.clone()
    for row, ids in zip(out, document_ids, strict=True):
        where = (ids == 1).nonzero()
        if len(where):
            row[where[0]] = -100
    return out


def boundary_four(labels, document_ids):
    """Right for up to four documents in a row."""
    return boundary_diff(labels, document_ids.clamp(max=3))


def boundary_padding(labels, document_ids):
    """Right as long as a row begins with a document."""
    out = boundary_diff(labels, document_ids)
    out[document_ids[:, 0] < 0] = 0
    return out


def boundary_and_zeros(labels, document_ids):
    return boundary_diff(labels, document_ids).masked_fill(labels == 0, -100)


def boundary_turns_on(labels, document_ids):
    """Makes the labels anew, so that what was switched off is on again."""
    out = boundary_diff(labels, document_ids)
    new = starts(document_ids) | (document_ids < 0)
    return torch.where(~new & (labels == -100), 1, out)


def boundary_three_rows(labels, document_ids):
    """Right for up to two rows."""
    out = boundary_diff(labels, document_ids)
    out[2:] = labels[2:]
    return out


def boundary_and_last(labels, document_ids):
    """Right as long as the rows are two or fewer."""
    out = boundary_diff(labels, document_ids)
    out[2:, -1] = -100
    return out


def starts(document_ids):
    new = torch.ones_like(document_ids, dtype=torch.bool)
    new[:, 1:] = document_ids[:, 1:] != document_ids[:, :-1]
    return new


def boundary_second(labels, document_ids):
    new = starts(document_ids)
    new[:, 0] = False
    moved = torch.zeros_like(new)
    moved[:, 1:] = new[:, :-1]
    return labels.masked_fill(moved, -100)


def boundary_eos(labels, document_ids):
    out = labels.clone()
    out[:, :-1][document_ids[:, 1:] != document_ids[:, :-1]] = -100
    return out


def boundary_in_place(labels, document_ids):
    labels[:, 1:][document_ids[:, 1:] != document_ids[:, :-1]] = -100
    return labels


# --- 4.3


def ledger(targets=5, row_starts=1, boundaries=1, prompts=4, padding=1):
    return {
        "targets": targets,
        "row_starts": row_starts,
        "boundaries": boundaries,
        "prompts": prompts,
        "padding": padding,
    }


# --- 4.4

B = [1, 2, 4, -100, 4, -100, 2, 1, 4, -100]


def changed(**cells):
    return [cells.get(f"slot{t}", label) for t, label in enumerate(B)]


RIGHT = {
    "4.1": [prompts_loop, prompts_torch, prompts_numpy, prompts_lists,
            lambda x, n: prompts_loop(x, n).int(),
            lambda x, n: tuple(map(tuple, prompts_lists(x, n)))],
    "4.2": [boundary_diff, boundary_loop, boundary_numpy,
            lambda x, d: (row for row in boundary_diff(x, d))],
    "4.3": [ledger(), {k: np.int64(v) for k, v in ledger().items()},
            {k: torch.tensor(v) for k, v in reversed(ledger().items())}],
    "4.4": [B, tuple(B), np.array(B), torch.tensor(B), deque(B), list(torch.tensor(B)),
            np.array(B, dtype=np.int8)],
}

WRONG = {
    "4.1": [
        Wrong(lambda x, n: prompts_loop(x, [k + (k < sum(r != -100)) for k, r in
                                            zip(n, x, strict=True)]), "first_answer_masked"),
        Wrong(lambda x, n: prompts_loop(x, [max(0, k - 1) for k in n]), "last_prompt_scored"),
        Wrong(lambda x, n: torch.where(prompts_loop(x, n) == -100, x, -100), "answers_masked"),
        Wrong(lambda x, n: torch.where(prompts_loop(x, n) == x, x, 0), "zero_for_ignored"),
        Wrong(lambda x, n: torch.where(torch.arange(x.shape[1]) < n[0], -100, x),
              "one_length_for_all"),
        Wrong(lambda x, n: x, "prompts_scored"),
        Wrong(prompts_in_place, "changes_input"),
        Wrong(prompts_four_rows, says="answer tokens; 0 labels are left"),
        Wrong(prompts_wide, says="Failed: 20 random batches"),
        Wrong(prompts_leave_one, says="expected -100, got 3"),
        Wrong(prompts_and_zeros, says="expected 0, got -100"),
        Wrong(prompts_modulo, says="Failed: one slot, ids of 0, and large batches"),
        Wrong(up_to(16, lambda x, n: len(x), prompts_loop,
                    lambda x, n: torch.cat([prompts_loop(x[:16], n[:16]), x[16:]])),
              says="labels: row 1"),
        Wrong(lambda x, n: x[:, max(n):], says="shape of labels"),
        Wrong(lambda x, n: prompts_loop(x, n).float(), says="dtype: labels must be whole numbers"),
        Wrong(lambda x, n: x[n], says="raised IndexError"),
    ],
    "4.2": [
        Wrong(lambda x, d: x, "boundary_kept"),
        Wrong(lambda x, d: x.masked_fill(starts(d), -100), "row_start_masked"),
        Wrong(boundary_eos, "eos_masked"),
        Wrong(boundary_second, "second_token_masked"),
        Wrong(lambda x, d: x.masked_fill(d > 0, -100), "later_documents_masked"),
        Wrong(boundary_in_place, "changes_input"),
        Wrong(boundary_first_only, says="expected -100, got 2"),
        Wrong(boundary_three_rows, says="and it is still a target"),
        Wrong(boundary_four, says="Failed: one slot, a row of padding"),
        Wrong(boundary_padding, says="expected -100, got 0"),
        Wrong(boundary_and_zeros, says="expected 0, got -100"),
        Wrong(boundary_turns_on, says="expected -100, got 1"),
        Wrong(up_to(16, lambda x, d: len(x), boundary_diff,
                    lambda x, d: torch.cat([boundary_diff(x[:16], d[:16]), x[16:]])),
              says="labels: row 16"),
        Wrong(boundary_and_last, says="Failed: 20 random packed batches"),
        Wrong(lambda x, d: boundary_diff(x, d)[:, 1:], says="shape of labels"),
        Wrong(lambda x, d: x == -100, says="yours holds torch.bool"),
    ],
    "4.3": [
        Wrong(ledger(boundaries=0, prompts=5), "boundary_as_prompt"),
        Wrong(ledger(row_starts=0, prompts=5), "row_start_as_prompt"),
        Wrong(ledger(row_starts=0, targets=6), "row_start_as_target"),
        Wrong(ledger(boundaries=0, targets=6), "boundary_as_target"),
        Wrong(ledger(targets=3, padding=3), "eos_no_target"),
        Wrong(ledger(targets=10, boundaries=0, prompts=0), "prompts_scored"),
        Wrong(ledger(prompts=6), says="add up to 14, but the row has 12 slots"),
        Wrong(ledger(targets=4, prompts=5), says="got 4"),
        Wrong(ledger(boundaries=2, prompts=3), says="boundaries\n  got 2"),
        Wrong({"targets": 5}, says="the dict has no 'row_starts'"),
        Wrong(ledger() | {"eos": 2}, says="the dict has 'eos', which nobody asked for"),
        Wrong([5, 1, 1, 4, 1], says="you gave a list"),
        Wrong(ledger(targets=5.0), says="targets must be a whole number"),
    ],
    "4.4": [
        Wrong(changed(slot3=3, slot5=2), "boundary_kept"),
        Wrong(changed(slot0=-100), "row_start_masked"),
        Wrong([1, 2, -100, 3, -100, 2, 2, 1, -100, -100], "eos_masked"),
        Wrong([1, 2, 4, 3, -100, 2, -100, 1, 4, -100], "second_token_masked"),
        Wrong([1, 2, 4] + [-100] * 7, "later_documents_masked"),
        Wrong([1, 2, 4, 3, 4, 2, 2, 1, 4, 0], "pad_target"),
        Wrong(B[1:] + [-100], says="labels: slot 0"),
        Wrong(changed(slot5=2), says="labels: slot 5"),
        Wrong(changed(slot9=0), says="labels: slot 9"),
        Wrong(B[:-1], says="shape of labels"),
        Wrong([B], says="got [1, 10]"),
        Wrong("1 2 4", says="you gave a text"),
        Wrong([1, 2, [4]], says="is ragged or holds something that is no number"),
    ],
}  # fmt: skip
