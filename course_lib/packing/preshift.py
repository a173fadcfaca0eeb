"""B′: every document is shifted by itself, then the parts are joined.

Systems that shift in the data set (torchtitan, NeMo, mistral-finetune) build rows this way. The
last token of a document is never an input and its first token never a target, so there is no slot
at a boundary to be masked. B and B′ train exactly the same targets; a B′ row is one slot shorter
for each document.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from course_lib.batch import Batch
from course_lib.exchange.shifted import shift_documents
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
    return ShiftedBatch(
        *shift_documents(batch.input_ids, batch.labels, batch.document_ids, pad_id)
    )
