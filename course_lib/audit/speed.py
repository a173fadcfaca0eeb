"""How long an audit takes beside the collator that makes the batch."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import torch

from course_lib.audit.batches import audit


def measure(collate: Callable[[list], Mapping], *, rows: int = 8, length: int = 2048,
            repeats: int = 15, seed: int = 0) -> dict[str, Any]:  # fmt: skip
    """Return seconds (medians) to collate `rows` × `length` tokens and to audit the result.

    `collate` takes a list of {"input_ids": list}; the two are measured in turn, in one run. The
    ratio is audit / collate: below 1 the audit is the cheaper of the two.

    >>> sorted(measure(lambda rows: rows[0], rows=1, length=4, repeats=1))
    ['audit', 'collate', 'length', 'ratio', 'rows']
    """
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, 1000, (rows, length), generator=generator).tolist()
    times: dict[str, list[float]] = {"collate": [], "audit": []}
    for _ in range(repeats):
        examples = [{"input_ids": list(row)} for row in ids]
        begin = perf_counter()
        batch = collate(examples)
        middle = perf_counter()
        audit(batch, eos_token_id=2, pad_token_id=0)
        times["collate"].append(middle - begin)
        times["audit"].append(perf_counter() - middle)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["audit"] / medians["collate"]
    return {**medians, "ratio": ratio, "rows": rows, "length": length}
