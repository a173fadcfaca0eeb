"""Completions: where a prompt ends, which turns are answers, and how much each target weighs.

`targets` masks one prompt at the start of each document. Here a document may be a conversation,
with prompts and answers by turns. What is left out: chat templates and tokenizers. A conversation
comes as ids, with the lengths of its turns beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

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

    Source: TRL 1.16, `trl.data_utils.common_prefix_length`.

    >>> common_prefix([1, 2], [1, 3, 2])
    1
    """
    length = 0
    for a, b in zip(prompt, whole, strict=False):
        if a != b:
            break
        length += 1
    return length


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
    if len(turn_lengths) != len(document_ids):
        raise ValueError(
            f"turn_lengths has {len(turn_lengths)} rows for {len(document_ids)} rows of tokens. "
            "Give one list for each row: turn_lengths[row][document] are the lengths of its turns."
        )
    slots = torch.zeros_like(document_ids, dtype=torch.bool)
    for row, documents in enumerate(turn_lengths):
        ids = document_ids[row]
        count = int(ids.max()) + 1
        if len(documents) != count:
            raise ValueError(
                f"turn_lengths[{row}] has {len(documents)} documents, but row {row} holds {count}. "
                "Give the lengths of each document, in the order in which they stand in the row."
            )
        for number, lengths in enumerate(documents):
            where = (ids == number).nonzero().flatten()
            slots[row, where] = _answers(lengths, len(where), which, f"[{row}][{number}]")
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

    >>> mask_turns(torch.tensor([[5, 1, 4]]), torch.tensor([[0, 0, 0]]), [[[1, 2]]]).tolist()
    [[-100, 1, 4]]
    """
    return labels.masked_fill(~answer_slots(document_ids, turn_lengths, which), IGNORE_INDEX)


def weighted_sum(losses: Tensor, target_mask: Tensor, weights: Tensor) -> LossSum:
    """Return the pair (sum of weight · loss, sum of weights) over the targets, in float64.

    `losses`, `target_mask` and `weights` are [B, T-1], over shifted predictions. The second number
    takes the place of the count: pairs add up over micro-batches and ranks as counts do. Weights
    where there is no target do not matter. With all weights 1 this is `LossSum.of`.

    Raises ValueError for another shape, and for negative or infinite weights of targets.

    >>> pair = weighted_sum(torch.tensor([[1.0, 4.0]]), torch.tensor([[True, True]]),
    ...                     torch.tensor([[2.0, 1.0]]))
    >>> float(pair.total), pair.count
    (6.0, 3.0)
    """
    LossSum.of(losses, target_mask)  # refuses what is no losses or no mask
    if not isinstance(weights, Tensor) or weights.shape != losses.shape:
        shape = tuple(getattr(weights, "shape", ())) or type(weights).__name__
        raise ValueError(
            f"weights must be a tensor [B, T-1] = {tuple(losses.shape)}, got {shape}. Weights of "
            "tokens [B, T] lose their first column, as labels do: weights[:, 1:]."
        )
    kept = weights[target_mask].double()
    if not torch.isfinite(kept).all() or (kept < 0).any():
        worst = kept[(~torch.isfinite(kept)) | (kept < 0)][0].item()
        raise ValueError(
            f"a target has the weight {worst}; weights are numbers from 0 on. A target that must "
            "not count has weight 0, or the label -100."
        )
    total = (losses[target_mask].double() * kept).sum()
    return LossSum(total, kept.sum().item())
