"""The toy vocabulary: seven tokens, so that every tensor of the course fits in the head.

There is no tokenizer behind it. `encode` splits at blanks and looks each word up; a real course on
tokenization is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

TOKENS = ("<pad>", "a", "b", "c", "<eos>", "<user>", "<assistant>")
"""The seven tokens; the place of each in this tuple is its id."""
PAD, A, B, C, EOS, USER, ASSISTANT = range(len(TOKENS))
"""The ids of the seven tokens by name."""
VOCAB_SIZE = len(TOKENS)
"""The number of tokens: V in the shapes of the course."""

IGNORE_INDEX = -100
"""The label that `torch.nn.functional.cross_entropy` leaves out by default."""


def encode(text: str) -> list[int]:
    """Return the ids of blank-separated tokens.

    Raises ValueError for a word that is not in the vocabulary.

    >>> encode("a b c <eos>")
    [1, 2, 3, 4]
    """
    unknown = [word for word in text.split() if word not in TOKENS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not in the toy vocabulary: {' '.join(TOKENS)}.")
    return [TOKENS.index(word) for word in text.split()]


def decode(ids: Iterable[int]) -> str:
    """Return the tokens of `ids`, separated by blanks.

    >>> decode([1, 2, 3, 4])
    'a b c <eos>'
    """
    return " ".join(token_name(i) for i in ids)


def token_name(token_id: int) -> str:
    """Return the name of one id; an id outside the vocabulary (-100, say) is its own name.

    >>> token_name(4), token_name(-100)
    ('<eos>', '-100')
    """
    i = int(token_id)
    return TOKENS[i] if 0 <= i < VOCAB_SIZE else str(i)
