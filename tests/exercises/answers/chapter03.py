"""Right and wrong answers to the exercises of chapter 3."""

from collections import UserDict, deque

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from course_lib.exercises.broken import collate as broken_collate
from tests.exercises.wrong import Wrong, up_to

# --- 3.1


def pad_loop(documents, pad_id):
    width = max(len(d) for d in documents)
    ids, mask = [], []
    for document in documents:
        empty = width - len(document)
        ids.append(list(document) + [pad_id] * empty)
        mask.append([1] * len(document) + [0] * empty)
    return torch.tensor(ids), torch.tensor(mask)


def pad_lists(documents, pad_id):
    ids, mask = pad_loop(documents, pad_id)
    return ids.tolist(), mask.tolist()


def pad_numpy(documents, pad_id):
    lengths = np.array([len(d) for d in documents])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, pad_id)
    ids[mask] = np.concatenate(documents)
    return ids, mask.astype(np.int64)


def pad_torch(documents, pad_id):
    rows = [torch.tensor(d) for d in documents]
    ids = pad_sequence(rows, batch_first=True, padding_value=pad_id)
    ones = [torch.ones_like(row) for row in rows]
    return ids, pad_sequence(ones, batch_first=True)


def pad_bool(documents, pad_id):
    """Truth values for 1 and 0, and everything in int32."""
    ids, mask = pad_loop(documents, pad_id)
    return ids.int(), mask.bool()


def pad_one_tensor(documents, pad_id):
    return torch.stack(pad_loop(documents, pad_id))


def pad_clamps(documents, pad_id):
    """Right for the ids of a small vocabulary."""
    ids, mask = pad_loop(documents, pad_id)
    return ids.clamp(max=255), mask


def pad_one_more(documents, pad_id):
    """Right for documents of two tokens or more: takes a shorter row for an empty one."""
    ids, mask = pad_loop(documents, pad_id)
    return (ids, mask) if ids.shape[1] > 1 else pad_loop([*documents, [pad_id] * 2], pad_id)


def pad_shortens(documents, pad_id):
    ids, mask = pad_loop(documents, pad_id)
    return ids[:, :3], mask[:, :3]


def pad_loses_one(documents, pad_id):
    """Right for up to three documents."""
    ids, mask = pad_loop(documents, pad_id)
    if len(documents) > 3:
        mask[3, len(documents[3]) - 1] = 0
    return ids, mask


def pad_raises(documents, pad_id):
    """Right for up to three documents."""
    if len(documents) > 3:
        raise OverflowError("too many")
    return pad_loop(documents, pad_id)


def pad_zero(documents, pad_id):
    return pad_loop(documents, 0)


# --- 3.2


def masks_torch(attention_mask):
    size = attention_mask.shape[1]
    keys = attention_mask.bool().unsqueeze(1)
    return keys, torch.ones(size, size).tril().bool() & keys


def masks_loop(attention_mask):
    rows = attention_mask.tolist()
    size = len(rows[0])
    combined = [
        [[k <= q and row[k] == 1 for k in range(size)] for q in range(size)] for row in rows
    ]
    return torch.tensor([[[k == 1 for k in row]] for row in rows]), torch.tensor(combined)


def masks_numpy(attention_mask):
    keys = attention_mask.numpy()[:, None, :] == 1
    slots = np.arange(keys.shape[-1])
    return keys, (slots[:, None] >= slots)[None] & keys


def masks(make):
    def answer(attention_mask):
        return make(*masks_torch(attention_mask))

    return answer


def masks_length(attention_mask):
    """Right as long as the padding of a row stands at one end."""
    rows = []
    for row in attention_mask.bool():
        real = row.nonzero().flatten().tolist()
        first, last = (real[0], real[-1]) if real else (0, -1)
        slots = torch.arange(len(row))
        rows.append((slots >= first) & (slots <= last))
    keys = torch.stack(rows)[:, None]
    return keys, torch.ones(keys.shape[-1], keys.shape[-1]).tril().bool() & keys


def masks_never_empty(attention_mask):
    """Right as long as each row has a real token."""
    keys, combined = masks_torch(attention_mask)
    return keys, combined | ~keys.any(2, keepdim=True)


def masks_window(attention_mask):
    """Right for up to 16 slots."""
    keys, combined = masks_torch(attention_mask)
    return keys, combined.triu(-15)


