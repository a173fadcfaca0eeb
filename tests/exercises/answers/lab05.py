"""Right and wrong answers to the exercises of lab 5."""

import torch

from course_lib.padding import pad_documents
from tests.exercises.wrong import Wrong, up_to

SIZE = 12

# --- L5.1

FAULTS = {
    "A": "labels are shifted twice",
    "B": "padding may be attended to",
    "C": "real EOS are no targets",
    "D": "padding is scored",
    "E": "positions run on",
    "F": "answers are cut off",
    "G": "the last tokens are lost",
    "H": "the count is too large",
}


def faults(**change):
    return FAULTS | change


def swapped(one, other):
    return FAULTS | {one: FAULTS[other], other: FAULTS[one]}


# --- L5.2


def collate_loops(documents, prompt_lengths, pad_id):
    kept = [list(d)[-SIZE:] for d in documents]
    lost = [len(d) - len(k) for d, k in zip(documents, kept, strict=True)]
    prompts = [max(0, n - cut) for n, cut in zip(prompt_lengths, lost, strict=True)]
    width = max(map(len, kept))
    shape = (len(kept), width)
    out = {"input_ids": torch.full(shape, pad_id), "labels": torch.full(shape, -100)}
    out["attention_mask"] = torch.zeros(shape, dtype=torch.long)
    out["position_ids"] = torch.zeros(shape, dtype=torch.long)
    for r, (ids, prompt) in enumerate(zip(kept, prompts, strict=True)):
        for t, token in enumerate(ids):
            out["input_ids"][r, t], out["attention_mask"][r, t] = token, 1
            out["position_ids"][r, t] = t
            if t >= prompt:
                out["labels"][r, t] = token
    out["num_items_in_batch"] = int((out["labels"][:, 1:] != -100).sum())
    return out


def collate_library(documents, prompt_lengths, pad_id, **change):
    cuts = [max(0, len(d) - SIZE) for d in documents]
    kept = [list(d)[cut:] for d, cut in zip(documents, cuts, strict=True)]
    prompts = [max(0, n - cut) for n, cut in zip(prompt_lengths, cuts, strict=True)]
    return entries(pad_documents(kept, pad_id=pad_id, prompt_lengths=prompts), **change)


def entries(batch, **change):
    out = {
        "input_ids": batch.input_ids, "attention_mask": batch.attention_mask,
        "position_ids": batch.model_position_ids, "labels": batch.labels,
        "num_items_in_batch": batch.target_mask.sum(),
    }  # fmt: skip
    return out | {name: make(batch) for name, make in change.items()}


def collate_masks(documents, prompt_lengths, pad_id):
    kept = [torch.tensor(d[-SIZE:]) for d in documents]
    ids = torch.nn.utils.rnn.pad_sequence(kept, batch_first=True, padding_value=pad_id)
    sizes = torch.tensor([len(k) for k in kept])
    full = torch.tensor([len(d) for d in documents])
    prompts = torch.tensor(prompt_lengths) - (full - sizes)
    slots = torch.arange(ids.shape[1])
    real = slots < sizes[:, None]
    labels = torch.where(real & (slots >= prompts[:, None]), ids, -100)
    return {
        "input_ids": ids, "attention_mask": real.long(), "position_ids": slots * real,
        "labels": labels, "num_items_in_batch": (labels[:, 1:] != -100).sum().item(),
    }  # fmt: skip


def but(**change):
    return lambda d, n, pad_id: collate_library(d, n, pad_id, **change)


def collate_head(documents, prompt_lengths, pad_id):
    kept = [list(d)[:SIZE] for d in documents]
    prompts = [min(n, len(k)) for n, k in zip(prompt_lengths, kept, strict=True)]
    return entries(pad_documents(kept, pad_id=pad_id, prompt_lengths=prompts))


def collate_unshortened(documents, prompt_lengths, pad_id):
    kept = [list(d)[-SIZE:] for d in documents]
    prompts = [min(n, len(k)) for n, k in zip(prompt_lengths, kept, strict=True)]
    return entries(pad_documents(kept, pad_id=pad_id, prompt_lengths=prompts))


def collate_by_id(documents, prompt_lengths, pad_id):
    out = collate_library(documents, prompt_lengths, pad_id)
    out["labels"] = out["labels"].masked_fill(out["input_ids"] == pad_id, -100)
    out["num_items_in_batch"] = int((out["labels"][:, 1:] != -100).sum())
    return out


