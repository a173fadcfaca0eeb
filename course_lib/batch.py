"""`Batch`, the one record that passes between rooms: five tensors of one shape [B, T].

It holds decisions already made (which slots are padding, which document a slot belongs to, which
label counts) and makes none of its own. Shifting is left to `loss`, attention to `masks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any

import torch
from torch import Tensor

from course_lib import exchange
from course_lib.boundaries import cu_seqlens_from_lengths, lengths_from_document_ids
from course_lib.targets import Ledger, Lost, make_ledger
from course_lib.vocabulary import IGNORE_INDEX

TENSORS = ("input_ids", "labels", "attention_mask", "position_ids", "document_ids")


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows ready for a causal language model, all int64 [B, T].

    - input_ids       token ids
    - labels          a copy of them, -100 where a slot is no target; never shifted
    - attention_mask  1 real, 0 padding
    - position_ids    from 0 in each document, -1 on padding
    - document_ids    from 0 in each row, -1 on padding
    - lost            what was cut or dropped on the way here

    >>> from course_lib import pad_documents
    >>> pad_documents([[1, 2], [3]]).labels.tolist()
    [[1, 2], [3, -100]]
    """

    input_ids: Tensor
    labels: Tensor
    attention_mask: Tensor
    position_ids: Tensor
    document_ids: Tensor
    lost: Lost = field(default_factory=Lost)

    def __post_init__(self) -> None:
        shape = self.input_ids.shape
        for name in TENSORS:
            tensor = getattr(self, name)
            if not isinstance(tensor, Tensor) or tensor.dtype != torch.int64:
                kind = getattr(tensor, "dtype", type(tensor).__name__)
                raise TypeError(f"Batch.{name} must be an int64 tensor, got {kind}.")
            if tensor.ndim != 2 or tensor.shape != shape:
                raise ValueError(
                    f"Batch.{name} has shape {tuple(tensor.shape)}; every tensor of a batch is "
                    f"[B, T], here {tuple(shape)}."
                )

    @property
    def model_position_ids(self) -> Tensor:
        """Position ids [B, T] that an embedding table accepts: -1 on padding becomes 0."""
        return self.position_ids.clamp(min=0)

    @property
    def target_mask(self) -> Tensor:
        """Bool [B, T-1], over shifted predictions: True where one is scored."""
        return self.labels[:, 1:] != IGNORE_INDEX

    @property
    def num_targets(self) -> int:
        """Number of predictions that are scored."""
        return int(self.target_mask.sum())

    @property
    def num_slots(self) -> int:
        """Number of slots, B·T."""
        return self.input_ids.numel()

    @property
    def utilization(self) -> float:
        """Real tokens / slots, from 0 to 1."""
        return int(self.attention_mask.sum()) / self.num_slots

    @property
    def document_lengths(self) -> list[list[int]]:
        """Length of each document, row by row."""
        return [lengths_from_document_ids(row) for row in self.document_ids]

    def cu_seqlens(self) -> Tensor:
        """Return cumulative document lengths [N+1], int32, over the batch with padding removed.

        >>> from course_lib import pack_documents
        >>> pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4).cu_seqlens().tolist()
        [0, 4, 7]
        """
        return cu_seqlens_from_lengths([n for row in self.document_lengths for n in row])

    def ledger(self) -> Ledger:
        """Return the account of all slots: targets and the reasons of those that are none.

        >>> from course_lib import pad_documents
        >>> pad_documents([[1, 2], [3]]).ledger().padding
        1
        """
        return make_ledger(self.labels, self.document_ids, self.lost)

    def to_dict(self, form: str = "padded", dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        """Return the batch as some system takes it: one of `exchange.FORMS`.

        Rows [B, T]; the first three and "shift_labels" feed a model of transformers:

        - "padded"         input_ids, labels, position_ids and the 2-D attention_mask
        - "packed"         no attention_mask: boundaries are read from position_ids
        - "dense"          a 4-D additive attention_mask [B, 1, T, T] in `dtype`
        - "flex"           with document_ids, -1 on padding, for a rule of FlexAttention
        - "document_ids"   with 1, 2, … for documents in attention_mask (Axolotl, LLaMA-Factory)
        - "torchtune"      tokens, labels, input_pos, seq_lens (padding is one more length)
        - "megatron"       tokens, shifted labels, loss_mask, position_ids, mask (True = masked)
        - "shift_labels"   labels shifted over the row, for a loss that does not shift
        - "shifted"        B′: each document shifted by itself, [B, T']

        One row of N tokens, no padding:

        - "flattened"        [1, N] with cu_seq_lens_q/k and max_length_q/k (transformers)
        - "padding_free"     the same with seq_idx (TRL)
        - "flash_attention"  [N] with cu_seqlens_q/k and max_seqlen_q/k
        - "megatron_thd"     "megatron" with packed_seq_params instead of a mask

        `exchange.LOSES` says what each form no longer knows. Raises ValueError for what a form
        cannot hold: "shifted" a target at a boundary, "torchtune" padding on the left.

        >>> from course_lib import pad_documents
        >>> sorted(pad_documents([[1, 2]]).to_dict("packed"))
        ['input_ids', 'labels', 'position_ids']
        """
        return exchange.to_dict(self, form, dtype)

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], form: str | None = None) -> Batch:
        """Return a Batch from anybody's mapping of tensors, arrays or nested lists.

        Needs `input_ids` [B, T] or [T]. Boundaries come from the first of these that is there:
        document_ids, seq_idx, seq_lengths, cu_seqlens / cu_seq_lens_q, document ids in
        attention_mask, position_ids. Padding comes from attention_mask or from negative ids.
        It believes what it reads; `audit` compares the sources with each other.

        `form` names one of `exchange.FORMS`; names alone cannot tell "torchtune", "megatron",
        "megatron_thd" and "shifted", whose labels or names are their own.

        >>> Batch.from_dict({"input_ids": [[1, 2, 3]], "seq_lengths": [[2, 1]]}).document_lengths
        [[2, 1]]
        """
        return cls(**exchange.from_dict(mapping, form))

    def to(self, device: torch.device | str) -> Batch:
        """Return the same batch with its tensors on `device`."""
        return Batch(*(getattr(self, name).to(device) for name in TENSORS), lost=self.lost)

    def __len__(self) -> int:
        return len(self.input_ids)

    def __repr__(self) -> str:
        rows, width = self.input_ids.shape
        return (
            f"Batch({rows} × {width} slots, {sum(map(len, self.document_lengths))} documents, "
            f"{self.num_targets} targets, {self.utilization:.0%} used)"
        )

    def _repr_html_(self, rows: int = 4, columns: int = 16) -> str:
        """Return the first rows and columns as strips of cells."""
        body = []
        for row in range(min(rows, len(self))):
            for f in fields(self):
                if f.name not in TENSORS:
                    continue
                cells = "".join(
                    f"<td>{v}</td>" for v in getattr(self, f.name)[row, :columns].tolist()
                )
                body.append(f'<tr><th scope="row">{row}: {f.name}</th>{cells}</tr>')
        width = min(columns, self.input_ids.shape[1])
        more = "" if (rows >= len(self) and columns >= self.input_ids.shape[1]) else " (beginning)"
        heads = "".join(f'<th scope="col">{t}</th>' for t in range(width))
        caption = f"<caption>{escape(repr(self))}{more}</caption>"
        return (
            f'<table>{caption}<thead><tr><th scope="col">slot</th>{heads}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table>"
        )
