"""A collator with three faults, for a reader to repair. Nothing else calls it."""

from __future__ import annotations

import torch


def collate(documents, pad_id):
    """Return a batch, one document a row."""
    width = max(map(len, documents))
    rows = [list(d) + [pad_id] * (width - len(d)) for d in documents]
    ids = torch.tensor(rows)
    labels = ids[:, 1:].clone()
    labels[labels == pad_id] = -100
    return {"input_ids": ids[:, :-1], "labels": labels}