def collate_left(documents, prompt_lengths, pad_id):
    cuts = [max(0, len(d) - SIZE) for d in documents]
    kept = [list(d)[cut:] for d, cut in zip(documents, cuts, strict=True)]
    prompts = [max(0, n - cut) for n, cut in zip(prompt_lengths, cuts, strict=True)]
    return entries(pad_documents(kept, pad_id=pad_id, prompt_lengths=prompts, side="left"))


def collate_empty(documents, prompt_lengths, pad_id):
    """Right for up to two documents; then whole rows lose their targets."""
    out = collate_library(documents, prompt_lengths, pad_id)
    if len(documents) > 2:
        out["labels"][0] = -100
    return out


def collate_only_prompts(documents, prompt_lengths, pad_id):
    """Right as long as the answer has room in a row: cuts prompts, and nothing else."""
    kept, prompts = [], []
    for d, n in zip(documents, prompt_lengths, strict=True):
        cut = min(n, max(0, len(d) - SIZE))
        kept.append(list(d)[cut:])
        prompts.append(n - cut)
    return entries(pad_documents(kept, pad_id=pad_id, prompt_lengths=prompts))


def collate_full_rows(documents, prompt_lengths, pad_id):
    """Right as long as some document is too long or all are shorter than a row."""
    short = [d if len(d) != SIZE else d[1:] for d in documents]
    return collate_loops(short, prompt_lengths, pad_id)


def collate_first(documents, prompt_lengths, pad_id):
    """Right for up to three documents."""
    prompts = [*prompt_lengths[:3], *[0] * len(prompt_lengths[3:])]
    return collate_library(documents, prompts, pad_id)


RIGHT = {
    "L5.1": [FAULTS, dict(reversed(FAULTS.items())), {k: str(v) for k, v in FAULTS.items()}],
    "L5.2": [collate_loops, collate_library, collate_masks],
}

WRONG = {
    "L5.1": [
        Wrong(swapped("C", "D"), "eos_and_pads_swapped"),
        Wrong(swapped("B", "D"), "padding_read_or_scored"),
        Wrong(swapped("F", "G"), "cut_or_lost"),
        Wrong(faults(A="labels are not shifted"), "two_shifts_or_none"),
        Wrong(faults(H="prompts are scored"), "no_prompts_to_score"),
        Wrong(faults(E="the future is visible"), "future_for_positions"),
        Wrong(swapped("E", "H"), says="E\n  got the count is too large"),
        Wrong(faults(G="documents come out twice"), says="G\n  got documents come out twice"),
        Wrong(faults(B="left padding"), says="B must be one of"),
        Wrong({k: v for k, v in FAULTS.items() if k != "H"}, says="the dict has no 'H'"),
        Wrong(list(FAULTS.values()), says="you gave a list"),
    ],
    "L5.2": [
        Wrong(collate_head, "answer_cut"),
        Wrong(collate_unshortened, "prompt_not_shortened"),
        Wrong(but(labels=lambda b: b.input_ids.where(b.attention_mask == 1, -100),
                  num_items_in_batch=lambda b: int(b.attention_mask[:, 1:].sum())),
              "prompts_scored"),
        Wrong(but(attention_mask=lambda b: torch.ones_like(b.labels)), "all_ones"),
        Wrong(but(position_ids=lambda b: b.position_ids), "pad_position_minus"),
        Wrong(but(num_items_in_batch=lambda b: b.num_slots), "counts_slots"),
        Wrong(collate_by_id, says="labels: row 0, slot"),
        Wrong(collate_left, says="input_ids: row 0, slot 0"),
        Wrong(collate_empty, says="row 0 has no target"),
        Wrong(collate_first, says="Failed:"),
        Wrong(collate_only_prompts, says="got [2, 36]"),
        Wrong(collate_full_rows, says="got [3, 11]"),
        Wrong(up_to(16, lambda d, n, pad_id: len(d), collate_loops,
                    lambda d, n, pad_id: collate_loops(d[:16], n[:16], pad_id)),
              says="got [16, 12]"),
        Wrong(but(num_items_in_batch=lambda b: int((b.labels != -100).sum()) + 1),
              says="num_items_in_batch\n  expected"),
        Wrong(but(labels=lambda b: b.labels[:, 1:]), says="shape of labels"),
        Wrong(but(input_ids=lambda b: b.input_ids.tolist()), says="input_ids must be a tensor"),
    ],
}  # fmt: skip
