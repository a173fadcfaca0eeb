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

    Raises ValueError if the row does not hold these documents, or treats boundaries differently.

    >>> boundary_convention([[1, 4], [2, 4]], [1, 4, 2, 4], [4, 2, 4, -100])
    'A'
    """
    if len(documents) < 2:
        raise ValueError(f"a boundary needs two documents, got {len(documents)}.")
    row, under = list(inputs), list(targets)
    apart = [t for d in documents for t in d[:-1]]
    if row[: len(apart)] == apart and _follows(documents, under):
        return "B′"
    joined, verdicts = [t for d in documents for t in d], []
    begun = len(joined) - len(documents[-1]) + 1  # the last document may be cut off by the row
    if len(row) < begun or any(a != b for a, b in zip(row, joined, strict=False)):
        raise ValueError(f"the row {row} does not begin with the documents {list(documents)}.")
    end = -1
    for document, after in zip(documents, documents[1:], strict=False):
        end += len(document)
        target = under[end]
        if target is not None and target not in (IGNORE_INDEX, after[0]):
            raise ValueError(
                f"column {end}, the end of a document, is scored on {target}, which is neither "
                f"{after[0]} nor {IGNORE_INDEX}. Are the targets shifted once?"
            )
        verdicts.append("A" if target == after[0] else "B")
    if len(set(verdicts)) > 1:
        raise ValueError(f"boundaries are treated differently: {', '.join(verdicts)}.")
    return verdicts[0]


def _follows(documents: Sequence[Sequence[int]], under: list[int | None]) -> bool:
    """Is each target the token that follows, in its own document, or none?"""
    following = [t for d in documents for t in d[1:]]
    return all(
        t in (None, IGNORE_INDEX, f) for t, f in zip(under, following, strict=False)
    )
