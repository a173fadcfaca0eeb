"""Boolean attention masks: True = the query (row) may attend to the key (column).

Three questions are kept apart. May a position look ahead (`causal_mask`)? May it look at padding
(`key_padding_mask`, `padding_mask`)? May it look into another document (`document_mask`)? The same
polarity as PyTorch's `scaled_dot_product_attention`; Megatron-LM writes True for *masked*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from course_lib.inputs import as_int, as_rows

if TYPE_CHECKING:
    from course_lib.batch import Batch


def causal_mask(length: int) -> Tensor:
    """Return [T, T], bool: query t sees keys 0 … t.

    >>> causal_mask(2).tolist()
    [[True, False], [True, True]]
    """
    size = as_int(length, "length", at_least=1)
    return torch.ones(size, size, dtype=torch.bool).tril()


def key_padding_mask(attention_mask: Tensor) -> Tensor:
    """Return [B, 1, T], bool: True where the key is a real token, the same for every query.

    `attention_mask` is [B, T] with 1 (real) and 0 (padding).

    >>> key_padding_mask(torch.tensor([[1, 1, 0]])).tolist()
    [[[True, True, False]]]
    """
    real = torch.as_tensor(attention_mask)
    if real.ndim != 2:
        raise ValueError(f"attention_mask must be [B, T], got shape {tuple(real.shape)}.")
    if not ((real == 0) | (real == 1)).all():
        odd = int(real[(real != 0) & (real != 1)][0])
        raise ValueError(
            f"attention_mask holds {odd}; a key padding mask holds 0 and 1 only. "
            "Document ids go to document_mask."
        )
    return real.bool()[:, None, :]


def padding_mask(batch: Batch) -> Tensor:
    """Return [B, T, T], bool: causal, and no key is padding. Pad queries keep their view.

    Each query in a row of padding still sees the real keys before it, so no row is fully masked
    when padding is on the right; the loss leaves those queries out.

    >>> from course_lib import pad_documents
    >>> padding_mask(pad_documents([[1]], length=2)).int().tolist()
    [[[1, 0], [1, 0]]]
    """
    return causal_mask(batch.input_ids.shape[1]) & key_padding_mask(batch.attention_mask)


def document_mask(batch: Batch | Tensor) -> Tensor:
    """Return [B, T, T], bool: causal, and query and key lie in the same document.

    Takes a `Batch` or document ids [B, T] (or [T], which gives [T, T]) with -1 on padding. Rows and
    columns of padding are all False. The formula is A_ij = 1[j <= i] * 1[d_j = d_i].

    >>> document_mask(torch.tensor([0, 1])).int().tolist()
    [[1, 0], [0, 1]]
    """
    ids = getattr(batch, "document_ids", batch)
    if not isinstance(ids, Tensor) or ids.numel() == 0 or ids.ndim > 2 or ids.is_floating_point():
        ids = as_rows(ids, "document_ids", ndim=(1, 2))
    same = ids[..., :, None] == ids[..., None, :]
    real = (ids >= 0)[..., :, None]
    return causal_mask(ids.shape[-1]).to(ids.device) & same & real


def is_fully_masked(mask: Tensor) -> Tensor:
    """Return [..., T], bool: True for each query that may attend to no key at all.

    Softmax over such a row divides 0 by 0: NaN when written by hand, zeros in today's
    `scaled_dot_product_attention`.

    >>> is_fully_masked(torch.tensor([[True, False], [False, False]])).tolist()
    [False, True]
    """
    return ~_boolean(mask).any(-1)


def to_additive(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return the mask as numbers to add to the scores: 0 where allowed, the lowest value elsewhere.

    The lowest finite value of `dtype`, not -inf, as transformers does it: a fully masked row then
    gives equal weights to all keys and no NaN.

    >>> to_additive(torch.tensor([True, False])).tolist()[0]
    0.0
    """
    if not dtype.is_floating_point:
        raise TypeError(f"dtype must be a floating type to be added to scores, got {dtype}.")
    allowed = _boolean(mask)
    lowest = torch.finfo(dtype).min
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~allowed, lowest)


def _boolean(mask: Tensor) -> Tensor:
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean (True = may attend), got {mask.dtype}. "
            "An additive mask becomes one with mask == 0."
        )
    return mask
