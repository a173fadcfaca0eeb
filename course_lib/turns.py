"""Completions: where a prompt ends, which turns are answers, and how much each target weighs.

`targets` masks one prompt at the start of each document. Here a document may be a conversation,
with prompts and answers by turns. What is left out: chat templates and tokenizers. A conversation
comes as ids, with the lengths of its turns beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from course_lib.inputs import as_lengths, choice
from course_lib.loss import LossSum
from course_lib.vocabulary import IGNORE_INDEX

TurnLengths = Sequence[Sequence[Sequence[int]]]


def common_prefix(prompt: Sequence[int], whole: Sequence[int]) -> int:
    """Return how many tokens `prompt` [P] and `whole` [T] share from the start.

    With the ids of a prompt alone and of prompt and answer together, this is the prompt length that
    a label mask needs. Less than P: a token has grown over the border, or the template writes the
    prompt in another way when an answer follows.

    Source: TRL 1.16, `trl.data_utils.common_prefix_length`. Raises TypeError for text, whose
    letters are no tokens, and for anything that is not flat.

    >>> common_prefix([1, 2], [1, 3, 2])
    1
    """
    length = 0
    for a, b in zip(_flat(prompt, "prompt"), _flat(whole, "whole"), strict=False):
        if a != b:
            break
        length += 1
    return length


def _flat(ids: Sequence[int], name: str) -> Sequence[int]:
    """Return ids as they are, tensors and arrays as a list; refuse text, nesting, single ids."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise TypeError(f"{name} must be a flat list of ids, got {ids!r:.60}. Tokenize text first.")
    ids = list(ids)
    if any(isinstance(i, Iterable) and getattr(i, "ndim", 1) for i in ids):
        raise TypeError(f"{name} must be one flat list of ids, got {ids!r:.60}. Give one row.")
    return ids


def answer_slots(document_ids: Tensor, turn_lengths: TurnLengths, which: str = "all") -> Tensor:
    """Return bool [B, T]: True on the answers of each document.

    - document_ids   [B, T], from 0 in each row, -1 on padding
    - turn_lengths   turn_lengths[row][document] are lengths by turns: prompt, answer, prompt, …;
                     0 where a conversation begins with an answer. They add up to the document, its
                     EOS included.
    - which          "all" answers, or only the "last" one of each document

    Raises ValueError where lengths do not fit the documents.

    >>> answer_slots(torch.tensor([[0, 0, 0, 0]]), [[[1, 1, 1, 1]]], "last").tolist()
    [[False, False, False, True]]
    """
    choice(which, "which", ("all", "last"))
    is_rows = isinstance(document_ids, Tensor) and document_ids.ndim == 2
    if not is_rows or not _is_whole(document_ids):
        raise TypeError(
            f"document_ids must be a tensor [B, T] of whole numbers, got {_kind(document_ids)}. "
            "Batch.document_ids is one."
        )
    if isinstance(turn_lengths, str) or not isinstance(turn_lengths, Sequence):
        raise TypeError(
            f"turn_lengths must be lists, turn_lengths[row][document], got {_kind(turn_lengths)}."
        )
    if len(turn_lengths) != len(document_ids):
        raise ValueError(
            f"turn_lengths has {len(turn_lengths)} rows for {len(document_ids)} rows of tokens. "
            "Give one list for each row: turn_lengths[row][document] are the lengths of its turns."
        )
    slots = torch.zeros_like(document_ids, dtype=torch.bool)
    for row, documents in enumerate(turn_lengths):
        ids = document_ids[row]
        count = int(ids.max()) + 1 if ids.numel() else 0
        if not isinstance(documents, Sequence | Tensor):
            raise TypeError(
                f"turn_lengths[{row}] must be a list of documents, got {_kind(documents)}. The "
                "lengths of the turns of a single document are wrapped: [[lengths]]."
            )
        if len(documents) != count:
            raise ValueError(
                f"turn_lengths[{row}] has {len(documents)} documents, but row {row} holds {count}. "
                "Give the lengths of each document, in the order in which they stand in the row."
            )
        for number, lengths in enumerate(documents):
            where = (ids == number).nonzero().flatten()
            found = _answers(lengths, len(where), which, f"[{row}][{number}]")
            slots[row, where] = found.to(slots.device)
    return slots


