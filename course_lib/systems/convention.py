"""A, B or B′, read from a row: what stands under the last token of a document?"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.vocabulary import IGNORE_INDEX


def boundary_convention(
    documents: Sequence[Sequence[int]], inputs: Sequence[int], targets: Sequence[int | None]
) -> str:
    """Return "A", "B" or "B′" for a row that begins with two or more `documents`, in their order.

    `inputs` [T] is what the model reads; `targets` [T] what each column is scored on, after the
    shift, wherever that happens. None, like -100, is no target.

    Raises ValueError if the row does not hold these documents, treats boundaries differently, has
    no target at all, or fits both B′ and another.

    >>> boundary_convention([[1, 4], [2, 4]], [1, 4, 2, 4], [4, 2, 4, -100])
    'A'
    """
    if len(documents) < 2:
        raise ValueError(f"a boundary needs two documents, got {len(documents)}.")
    if not all(map(len, documents)):
        raise ValueError(f"a document is empty: {list(documents)}. Leave it out.")
    row, under = list(inputs), list(targets)
    apart = [t for d in documents for t in d[:-1]]
    joined = [t for d in documents for t in d]
    begun = len(joined) - len(documents[-1]) + 1  # the last document may be cut off by the row
    may_be_apart = bool(apart) and row[: len(apart)] == apart
    whole = len(row) >= begun and row[: len(joined)] == joined[: len(row)]
    if not may_be_apart and not whole:
        raise ValueError(f"the row {row} does not begin with the documents {list(documents)}.")
    if len(under) < (begun - 1 if whole else len(apart)):
        raise ValueError(
            f"targets has {len(under)} entries for a row of {len(row)}; give one for each column, "
            "-100 for none."
        )
    if all(t in (None, IGNORE_INDEX) for t in under[: len(joined)]):
        raise ValueError("no column has a target, so the row tells no convention.")
    alone = may_be_apart and _follows(documents, under)
    if alone and whole:
        raise ValueError(
            f"the row {row} fits B′ and another convention. Use documents of different tokens, "
            "each of two or more."
        )
    if alone:
        return "B′"
    if not whole:
        raise ValueError(f"the row {row} does not begin with the documents {list(documents)}.")
    end, verdicts = -1, []
    for document, after in zip(documents, documents[1:], strict=False):
        end += len(document)
        target = under[end]
        if target is not None and target not in (IGNORE_INDEX, after[0]):
            raise ValueError(
                f"column {end}, the end of a document, is scored on {target}, which is neither "
                f"{after[0]} nor {IGNORE_INDEX}. Are the targets shifted once?"
            )
        verdicts.append("A" if target == after[0] else "B")
    for column in range(min(len(row), len(joined), len(under)) - 1):
        if under[column] not in (None, IGNORE_INDEX, joined[column + 1]):
            raise ValueError(
                f"column {column} is scored on {under[column]}, and the token behind it is "
                f"{joined[column + 1]}. Are the targets shifted once?"
            )
    if len(set(verdicts)) > 1:
        raise ValueError(f"boundaries are treated differently: {', '.join(verdicts)}.")
    return verdicts[0]


def _follows(documents: Sequence[Sequence[int]], under: list[int | None]) -> bool:
    """Is each target the token that follows, in its own document, or none?"""
    following = [t for d in documents for t in d[1:]]
    return all(
        t in (None, IGNORE_INDEX, f) for t, f in zip(under, following, strict=False)
    )