def masks_left_open(attention_mask):
    """Right as long as there is one row."""
    keys, combined = masks_torch(attention_mask)
    combined[1:] = torch.ones_like(combined[1:]).tril()
    return keys, combined


def masks_first_row(attention_mask):
    """Right as long as all rows of the batch are padded alike."""
    keys, combined = masks_torch(attention_mask)
    combined[1:] &= keys[:1]
    return keys, combined


# --- 3.3


def labels_arange(input_ids, lengths):
    slots = torch.arange(input_ids.shape[1])
    return torch.where(slots < lengths[:, None], input_ids, -100)


def labels_loop(input_ids, lengths):
    labels = input_ids.clone()
    for row, length in zip(labels, lengths, strict=True):
        row[length:] = -100
    return labels


def labels_numpy(input_ids, lengths):
    labels = input_ids.numpy().copy()
    labels[np.arange(labels.shape[1])[None] >= np.array(lengths.tolist())[:, None]] = -100
    return labels


def labels_no_clone(input_ids, lengths):
    labels = input_ids
    for row, length in zip(labels, lengths, strict=True):
        row[length:] = -100
    return labels


def labels_first_eos(input_ids, lengths):
    """Takes the first EOS of a row for its end."""
    labels = input_ids.clone()
    for row in labels:
        end = (row == 4).nonzero()[0].item()
        row[end + 1 :] = -100
    return labels


def labels_no_zeros(input_ids, lengths):
    return labels_arange(input_ids, lengths).masked_fill(input_ids == 0, -100)


def labels_run_of_eos(input_ids, lengths):
    """Keeps the first of the EOS at the end of a row: right where one EOS is real."""
    labels = input_ids.clone()
    for row in labels:
        end = len(row)
        while end > 1 and row[end - 2] == row[-1]:
            end -= 1
        row[end:] = -100
    return labels


def labels_only_eos_4(input_ids, lengths):
    """Right as long as the EOS is 4."""
    labels = labels_arange(input_ids, lengths)
    return torch.where(input_ids == 4, labels, input_ids)


def labels_rows_of_ten(input_ids, lengths):
    """Right as long as no row holds five tokens or more besides its EOS."""
    labels = labels_loop(input_ids, lengths)
    for row, length in zip(labels, lengths, strict=True):
        if length > 5:
            row[length - 1] = -100
    return labels


def labels_zero(input_ids, lengths):
    return labels_loop(input_ids, lengths).clamp(min=0)


# --- 3.4


def collate_loop(documents, pad_id):
    ids, mask = pad_loop(documents, pad_id)
    labels = ids.clone()
    for row, document in zip(labels, documents, strict=True):
        row[len(document) :] = -100
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def collate_torch(documents, pad_id):
    rows = [torch.tensor(d) for d in documents]
    return {
        "input_ids": pad_sequence(rows, batch_first=True, padding_value=pad_id),
        "labels": pad_sequence(rows, batch_first=True, padding_value=-100),
        "attention_mask": pad_sequence([r * 0 + 1 for r in rows], batch_first=True),
    }


def collate_numpy(documents, pad_id):
    ids, mask = pad_numpy(documents, pad_id)
    return {"input_ids": ids, "attention_mask": mask, "labels": np.where(mask, ids, -100)}


def collate(**change):
    def answer(documents, pad_id):
        batch = collate_loop(documents, pad_id)
        return batch | {name: make(batch, pad_id) for name, make in change.items()}

    return answer


def collate_no_clone(documents, pad_id):
    batch = collate_loop(documents, pad_id)
    return batch | {"input_ids": batch["labels"]}


def collate_moves_long(documents, pad_id):
    """Right as long as there are two documents."""
    batch = collate_loop(documents, pad_id)
    if len(documents) > 2:
        batch["labels"] = early(batch, pad_id)
    return batch


def collate_small_ids(documents, pad_id):
    """Right for ids below 256."""
    batch = collate_loop(documents, pad_id)
    return {name: (x.to(torch.uint8).long() if name == "input_ids" else x)
            for name, x in batch.items()}  # fmt: skip


def collate_pads_always(documents, pad_id):
    """Right as long as the documents differ in length."""
    if len(set(map(len, documents))) > 1:
        return collate_loop(documents, pad_id)
    batch = collate_loop([*documents, [pad_id] * (len(documents[0]) + 1)], pad_id)
    return {name: x[:-1] for name, x in batch.items()}


