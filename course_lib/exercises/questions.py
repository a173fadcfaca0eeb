"""The exit questions of the module: four options each, and the right one found by computing.

No key is written down. Every option carries a value, the course's own functions compute the right
value, and the option that equals it is right. Each option also says what choosing it means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from course_lib.boundaries import document_ids_from_lengths
from course_lib.loss import LossSum, shift
from course_lib.masks import document_mask
from course_lib.packing import pack_documents
from course_lib.padding import pad_documents
from course_lib.vocabulary import EOS


@dataclass(frozen=True)
class Option:
    """What a reader can choose: its text, its value, and what one may say to who chose it."""

    text: str
    value: Any
    say: str


@dataclass(frozen=True)
class Question:
    """A question; `right` computes the value of the right option."""

    text: str
    options: tuple[Option, ...]
    right: Callable[[], Any]

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        values = [option.value for option in self.options]
        return "abcd"[values.index(self.right())]


def _denominator() -> int:
    return (LossSum(4.0, 2) + LossSum(5.0, 5)).count


def _terms() -> int:
    return pad_documents([[1, 2], [3], [4, 5, 6]]).num_targets


def _behind_eos() -> tuple[int, ...]:
    batch = pack_documents([[1, 2], [3], [4, 5, 6]], 10, eos_id=7)
    behind = (batch.input_ids[:, :-1] == 7) & batch.target_mask
    return tuple(batch.labels[:, 1:][behind].tolist())


def _target_of_first() -> int:
    row = torch.tensor([[10, 20, 30, 40]])
    return int(shift(torch.zeros(1, 4, 2), row)[1][0, 0])


def _collator_then_loss() -> int:
    early = torch.tensor([[20, 30, 40, -100]])
    return int(shift(torch.zeros(1, 4, 2), early)[1][0, 0])


def _france() -> tuple[int, int]:
    """Number of loss terms of five tokens, and the token that the first one is scored on."""
    batch = pad_documents([[0, 1, 2, 3, 4]])
    return batch.num_targets, int(batch.labels[0, 1])


def _seen_by_query_4() -> int:
    return int(document_mask(document_ids_from_lengths([4, 3], 8))[4].sum())


def _eos_as_pad() -> int:
    return pad_documents([[1, 2, EOS]], pad_id=EOS, length=5).num_targets


QUESTIONS = (
    Question(
        "Two documents have 2 and 5 scored tokens and stand in a row of 8 slots. Which "
        "denominator keeps the mean over all tokens?",
        (
            Option("2, the documents", 2, "that averages documents, whatever their length."),
            Option("8, the slots", 8, "a slot without a target adds nothing to the sum."),
            Option("5, the longer document", 5, "the targets of the other document count, too."),
            Option("7, the targets", 7, "each target in the sum counts once."),
        ),
        _denominator,
    ),
    Question(
        "The documents [1 2], [3] and [4 5 6] are padded to 3 slots. How many predictions are "
        "scored?",
        (
            Option("6", 6, "that counts real tokens; a row's first one is predicted by nothing."),
            Option("3", 3, "one, none and two: each document loses its first token."),
            Option("9", 9, "that counts slots."),
            Option("4", 4, "a document of one token has no target, and no padding is one."),
        ),
        _terms,
    ),
    Question(
        "The same documents are packed with EOS 7 under convention A. Which ids are predicted "
        "from an EOS?",
        (
            Option("none", (), "under A the label behind an EOS stays on; B switches it off."),
            Option("7 and 7", (7, 7), "an EOS is predicted from the token before it."),
            Option("3 and 4", (3, 4), "the first tokens of the documents that follow."),
            Option("3, 4 and 0", (3, 4, 0), "behind the last EOS comes padding, label -100."),
        ),
        _behind_eos,
    ),
    Question(
        "The row is [10 20 30 40], and the loss shifts. The collator hands it labels equal to the "
        "ids. What is position 0 scored on?",
        (
            Option("20", 20, "labels that are a copy, shifted once."),
            Option("10", 10, "that is the token just read; it takes a loss without shift."),
            Option("30", 30, "that takes two shifts."),
            Option("nothing", -100, "only the last position has no target."),
        ),
        _target_of_first,
    ),
    Question(
        "The same row, and the collator has shifted the labels already. What is position 0 scored "
        "on now?",
        (
            Option("10", 10, "no shift at all would give that."),
            Option("20", 20, "one shift gives that; here are two."),
            Option("nothing", -100, "the target is wrong, not missing, so nothing warns you."),
            Option("30", 30, "two ahead: collator and loss have both moved the labels."),
        ),
        _collator_then_loss,
    ),
    Question(
        "'The capital of France is' has five tokens. How many loss terms does it give, and which "
        "token is the first one scored on?",
        (
            Option("5, 'The'", (5, 0), "nothing predicts the first token."),
            Option("5, ' capital'", (5, 1), "the last position has no next token in the row."),
            Option("4, ' capital'", (4, 1), "the first position has read 'The'."),
            Option("4, ' of'", (4, 2), "two ahead: that would be a double shift."),
        ),
        _france,
    ),
    Question(
        "Documents of 4 and 3 tokens share a row of 8. How many keys may query 4, the first token "
        "of the second document, attend to under the document mask?",
        (
            Option("5", 5, "that is the causal mask alone: it reads the first document."),
            Option("0", 0, "a token may attend to itself."),
            Option("3", 3, "two of its own document's tokens lie ahead of it."),
            Option("1", 1, "itself: all earlier tokens belong to another document."),
        ),
        _seen_by_query_4,
    ),
    Question(
        "EOS is the pad. The document a b <eos> is padded to 5 slots, and labels are masked by "
        "length. How many targets are left?",
        (
            Option("1", 1, "masking by id gives that: the real EOS is erased as well."),
            Option("2", 2, "b and the real EOS."),
            Option("4", 4, "that scores padding."),
            Option("3", 3, "the first token of a row is no target."),
        ),
        _eos_as_pad,
    ),
)
