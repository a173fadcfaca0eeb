"""One packed row as the widgets draw it: names of tokens, columns, and the table for paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course_lib.batch import Batch
from course_lib.packing import pack_documents
from course_lib.vocabulary import EOS, PAD, token_name

SHORT = {"<assistant>": "asst"}


def one_row(documents: Sequence[Sequence[int]], capacity: int, **options: Any) -> Batch:
    """Return the single packed row [1, capacity]; refuse documents that need more than one.

    >>> one_row([[1, 2, 3], [1, 1]], 8, eos_id=4).input_ids.tolist()
    [[1, 2, 3, 4, 1, 1, 4, 0]]
    """
    batch = pack_documents(documents, capacity, strategy="next_fit", **options)
    if len(batch) != 1:
        raise ValueError(
            f"the documents fill {len(batch)} rows of {capacity} slots, but this widget draws one. "
            "Raise capacity or leave documents out."
        )
    return batch


def slot_names(ids: Sequence[int], *, toy: bool = True) -> list[str]:
    """Return the short name of each token; ids of another vocabulary are their own names.

    >>> slot_names([1, 4, 0]), slot_names([7], toy=False)
    (['a', 'eos', 'pad'], ['7'])
    """
    if not toy:
        return [str(i) for i in ids]
    return [SHORT.get(token_name(i), token_name(i).strip("<>")) for i in ids]


def is_toy(eos_id: int | None, pad_id: int) -> bool:
    """True where ids are those of the course's vocabulary, so that names may be shown."""
    return eos_id in (None, EOS) and pad_id == PAD


def table(rows: Sequence[tuple[str, Sequence[object]]]) -> str:
    """Return rows of cells in columns of equal width, each row with its name in front.

    >>> table([("slot", [0, 1]), ("token", ["a", "eos"])])
    'slot     0   1\\ntoken    a eos'
    """
    head = max(len(name) for name, _ in rows)
    width = max(len(str(cell)) for _, cells in rows for cell in cells)
    return "\n".join(
        f"{name:<{head}}  {' '.join(f'{cell!s:>{width}}' for cell in cells)}".rstrip()
        for name, cells in rows
    )