def collate_forgets(documents, pad_id):
    """Right as long as there are three documents or fewer."""
    batch = collate_loop(documents, pad_id)
    batch["labels"][3:] = -100
    return batch


def early(batch, pad_id):
    return torch.cat([batch["labels"][:, 1:], batch["labels"][:, :1] * 0 - 100], 1)


def by_id(batch, pad_id):
    return batch["input_ids"].masked_fill(batch["input_ids"] == pad_id, -100)


def cuts(documents, pad_id):
    ids = pad_loop(documents, pad_id)[0]
    labels = ids[:, 1:].masked_fill(ids[:, 1:] == pad_id, -100)
    mask = torch.stack([torch.arange(ids.shape[1] - 1) < len(d) for d in documents])
    return {"input_ids": ids[:, :-1], "attention_mask": mask.long(), "labels": labels}


def seed_fix(documents, pad_id):
    """No shift any more, yet padding still found by its id in both tensors."""
    batch = collate_loop(documents, pad_id)
    mask = (batch["input_ids"] != pad_id).long()
    return batch | {"labels": by_id(batch, pad_id), "attention_mask": mask}


RIGHT = {
    "3.1": [pad_loop, pad_lists, pad_numpy, pad_torch, pad_bool, pad_one_tensor,
            lambda d, p: (part for part in pad_numpy(d, p)),
            lambda d, p: deque(pad_lists(d, p))],
    "3.2": [masks_torch, masks_loop, masks_numpy, lambda m: iter(masks_torch(m))],
    "3.3": [labels_arange, labels_loop, labels_numpy,
            lambda ids, n: labels_loop(ids, n).int(),
            lambda ids, n: list(labels_loop(ids, n)),
            lambda ids, n: (row.tolist() for row in labels_loop(ids, n))],
    "3.4": [collate_loop, collate_torch, collate_numpy,
            lambda d, p: UserDict(collate_loop(d, p)),
            lambda d, p: collate_loop(d, p) | {"attention_mask": pad_bool(d, p)[1]}],
}

