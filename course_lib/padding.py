"""Documents of unlike lengths → one rectangle, one document a row.

Padding is known by length, never by id: `attention_mask` and `labels` come from how long each
document is, so a real token that happens to equal `pad_id` stays real and stays a target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from course_lib.batch import Batch
from course_lib.boundaries import PADDING
from course_lib.inputs import as_documents, as_int, as_lengths, as_prompt_lengths, choice
from course_lib.targets import labels_by_length, mask_boundaries, mask_prompts


def pad_documents(
    documents: Iterable[Sequence[int]],
    *,
    pad_id: int = 0,
    length: int | None = None,
    multiple_of: int | None = None,
    side: str = "right",
    prompt_lengths: Sequence[int] | None = None,
) -> Batch:
    """Return a Batch [B, T] with one document a row; B documents, T the padded length.

    T is the longest document, or `length`, rounded up to a multiple of `multiple_of`. `side` is
    "right" or "left"; behind left padding the first token is no target, since only padding stands
    before it. `prompt_lengths` [B] switches the labels of prompts off.

    Raises ValueError for an empty list, an empty document or one longer than `length`, TypeError
    for ids that are no whole numbers. Nothing is ever cut here.

    Source of the convention (labels a copy, -100 on padding, no shift): transformers,
    `DataCollatorForLanguageModeling(mlm=False)`; it finds padding by id, we by length.

    >>> pad_documents([[1, 2, 3], [1, 1]]).labels.tolist()
    [[1, 2, 3], [1, 1, -100]]
    """
    rows = as_documents(documents)
    sizes = as_lengths([len(row) for row in rows])
    pad = as_int(pad_id, "pad_id")
    choice(side, "side", ("right", "left"))
    width = _width(sizes.tolist(), length, multiple_of)

    input_ids = torch.full((len(rows), width), pad)
    slots = torch.arange(width).expand(len(rows), width)
    lengths = torch.as_tensor(sizes)[:, None]
    positions = slots if side == "right" else slots - (width - lengths)
    real = (positions >= 0) & (positions < lengths)
    input_ids[real] = torch.cat([torch.as_tensor(row) for row in rows])
    attention_mask = real.long()
    document_ids = attention_mask + PADDING  # 0 on tokens, -1 on padding

    labels = mask_boundaries(labels_by_length(input_ids, attention_mask), document_ids)
    if prompt_lengths is not None:
        prompts = as_prompt_lengths(prompt_lengths, sizes)
        labels = mask_prompts(labels, document_ids, [[int(p)] for p in prompts])
    return Batch(
        input_ids=input_ids,
        labels=labels,
        attention_mask=attention_mask,
        position_ids=positions.where(real, torch.tensor(PADDING)),
        document_ids=document_ids,
    )


def _width(sizes: list[int], length: int | None, multiple_of: int | None) -> int:
    """Return the padded length: the longest or `length`, rounded up to a multiple."""
    width = max(sizes)
    if length is not None:
        wanted = as_int(length, "length", at_least=1)
        if width > wanted:
            i = sizes.index(width)
            raise ValueError(
                f"document {i} has {width} tokens, more than length={wanted}. Raise length, cut "
                "the document first, or use pack_documents(..., overlong='truncate' or 'split')."
            )
        width = wanted
    step = as_int(multiple_of, "multiple_of", at_least=1) if multiple_of is not None else 1
    return -(-width // step) * step
