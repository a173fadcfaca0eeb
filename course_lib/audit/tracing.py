"""Where the documents went: each slot of each row → the document that it came from.

Documents are looked for by their tokens, in any order and in pieces. Two documents with the same
tokens cannot be told apart, and need not be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Trace:
    """Result of `trace`.

    - owners   for each row, the document of each token, -1 for a token of no document
    - pieces   for each document, its pieces as (row, start in the document, stop)
    """

    owners: list[list[int]]
    pieces: list[list[tuple[int, int, int]]]


def trace(
    documents: Sequence[Sequence[int]],
    rows: Sequence[Sequence[int]],
    added: frozenset[int] = frozenset(),
) -> Trace:
    """Find the documents in the rows: in order if they stand so, else the longest match first.

    `added` are ids that a packer may have put in (EOS, padding).

    >>> trace([[1, 2], [3]], [[3, 1, 2]]).owners
    [[1, 0, 0]]
    """
    documents = [list(map(int, d)) for d in documents]
    in_order = _in_order(documents, rows, added)
    if in_order is not None:
        return in_order
    out = Trace([[] for _ in rows], [[] for _ in documents])
    done = [0] * len(documents)  # tokens of each document found so far
    waiting: dict[int, list[int]] = {}
    for i, document in enumerate(documents):
        if document:
            waiting.setdefault(document[0], []).append(i)
    for row, tokens in enumerate(rows):
        tokens = list(map(int, tokens))
        at = 0
        while at < len(tokens):
            number, size = _best(documents, done, waiting.get(tokens[at], ()), tokens, at)
            if size == 0:
                out.owners[row].append(-1)
                at += 1
                continue
            start = done[number]
            out.owners[row] += [number] * size
            out.pieces[number].append((row, start, start + size))
            waiting[tokens[at]].remove(number)
            done[number] = start + size
            if done[number] < len(documents[number]):
                waiting.setdefault(documents[number][done[number]], []).insert(0, number)
            at += size
    return out


def _in_order(
    documents: list[list[int]], rows: Sequence[Sequence[int]], added: frozenset[int]
) -> Trace | None:
    """Walk through documents and rows together; None if the rows leave their order."""
    flat = [(number, at) for number, d in enumerate(documents) for at in range(len(d))]
    out = Trace([[] for _ in rows], [[] for _ in documents])
    here = 0
    for row, tokens in enumerate(rows):
        for token in map(int, tokens):
            number, at = flat[here] if here < len(flat) else (-1, -1)
            if number < 0 or documents[number][at] != token:
                if token not in added:
                    return None
                out.owners[row].append(-1)
                continue
            out.owners[row].append(number)
            pieces = out.pieces[number]
            if pieces and pieces[-1][0] == row and pieces[-1][2] == at:
                pieces[-1] = (row, pieces[-1][1], at + 1)
            else:
                pieces.append((row, at, at + 1))
            here += 1
    return out


def _best(
    documents: list[list[int]],
    done: list[int],
    candidates: Sequence[int],
    tokens: list[int],
    at: int,
) -> tuple[int, int]:
    """The candidate whose rest matches here: whole rests first, then the longest match."""
    best, size, whole = -1, 0, False
    for number in candidates[:64]:
        rest = documents[number][done[number] :]
        window = tokens[at : at + len(rest)]
        if rest == window:
            if not whole or len(rest) > size:
                best, size, whole = number, len(rest), True
        elif not whole:
            match = next((k for k, (a, b) in enumerate(zip(rest, window, strict=False)) if a != b),
                         len(window))
            if match > size:
                best, size = number, match
    return best, size
