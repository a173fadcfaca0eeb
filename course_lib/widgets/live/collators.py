"""A bench for collators: choose one, a set of documents and the id of padding; see what it returns.

It shows tensors and counts, and no verdict: finding the fault is the reader's part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from course_lib.vocabulary import EOS, PAD, token_name
from course_lib.widgets.live import html
from course_lib.widgets.live.panel import Live, menu

Documents = Sequence[Sequence[int]]
Collate = Callable[[Documents, Sequence[int], int], Mapping[str, Any]]


def collator_bench(
    collators: Mapping[str, Collate], sets: Mapping[str, tuple[Documents, Sequence[int]]]
) -> Live:
    """Return controls for a bench; `result` is what the chosen collator returned.

    `collators` maps names to functions (documents, prompt_lengths, pad_id) → mapping of [B, T];
    `sets` maps names to (documents, prompt_lengths).

    >>> bench = collator_bench({"A": lambda d, n, pad: {"input_ids": d}}, {"one": ([[1]], [0])})
    >>> bench.result
    {'input_ids': [[1]]}
    """
    controls = {
        "collator": menu("collator", list(collators)),
        "documents": menu("documents", list(sets)),
        "pad_id": menu("pad_id", [(f"{token_name(i)} ({i})", i) for i in (PAD, EOS)]),
    }

    def compute(collator: str, documents: str, pad_id: int) -> Mapping[str, Any]:
        given, prompts = sets[documents]
        return collators[collator](given, prompts, pad_id)

    return Live("collators", controls, compute, draw)


def draw(batch: Mapping[str, Any]) -> str:
    """Return the tensors of a batch, row by row, and its numbers.

    >>> draw({"input_ids": [[1, 4]], "num_items_in_batch": 1}).count("<table")
    1
    """
    grids = {name: rows for name, v in batch.items() if len(rows := _rows(v))}
    numbers = [f"{name} = {value}" for name, value in batch.items() if name not in grids]
    tables = []
    for row in range(len(grids["input_ids"])):
        ids = grids["input_ids"][row]
        cells = {"token": [(token_name(i).strip("<>"), "doc0") for i in ids]}
        for name, rows in grids.items():
            cells[name] = [(str(v), "ignored" if v < 0 else "off") for v in rows[row]]
        slots = [str(t) for t in range(len(ids))]
        tables.append(html.table(f"row {row}", slots, cells))
    return html.sentence("; ".join(numbers)) + html.beside(*tables)


def _rows(value: Any) -> list[list[int]]:
    """Return a grid [B, T] as lists; [] for anything else."""
    tensor = value if isinstance(value, Tensor) else torch.as_tensor(value)
    return tensor.tolist() if tensor.ndim == 2 else []
