"""Words and numbers of the text twins: one way to round, one way to line up, one way to name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from course_lib.vocabulary import token_name


def number(value: float, digits: int = 3) -> str:
    """Return a number rounded to `digits` decimals; whole numbers stay whole.

    >>> number(9 / 7), number(7), number(-0.0001), number(float("nan"))
    ('1.286', '7', '0.000', 'nan')
    """
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    return f"{round(value, digits) + 0.0:.{digits}f}"


def table(rows: Iterable[Sequence[str]], left: Iterable[int] = ()) -> str:
    """Return rows of words as lines with aligned columns, to the right but for those in `left`.

    >>> print(table([("id", "token"), ("1", "a")], left=[1]))
    id  token
     1  a
    """
    lines = [[str(word) for word in row] for row in rows]
    sides = set(left)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            word.ljust(width) if i in sides else word.rjust(width)
            for i, (word, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def slot_label(slot: int, label: object) -> str:
    """Return what stands beside row or column `slot`: its number, and a name if there is one.

    A number is a token id and gets its name in the toy vocabulary; text is taken as it is.

    >>> slot_label(2, 4), slot_label(2, "key"), slot_label(2, None)
    ('2 <eos>', '2 key', '2')
    """
    if label is None:
        return str(slot)
    return f"{slot} {label if isinstance(label, str) else token_name(label)}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "slot"), plural(2, "slot")
    ('1 slot', '2 slots')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
