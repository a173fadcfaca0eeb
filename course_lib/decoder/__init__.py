"""A decoder small enough to know by heart: 423 parameters, one block, and the same code larger.

`Decoder` is the general class (pre-norm blocks of attention and SwiGLU); `TinyDecoder` is its
setting for the toy vocabulary. Only `course_lib.attention` mixes positions, so a mask that is right
there is right everywhere. Left out, because the course is about batches and not about models: tied
embeddings, dropout, a key-value cache.
"""

from __future__ import annotations

from course_lib.decoder.model import Decoder, Trace
from course_lib.decoder.parameters import ParameterRow, ParameterTable
from course_lib.vocabulary import VOCAB_SIZE

__all__ = ["Decoder", "ParameterRow", "ParameterTable", "TinyDecoder", "Trace"]


class TinyDecoder(Decoder):
    """The decoder of this course: 423 parameters for the toy vocabulary of seven tokens.

    One block of width 4 with 2 heads, SwiGLU of width 16, 16 learned positions, output weights of
    its own. `positions="rope"` drops the 64 numbers of the learned positions, which leaves 359, and
    with them the limit of 16.

    >>> TinyDecoder().num_parameters, TinyDecoder(positions="rope").num_parameters
    (423, 359)
    """

    def __init__(self, *, positions: str = "learned", seed: int = 0) -> None:
        super().__init__(
            vocab_size=VOCAB_SIZE, width=4, heads=2, blocks=1, hidden=16, positions=positions,
            max_positions=16, seed=seed,
        )  # fmt: skip
