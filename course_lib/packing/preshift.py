"""B′: every document is shifted by itself, then the parts are joined.

Systems that shift in the data set (torchtitan, NeMo, mistral-finetune) build rows this way. The
last token of a document is never an input and its first token never a target, so there is no slot
at a boundary to be masked. B and B′ train exactly the same targets; a B′ row is one slot shorter
for each document.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from course_lib.batch import Batch
from course_lib.boundaries import PADDING, document_starts, position_ids_from_document_ids
from course_lib.vocabulary import IGNORE_INDEX


@dataclass(frozen=True, eq=False)
class ShiftedBatch:
    """Rows whose targets stand under their predictions already, all int64 [B, T'].

    - input_ids      each document without its last token
    - targets        the token that follows each input; -100 where it is none. Do not shift again.
    - position_ids, document_ids  as in `Batch`, -1 on padding
    """

    input_ids: Tensor
    targets: Tensor
    position_ids: Tensor
    document_ids: Tensor

    @property
    def num_targets(self) -> int:
        """Number of predictions that are scored."""
        return int((self.targets != IGNORE_INDEX).sum())


def per_document_shift(batch: Batch, *, pad_id: int = 0) -> ShiftedBatch:
    """Return the rows of `batch` [B, T] under B′, [B, T'], T' the longest row that is left.

    Documents of a single token vanish: shifted by themselves they have neither input nor target.

    >>> from course_lib import pack_documents
    >>> rows = per_document_shift(pack_documents([[1, 2], [1]], 6, eos_id=4))
    >>> rows.input_ids.tolist(), rows.targets.tolist()
    ([[1, 2, 1]], [[2, 4, 4]])
    """
    if not isinstance(batch, Batch):
        raise TypeError(f"expected a Batch from pack_documents, got {type(batch).__name__}.")
    starts = document_starts(batch.document_ids)
    real = batch.document_ids >= 0
    # an input is a real token whose right neighbour belongs to the same document
    inputs = torch.zeros_like(real)
    inputs[:, :-1] = real[:, 1:] & ~starts[:, 1:]
    width = int(inputs.sum(1).max())
    if width == 0:
        raise ValueError(
            "every document has a single token, so nothing is left to shift. "
            "Append an EOS (eos_id=…) or pass longer documents."
        )
    following = torch.nn.functional.pad(batch.labels[:, 1:], (0, 1), value=IGNORE_INDEX)
    documents = _compact(batch.document_ids, inputs, width, PADDING)
    return ShiftedBatch(
        input_ids=_compact(batch.input_ids, inputs, width, pad_id),
        targets=_compact(following, inputs, width, IGNORE_INDEX),
        position_ids=position_ids_from_document_ids(documents),
        document_ids=documents,
    )


def _compact(values: Tensor, keep: Tensor, width: int, filler: int) -> Tensor:
    """Move the kept entries of each row to its left and fill up with `filler`."""
    out = values.new_full((len(values), width), filler)
    rows, _ = keep.nonzero(as_tuple=True)
    out[rows, (keep.cumsum(1) - 1)[keep]] = values[keep]
    return out
