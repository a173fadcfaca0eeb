"""`audit_packing`: documents in, packs out. What was lost, cut, repeated, or never there?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from course_lib.audit.reading import vector
from course_lib.audit.registry import run_rules
from course_lib.audit.report import Report
from course_lib.audit.tracing import Trace, trace
from course_lib.batch import Batch
from course_lib.inputs import as_int


def audit_packing(
    documents: Sequence[Sequence[int]] | None = None,
    packs: Sequence[Sequence[int]] | Batch | None = None,
    capacity: int = 0,
    *,
    strategy: str | None = None,
    eos_token_id: int | None = None,
    pad_token_id: int | None = None,
    row_tokens: Sequence[int] | None = None,
    batch_size: int | None = None,
    drop_last: bool = False,
    reported: Mapping[str, float] | None = None,
    prompt_lengths: Sequence[int] | None = None,
) -> Report:
    """Return what a packer lost, cut, repeated or added.

    - documents, packs  token ids of each; `packs` may be a `Batch`
    - capacity          slots of a row
    - strategy          the packer's name; "concatenate" and "wrapped" cut anywhere
    - row_tokens        tokens used in each row, where the packs themselves are not at hand
    - batch_size, drop_last    whether an incomplete last batch of rows is left out
    - reported          what was reported: "efficiency" (or "utilization"), "used", "total_slots"

    - prompt_lengths    tokens of prompt in each document

    Raises ValueError for a capacity below 1.

    >>> audit_packing([[1, 2], [3]], [[1, 2]], 2).codes
    ['document_dropped']
    """
    as_int(capacity, "capacity", at_least=1, hint="It is the number of slots in a row.")
    if isinstance(packs, Batch):
        rows = zip(packs.input_ids, packs.attention_mask.bool(), strict=True)
        packs = [ids[real].tolist() for ids, real in rows]
    run = Packed(
        documents=None if documents is None else [list(map(int, vector(d))) for d in documents],
        packs=None if packs is None else [list(map(int, vector(p))) for p in packs],
        capacity=capacity,
        strategy=strategy or "",
        added=frozenset(t for t in (eos_token_id, pad_token_id) if t is not None),
        row_tokens=row_tokens,
        batch_size=batch_size,
        drop_last=drop_last,
        reported=dict(reported or {}),
        eos=eos_token_id,
        prompts=None if prompt_lengths is None else list(map(int, prompt_lengths)),
    )
    return run_rules("packing", run, Report(run.subject))


@dataclass
class Packed:
    """Documents, packs, and what was said about them."""

    documents: list[list[int]] | None
    packs: list[list[int]] | None
    capacity: int
    strategy: str
    added: frozenset[int]
    row_tokens: Sequence[int] | None
    batch_size: int | None
    drop_last: bool
    reported: dict[str, float]
    eos: int | None = None
    prompts: list[int] | None = None

    def has(self, need: str) -> bool:
        """Say whether a rule's need is met."""
        if need == "rows":
            return bool(self.reported) and (self.row_tokens is not None or self.packs is not None)
        return getattr(self, need) is not None

    @property
    def subject(self) -> str:
        """What was audited, in a few words."""
        docs = "" if self.documents is None else f"{len(self.documents)} documents in "
        rows = self.packs if self.packs is not None else self.row_tokens
        return f"{docs}{len(rows or ())} rows of {self.capacity}"

    @cached_property
    def trace(self) -> Trace:
        """Where each document went."""
        return trace(self.documents, self.packs, self.added)

    @cached_property
    def balance(self) -> tuple[Counter, Counter]:
        """Tokens by id that went in and did not come out, and the other way round."""
        before = Counter(t for d in self.documents for t in d)
        after = Counter(t for p in self.packs for t in p)
        surplus = after - before
        return before - after, Counter({t: n for t, n in surplus.items() if t not in self.added})

    @cached_property
    def kept(self) -> list[int]:
        """Tokens of each document that came out."""
        return [sum(b - a for _, a, b in pieces) for pieces in self.trace.pieces]

    @property
    def cuts_anywhere(self) -> bool:
        """The strategy joins all text and cuts it where a row ends."""
        return any(word in self.strategy for word in ("concat", "wrapped", "naive"))
