"""Six ways to bring the same documents into a decoder, and what each of them computes.

- padded             each document in a row of its own, filled up to the context
- padded to longest  the same, filled up to the longest document only
- packed, dense mask     several documents in a row; the document mask is written out
- packed, per document   the same rows, one attention call for each document
- packed, flex           the same rows, FlexAttention with block tables
- packed, varlen         the same rows, the variable-length kernel with cu_seqlens

All score the same targets: boundary B, so that no document predicts another's first token.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from course_lib.attention import DocumentAttention, document_block_mask
from course_lib.attention.tables import TILE
from course_lib.batch import Batch
from course_lib.packing import FlatDocuments, Packing, pack_lengths
from course_lib.padding import pad_documents

BACKEND = {
    "padded": None,
    "padded to longest": None,
    "packed, dense mask": "dense",
    "packed, per document": "per_document",
    "packed, flex": "flex",
    "packed, varlen": "varlen",
}
"""Way -> the backend of its attention; None is causal attention without a mask."""
WAYS = tuple(BACKEND)
"""The ways of feeding a decoder that are compared."""


@dataclass(frozen=True, eq=False)
class Feed:
    """Documents in the form in which one way hands them to a decoder.

    `order` [N] is the document of each stretch of real tokens, row by row.
    """

    way: str
    batch: Batch
    order: np.ndarray

    @property
    def mask(self) -> DocumentAttention | None:
        """What goes into `mask=` of the decoder, made anew each time, as in a training loop."""
        name = BACKEND[self.way]
        return None if name is None else DocumentAttention(self.batch.document_ids, name)

    @property
    def area(self) -> int:
        """(query, key) pairs whose score is computed in one layer and head."""
        return attention_area(self.way, self.batch.document_ids)


def draw_documents(documents: int, context: int, vocab_size: int, seed: int = 0) -> list[Tensor]:
    """Return token ids of `documents` documents which fit a quarter of as many rows.

    Lengths are lognormal; drawn again until best fit decreasing needs documents / 4 rows.

    >>> sum(len(d) for d in draw_documents(8, 64, 32)) <= 2 * 64
    True
    """
    rng = np.random.default_rng(seed)
    rows = max(1, documents // 4)
    while True:
        raw = rng.lognormal(0, 0.6, documents)
        lengths = np.clip(raw / raw.sum() * rows * context * 0.98, 2, context).astype(int)
        if lengths.sum() <= rows * context and len(pack_lengths(lengths, context)) == rows:
            break
    return [torch.from_numpy(rng.integers(0, vocab_size, n)) for n in lengths]


def make_feed(way: str, documents: list[Tensor], context: int, device: str = "cpu") -> Feed:
    """Return `documents` as `way` takes them, in rows of at most `context` slots.

    >>> docs = [torch.tensor([1, 2, 3]), torch.tensor([1, 1])]
    >>> [tuple(make_feed(w, docs, 8).batch.input_ids.shape) for w in WAYS[:3]]
    [(2, 8), (2, 3), (1, 8)]
    """
    if way.startswith("padded"):
        batch = pad_documents(documents, length=context if way == "padded" else None)
        return Feed(way, batch.to(device), np.arange(len(documents)))
    packing = pack_lengths([len(d) for d in documents], context)
    return Feed(way, _packed(documents, packing).to(device), packing.order)


def attention_area(way: str, document_ids: Tensor) -> int:
    """Return how many scores `way` computes in one layer and head for `document_ids` [B, T].

    Causal attention without a mask skips what lies above the diagonal; a dense mask skips nothing;
    flex computes whole tiles of 128 × 128; the others compute a triangle for each document.

    >>> ids = torch.tensor([[0, 0, 1, -1]])
    >>> [attention_area(way, ids) for way in ("padded", "packed, dense mask", "packed, varlen")]
    [10, 16, 4]
    """
    rows, length = document_ids.shape
    name = BACKEND[way]
    if name is None:
        return rows * length * (length + 1) // 2
    if name == "dense":
        return rows * length * length
    if name == "flex":
        tables = document_block_mask(document_ids)
        return int(tables.kv_num_blocks.sum() + tables.full_kv_num_blocks.sum()) * TILE**2
    spans = DocumentAttention(document_ids).spans
    return sum((stop - start) * (stop - start + 1) // 2 for _, start, stop in spans)


def _packed(documents: list[Tensor], packing: Packing) -> Batch:
    flat = FlatDocuments.of([d.numpy() for d in documents])
    return next(flat.batches(packing, rows=len(packing), boundary="B"))
