"""Documents → packed `Batch`: EOS, over-long documents, a packing strategy, a boundary convention.

The steps are kept apart so that each can be read by itself: `_finish` appends EOS and deals with
documents longer than the row, `pack_lengths` decides which piece goes where, `_lay_out` writes the
rows. Whatever does not get into a row is counted in `Batch.lost` and stands in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from course_lib.batch import Batch
from course_lib.boundaries import PADDING, position_ids_from_document_ids
from course_lib.inputs import as_documents, as_int, as_prompt_lengths, choice
from course_lib.packing.lengths import STRATEGIES, Packing, pack_lengths
from course_lib.targets import Lost, labels_by_length, mask_boundaries
from course_lib.vocabulary import IGNORE_INDEX

OVERLONG = ("error", "split", "truncate", "drop")
"""What can be done with a document that is longer than a row."""


def pack_documents(
    documents: Iterable[Sequence[int]],
    capacity: int,
    *,
    eos_id: int | None = None,
    pad_id: int = 0,
    boundary: str = "A",
    strategy: str = "best_fit_decreasing",
    overlong: str = "error",
    prompt_lengths: Sequence[int] | None = None,
) -> Batch:
    """Return a Batch [B, capacity] with several documents in each row.

    - eos_id        appended to every document that ends (a truncated one does not end)
    - boundary      "A" keeps the first token of a later document as a target, "B" masks it
    - strategy      one of `STRATEGIES`; "concatenate" joins all documents and cuts at `capacity`
    - overlong      what happens to a document that does not fit, EOS included: "error", "split"
                    into pieces, "truncate" its end, or "drop" it. "concatenate" cuts anyway.
    - prompt_lengths  [number of documents]; labels of prompts become -100

    Documents stand in a row in their order in the list. A piece of a cut document counts as a
    document of its own: its positions start at 0 and its head is out of sight.

    Raises ValueError or TypeError for an empty list, an empty document, ids that are no whole
    numbers, capacity below 1, an over-long document under "error", and when all were dropped.

    >>> pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4).labels.tolist()
    [[1, 2, 3, 4, 1, 1, 4, -100]]
    """
    docs = as_documents(documents)
    size = as_int(capacity, "capacity", at_least=1, hint="It is the number of slots in a row.")
    pad = as_int(pad_id, "pad_id")
    eos = None if eos_id is None else as_int(eos_id, "eos_id")
    choice(boundary, "boundary", ("A", "B"))
    choice(strategy, "strategy", STRATEGIES)
    choice(overlong, "overlong", OVERLONG)
    sizes = np.array([len(d) for d in docs])
    prompts = np.zeros_like(sizes)
    if prompt_lengths is not None:
        prompts = as_prompt_lengths(prompt_lengths, sizes)

    # "concatenate" cuts wherever a row ends, so no document is over-long for it
    rule = None if strategy == "concatenate" else overlong
    pieces, lost = _finish(docs, prompts.tolist(), size, eos, rule)
    packing = pack_lengths([len(p.ids) for p in pieces], size, strategy)
    cuts = len(packing.order) - len(pieces)  # pieces that "concatenate" cut in two
    if cuts:
        split = int((np.bincount(packing.order) > 1).sum())
        lost = Lost(split_documents=split, cuts=cuts)
    return _lay_out(pieces, packing, size, pad, boundary, lost)


@dataclass(frozen=True)
class _Piece:
    """Part of a document that must stay together, and how many of its tokens are prompt."""

    ids: np.ndarray
    prompt: int

    def part(self, start: int, stop: int) -> _Piece:
        return _Piece(self.ids[start:stop], max(0, min(self.prompt, stop) - start))


def _finish(
    docs: list[np.ndarray], prompts: list[int], capacity: int, eos: int | None, rule: str | None
) -> tuple[list[_Piece], Lost]:
    """Append EOS and apply the rule for over-long documents."""
    pieces: list[_Piece] = []
    truncated, dropped, split = [], [], []
    for i, (doc, prompt) in enumerate(zip(docs, prompts, strict=True)):
        whole = _Piece(doc if eos is None else np.append(doc, eos), prompt)
        n = len(whole.ids)
        if n <= capacity or rule is None:
            pieces.append(whole)
        elif rule == "error":
            raise ValueError(_too_long(i, n, capacity, eos))
        elif rule == "truncate":
            truncated.append(n - capacity)
            pieces.append(whole.part(0, capacity))
        elif rule == "drop":
            dropped.append(n)
        else:
            parts = [whole.part(at, at + capacity) for at in range(0, n, capacity)]
            split.append(len(parts) - 1)
            pieces.extend(parts)
    if not pieces:
        raise ValueError(
            f"all {len(docs)} documents are longer than capacity={capacity} and were dropped: "
            "no row is left. Raise capacity or use overlong='split' or 'truncate'."
        )
    return pieces, Lost(
        sum(truncated), len(truncated), sum(dropped), len(dropped), len(split), sum(split)
    )


def _too_long(i: int, n: int, capacity: int, eos: int | None) -> str:
    with_eos = " with its EOS" if eos is not None else ""
    return (
        f"document {i} has {n} tokens{with_eos}, more than capacity={capacity}. Raise capacity or "
        "choose overlong='split' (pieces), 'truncate' (cut its end) or 'drop' (leave it out)."
    )


def _lay_out(
    pieces: list[_Piece], packing: Packing, capacity: int, pad: int, boundary: str, lost: Lost
) -> Batch:
    """Write the pieces into rows: ids, document ids, then everything that follows from them."""
    shape = (len(packing), capacity)
    ids, documents = np.full(shape, pad), np.full(shape, PADDING)
    prompts = np.zeros(shape, dtype=bool)
    for row, (first, last) in enumerate(zip(packing.offsets, packing.offsets[1:], strict=False)):
        at = 0
        # documents keep their order in the list: in a row it changes nothing but reads better
        placed = sorted(range(first, last), key=lambda k: (packing.order[k], packing.starts[k]))
        for number, k in enumerate(placed):
            piece = pieces[packing.order[k]].part(int(packing.starts[k]), int(packing.stops[k]))
            end = at + len(piece.ids)
            ids[row, at:end] = piece.ids
            documents[row, at:end] = number
            prompts[row, at : at + piece.prompt] = True
            at = end
    return _batch(*map(torch.as_tensor, (ids, documents, prompts)), boundary, lost)


def _batch(ids: Tensor, documents: Tensor, prompts: Tensor, boundary: str, lost: Lost) -> Batch:
    attention_mask = (documents >= 0).long()
    labels = labels_by_length(ids, attention_mask).masked_fill(prompts, IGNORE_INDEX)
    return Batch(
        input_ids=ids,
        labels=mask_boundaries(labels, documents) if boundary == "B" else labels,
        attention_mask=attention_mask,
        position_ids=position_ids_from_document_ids(documents),
        document_ids=documents,
        lost=lost,
    )