def _answers(lengths: Sequence[int], size: int, which: str, place: str) -> Tensor:
    """Return bool [size]: True on the answers of one document."""
    turns = as_lengths(lengths, f"turn_lengths{place}", at_least=0).tolist()
    if sum(turns) != size:
        raise ValueError(
            f"turn_lengths{place} is {turns}, together {sum(turns)}, but the document has {size} "
            "tokens. Count the EOS; after truncation shorten the turns, too."
        )
    last = (len(turns) - 2) | 1  # the last odd number below len(turns); -1 where there is none
    wanted = [i % 2 == 1 and (which == "all" or i == last) for i in range(len(turns))]
    return torch.repeat_interleave(torch.tensor(wanted), torch.tensor(turns))


def mask_turns(
    labels: Tensor, document_ids: Tensor, turn_lengths: TurnLengths, which: str = "all"
) -> Tensor:
    """Return labels [B, T] with -100 on everything that is no answer; see `answer_slots`.

    Raises ValueError for labels of another shape, TypeError for a type that cannot hold -100.

    >>> mask_turns(torch.tensor([[5, 1, 4]]), torch.tensor([[0, 0, 0]]), [[[1, 2]]]).tolist()
    [[-100, 1, 4]]
    """
    if not isinstance(labels, Tensor) or labels.shape != getattr(document_ids, "shape", None):
        raise ValueError(
            f"labels must be a tensor with the shape of document_ids, got {_kind(labels)} for "
            f"{_kind(document_ids)}."
        )
    if labels.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"labels must be int64, got {labels.dtype}. Convert them with .long().")
    return labels.masked_fill(~answer_slots(document_ids, turn_lengths, which), IGNORE_INDEX)


def weighted_sum(losses: Tensor, target_mask: Tensor, weights: Tensor) -> LossSum:
    """Return the pair (sum of weight · loss, sum of weights) over the targets, in float64.

    `losses`, `target_mask` and `weights` are [B, T-1], over shifted predictions. The second number
    takes the place of the count: pairs add up over micro-batches and ranks as counts do. Weights
    where there is no target do not matter. With all weights 1 this is `LossSum.of`.

    The gradient goes into the losses only. Raises ValueError for another shape, for negative or
    infinite weights of targets, and for weights that require a gradient.

    >>> pair = weighted_sum(torch.tensor([[1.0, 4.0]]), torch.tensor([[True, True]]),
    ...                     torch.tensor([[2.0, 1.0]]))
    >>> float(pair.total), pair.count
    (6.0, 3.0)
    """
    LossSum.of(losses, target_mask)  # refuses what is no losses or no mask
    if not isinstance(weights, Tensor) or weights.shape != losses.shape:
        raise ValueError(
            f"weights must be a tensor [B, T-1] = {tuple(losses.shape)}, got {_kind(weights)}. "
            "Weights of tokens [B, T] lose their first column, as labels do: weights[:, 1:]."
        )
    if weights.is_complex() or weights.requires_grad:
        what = "complex" if weights.is_complex() else "part of a graph, and their sum is a number"
        raise ValueError(f"weights are {what}. Give real ones, detached: weights.detach().")
    kept = weights[target_mask].double()
    if not torch.isfinite(kept).all() or (kept < 0).any():
        worst = kept[(~torch.isfinite(kept)) | (kept < 0)][0].item()
        raise ValueError(
            f"a target has the weight {worst}; weights are numbers from 0 on. A target that must "
            "not count has weight 0, or the label -100."
        )
    total, count = (losses[target_mask].double() * kept).sum(), kept.sum().item()
    if count == math.inf:
        raise ValueError("the weights add up to inf. Divide them by their largest first.")
    return LossSum(total, count)


def _is_whole(ids: Tensor) -> bool:
    return not (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool)


def _kind(value: object) -> str:
    """What was given: its type, or shape and dtype of a tensor or array."""
    if not hasattr(value, "shape"):
        return type(value).__name__
    return f"{type(value).__name__} {tuple(value.shape)} of {value.dtype}"
