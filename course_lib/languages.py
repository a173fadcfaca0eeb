"""Four toy languages, predictable enough that the lowest possible loss can be worked out by hand.

- repeat   one letter two to five times, then `<eos>`
- cycle    a b c a … from a random start, three to six letters, then `<eos>`
- echo     `<user>` x `<assistant>` x `<eos>`: the answer repeats the letter of the question
- shared   `<user>` `<assistant>` x `<eos>`, with the same x in `group` documents after each other

In *shared* no document says what x will be, so a model that sees one document at a time pays ln 3
for it. A model that sees the row's earlier documents pays only in the first.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from course_lib.inputs import as_int, choice
from course_lib.vocabulary import ASSISTANT, EOS, USER, A, B, C

LETTERS = (A, B, C)


def _repeat(rng: random.Random) -> list[int]:
    return [rng.choice(LETTERS)] * rng.randint(2, 5) + [EOS]


def _cycle(rng: random.Random) -> list[int]:
    start = rng.randrange(3)
    return [LETTERS[(start + i) % 3] for i in range(rng.randint(3, 6))] + [EOS]


def _echo(rng: random.Random) -> list[int]:
    letter = rng.choice(LETTERS)
    return [USER, letter, ASSISTANT, letter, EOS]


def _shared(rng: random.Random) -> list[int]:
    return [USER, ASSISTANT, rng.choice(LETTERS), EOS]


LANGUAGES: dict[str, Callable[[random.Random], list[int]]] = {
    "repeat": _repeat,
    "cycle": _cycle,
    "echo": _echo,
    "shared": _shared,
}
"""The toy languages by name; each draws one document from a generator."""


def toy_documents(language: str, count: int, *, seed: int = 0, group: int = 4) -> list[list[int]]:
    """Return `count` documents of a toy language, each ending in `<eos>`; the same for one seed.

    In "shared", documents 0 … group-1 share their letter, then the next `group` do, and so on;
    packed in this order, four to a row of 16, a row has one secret. The other languages ignore
    `group`. Raises ValueError for an unknown language.

    >>> toy_documents("echo", 1)
    [[5, 2, 6, 2, 4]]
    """
    choice(language, "language", tuple(LANGUAGES))
    rng, make = random.Random(as_int(seed, "seed")), LANGUAGES[language]
    copies = as_int(group, "group", at_least=1) if language == "shared" else 1
    documents: list[list[int]] = []
    while len(documents) < as_int(count, "count", at_least=1):
        document = make(rng)
        documents += [list(document) for _ in range(copies)]
    return documents[:count]
