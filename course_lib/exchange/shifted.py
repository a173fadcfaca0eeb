"""Forms whose labels stand under their predictions already: a loss that shifts must not see them.

`shift_labels` keeps every slot (A or B, as the batch is). `shifted` is B′: each document is shifted
by itself, and its last token is no input any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from course_lib.boundaries import (
    PADDING,
    document_spans,
    document_starts,
    position_ids_from_document_ids,
)
from course_lib.exchange.fields import field_of, rows_of
from course_lib.exchange.names import from_names
from course_lib.vocabulary import IGNORE_INDEX

if TYPE_CHECKING:
    from course_lib.batch import Batch


def shift_labels(batch: Batch) -> dict[str, Any]:
    """input_ids, position_ids and shift_labels [B, T], the last of each row -100.

    transformers' loss takes `shift_labels` by this name and does not shift them again; DeepSpeed's
    sequence parallelism makes them before it cuts a row into pieces.
    """
    return {
        "input_ids": batch.input_ids,
        "position_ids": batch.model_position_ids,
        "shift_labels": torch.nn.functional.pad(batch.labels[:, 1:], (0, 1), value=IGNORE_INDEX),
    }


def read_shift_labels(mapping: Mapping[str, Any]) -> dict[str, Tensor]:
    """Read that form: labels move one column to the right, the first is the id itself."""
    ids = rows_of(field_of(mapping, "input_ids", "shift_labels"), "input_ids")
    moved = rows_of(field_of(mapping, "shift_labels", "shift_labels"), "shift_labels", like=ids)
    over = moved[:, -1] != IGNORE_INDEX
    if over.any():
        row = int(over.int().argmax())
        raise ValueError(
            f"shift_labels[{row}, -1] is {int(moved[row, -1])}, a target whose token is not in "
            "input_ids: is this a piece of a longer row? Read the whole row, or set it to -100."
        )
    labels = torch.cat([ids[:, :1], moved[:, :-1]], 1)
    return from_names({**mapping, "input_ids": ids, "labels": labels})


def shifted(batch: Batch) -> dict[str, Any]:
    """input_ids, labels (shifted, -100 where none), position_ids, document_ids, all [B, T'].

    Raises ValueError where something that trains would be lost: a target at a boundary (convention
    A), or a document of one token, which has neither an input nor a target of its own.
    """
    ids = batch.document_ids
    starts = document_starts(ids)
    starts[:, 0] = False
    crossing = starts & (batch.labels != IGNORE_INDEX)
    if crossing.any():
        raise ValueError(
            f"form 'shifted' is B′ and has no slot for the {int(crossing.sum())} targets at "
            f"boundaries, first at (row, slot) {tuple(crossing.nonzero()[0].tolist())}. "
            'Pack with boundary="B".'
        )
    short = [(row, start) for row, start, stop in document_spans(ids) if stop - start == 1]
    if not bool((ids >= 0).any()):
        raise ValueError("form 'shifted' needs a document, and this batch is padding only.")
    if short:
        raise ValueError(
            f"form 'shifted' has no slot for a document of one token; there are {len(short)}, "
            f"first at (row, slot) {short[0]}. Append an EOS (eos_id=…) or leave them out."
        )
    inputs, targets, positions, documents = shift_documents(batch.input_ids, batch.labels, ids)
    return {
        "input_ids": inputs,
        "labels": targets,
        "position_ids": positions.clamp(min=0),
        "document_ids": documents,
    }


def read_shifted(mapping: Mapping[str, Any]) -> dict[str, Tensor]:
    """Read that form: each document gets its last token back, from its last target.

    Raises ValueError where that target is -100, because the token is then nowhere.
    """
    ids = rows_of(field_of(mapping, "input_ids", "shifted"), "input_ids")
    targets, documents = (
        rows_of(field_of(mapping, name, "shifted"), name, like=ids)
        for name in ("labels", "document_ids")
    )
    if not (documents >= 0).any():
        raise ValueError("document_ids are all negative: there is no document in this form.")
    tokens: list[list[int]] = [[] for _ in ids]
    labels: list[list[int]] = [[] for _ in ids]
    owners: list[list[int]] = [[] for _ in ids]
    for row, start, stop in document_spans(documents):
        last = int(targets[row, stop - 1])
        if last == IGNORE_INDEX:
            raise ValueError(
                f"the document at (row, slot) {(row, start)} has no last target, so its last token "
                "is not in this form. Read the batch from the form it was made in."
            )
        first = IGNORE_INDEX if tokens[row] else int(ids[row, start])
        tokens[row] += [*ids[row, start:stop].tolist(), last]
        labels[row] += [first, *targets[row, start:stop].tolist()]
        owners[row] += [int(documents[row, start])] * (stop - start + 1)
    return from_names(
        {
            "input_ids": _square(tokens, 0),
            "labels": _square(labels, IGNORE_INDEX),
            "document_ids": _square(owners, PADDING),
        }
    )


def shift_documents(
    input_ids: Tensor, labels: Tensor, document_ids: Tensor, pad_id: int = 0
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return inputs, targets, position ids and document ids under B′, each [B, T'].

    T' is the longest row that is left. Raises ValueError if every document has a single token.

    >>> row = torch.tensor([[1, 4, 2, 4]])
    >>> [t.tolist() for t in shift_documents(row, row, torch.tensor([[0, 0, 1, 1]]))[:2]]
    [[[1, 2]], [[4, 4]]]
    """
    starts = document_starts(document_ids)
    real = document_ids >= 0
    # an input is a real token whose right neighbour belongs to the same document
    inputs = torch.zeros_like(real)
    inputs[:, :-1] = real[:, 1:] & ~starts[:, 1:]
    following = torch.nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORE_INDEX)
    if not inputs.any():
        raise ValueError(
            "every document has a single token, so nothing is left to shift. "
            "Append an EOS (eos_id=…) or pass longer documents."
        )
    documents = _compact(document_ids, inputs, PADDING)
    return (
        _compact(input_ids, inputs, pad_id),
        _compact(following, inputs, IGNORE_INDEX),
        position_ids_from_document_ids(documents),
        documents,
    )


def _compact(values: Tensor, keep: Tensor, filler: int) -> Tensor:
    """Move the kept entries of each row to its left and fill up with `filler`."""
    out = values.new_full((len(values), int(keep.sum(1).max())), filler)
    rows, _ = keep.nonzero(as_tuple=True)
    out[rows, (keep.cumsum(1) - 1)[keep]] = values[keep]
    return out


def _square(rows: list[list[int]], filler: int) -> list[list[int]]:
    width = max(map(len, rows))
    return [row + [filler] * (width - len(row)) for row in rows]