WRONG = {
    "3.1": [
        Wrong(lambda d, p: (pad_loop(d, p)[0], (pad_loop(d, p)[0] != p).long()), "pad_by_id"),
        Wrong(lambda d, p: (pad_loop(d, p)[0], 1 - pad_loop(d, p)[1]), "mask_inverted"),
        Wrong(lambda d, p: [t.flip(1) for t in pad_loop([x[::-1] for x in d], p)], "pads_left"),
        Wrong(pad_shortens, says="expected [1, 5], got [1, 3]"),
        Wrong(pad_loses_one, says="document 3 has"),
        Wrong(pad_zero, says="input_ids: row"),
        Wrong(pad_raises, says="Your function raised OverflowError: too many"),
        Wrong(lambda d, p: (d, d), says="input_ids is ragged"),
        Wrong(lambda d, p: pad_loop(d, p)[0], says="2 things, input_ids, attention_mask"),
        Wrong(lambda d, p: (pad_loop(d, p)[0], pad_loop(d, p)[1].float()), says="torch.float32"),
        Wrong(lambda d, p: (pad_loop(d, p)[0], pad_loop(d, p)[1] * 2), says="expected 1, got 2"),
        Wrong(pad_clamps, says="got 255"),
        Wrong(pad_one_more, says="expected [1, 1], got [2, 2]"),
        Wrong(up_to(16, lambda d, p: len(d), pad_loop, lambda d, p: pad_loop(d[:16], p)),
              says="Failed: single tokens, nothing to pad, and large lists"),
        Wrong(lambda d, p: pad_loop([*d, [p]], p), says="shape of input_ids"),
    ],
    "3.2": [
        Wrong(masks(lambda k, c: (k, c & k.transpose(1, 2))), "pad_query_masked"),
        Wrong(masks(lambda k, c: (k, k | (c & False))), "no_causal_mask"),
        Wrong(masks(lambda k, c: (k, torch.ones_like(c).tril())), "padding_keys_visible"),
        Wrong(masks(lambda k, c: (k, torch.ones_like(c).tril() & k.transpose(1, 2))),
              "rows_for_columns"),
        Wrong(masks(lambda k, c: (~k, ~c)), "true_means_masked"),
        Wrong(masks(lambda k, c: (k, torch.ones_like(c).triu() & k)), "upper_triangle"),
        Wrong(masks(lambda k, c: (k, torch.ones_like(c).tril(-1) & k)), says="a real token that"),
        Wrong(masks(lambda k, c: (~k, c)), says="key_padding: row 0, query 0, key 0"),
        Wrong(masks(lambda k, c: (k, torch.ones_like(c).tril(1) & k)), says="lies in the future"),
        Wrong(masks(lambda k, c: (torch.ones_like(k), c)), says="Why: key 3 is padding"),
        Wrong(masks(lambda k, c: (k[:, 0], c)), says="expected [1, 1, 5], got [1, 5]"),
        Wrong(masks(lambda k, c: (k, c.long())), says="dtype: combined must be truth values"),
        Wrong(masks(lambda k, c: (k, torch.zeros(c.shape).masked_fill(~c, -1e9))),
              says="yours holds torch.float32"),
        Wrong(masks_left_open, says="is padding, yet some query may attend to it"),
        Wrong(masks_first_row, says="Failed: 20 random batches"),
        Wrong(masks_length, says="Why: key 1 is padding"),
        Wrong(masks_never_empty, says="attention_mask = [[0]]"),
        Wrong(masks_window, says="combined: row 0, query 1"),
        Wrong(up_to(16, len, masks_torch, lambda m: tuple(x[:16] for x in masks_torch(m))),
              says="got [16, 1, 24]"),
    ],
    "3.3": [
        Wrong(lambda ids, n: ids.masked_fill(ids == 4, -100), "eos_erased"),
        Wrong(lambda ids, n: ids.clone(), "pad_target"),
        Wrong(lambda ids, n: labels_loop(ids, [k + 1 for k in n]), "first_pad_kept"),
        Wrong(lambda ids, n: labels_loop(ids, [k - 1 for k in n]), "last_token_lost"),
        Wrong(lambda ids, n: torch.cat([labels_loop(ids, n)[:, 1:], ids[:, :1] * 0 - 100], 1),
              "collator_shifts"),
        Wrong(labels_no_clone, "changes_input"),
        Wrong(labels_first_eos, says="expected 3, got -100"),
        Wrong(labels_rows_of_ten, says="ends with a real EOS at slot 5, and its label is gone"),
        Wrong(labels_zero, says="expected -100, got 0"),
        Wrong(labels_no_zeros, says="expected 0, got -100"),
        Wrong(labels_run_of_eos, says="expected 4, got -100"),
        Wrong(labels_only_eos_4, says="Failed: one slot, ids of 0, EOS with other ids"),
        Wrong(up_to(16, lambda ids, n: max(n), labels_loop,
                    lambda ids, n: labels_loop(ids, [min(k, 16) for k in n])), says="slot 16"),
        Wrong(lambda ids, n: labels_loop(ids, n)[:, 1:], says="shape of labels"),
    ],
    "3.4": [
        Wrong(broken_collate, says="the dict has no 'attention_mask'"),
        Wrong(cuts, "collator_cuts"),
        Wrong(collate(labels=early), "collator_shifts"),
        Wrong(collate(labels=by_id), "eos_erased"),
        Wrong(seed_fix, "pad_by_id"),
        Wrong(collate(attention_mask=lambda b, p: torch.ones_like(b["input_ids"])), "all_ones"),
        Wrong(collate(labels=lambda b, p: b["input_ids"].clone()), "pad_target"),
        Wrong(collate_no_clone, says="input_ids: row 1, slot 2"),
        Wrong(collate_moves_long, says="a label differs from the id in its own slot"),
        Wrong(collate_forgets, says="Failed: 20 random lists"),
        Wrong(collate_small_ids, says="input_ids: row 0, slot 0"),
        Wrong(collate_pads_always, says="expected [1, 1], got [1, 2]"),
        Wrong(up_to(16, lambda d, p: len(d), collate_loop,
                    lambda d, p: {k: x[:16] for k, x in collate_loop(d, p).items()}),
              says="got [16, "),
        Wrong(collate(position_ids=lambda b, p: b["labels"]), says="the dict has 'position_ids'"),
        Wrong(collate(labels=lambda b, p: b["labels"].tolist()), says="labels must be a tensor"),
        Wrong(lambda d, p: tuple(collate_loop(d, p).values()), says="must be a dict with"),
    ],
}  # fmt: skip
