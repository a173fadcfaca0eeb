"""`audit_packing`: documents in, packs out. What was lost, cut, repeated, or never there?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_lib.audit.reading import vector
from course_lib.audit.registry import finding, rule, run_rules
from course_lib.audit.report import Finding, Report
from course_lib.audit.tracing import Trace, trace
from course_lib.batch import Batch
from course_lib.inputs import as_int
from course_lib.packing.bounds import lower_bound

CLOSE = 5e-4  # efficiencies are often reported with three or four digits


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


@rule("no_packs", "tokens_dropped", "document_truncated", "document_dropped", on="packing",
      needs=("documents", "packs"))  # fmt: skip
def lost(run: Packed) -> Iterator[Finding]:
    """Tokens that went in and did not come out."""
    total = sum(map(len, run.documents))
    if total and not any(run.packs):
        yield finding("no_packs", "packs", f"{total} tokens in, 0 packs out.", expected=total,
                      found=0)  # fmt: skip
        return
    if not run.balance[0]:
        return  # which of two equal tokens came from where cannot be told, but all are there
    missing = {i: len(d) - k for i, (d, k) in enumerate(zip(run.documents, run.kept, strict=True))}
    missing = {i: n for i, n in missing.items() if n}
    groups: dict[str, list[int]] = {}
    for i in missing:
        whole = run.kept[i] == 0
        code = "document_dropped" if whole else "document_truncated"
        groups.setdefault("tokens_dropped" if run.cuts_anywhere else code, []).append(i)
    for code, numbers in groups.items():
        gone = [t for i in numbers for t in _missing_tokens(run, i)]
        yield finding(
            code,
            numbers,
            f"{total} tokens in, {total - sum(missing.values())} out: "
            f"{len(gone)} of {len(numbers)} document{'s' * (len(numbers) > 1)} are lost.",
            expected=gone[:16],
            found=[],
        )


def _missing_tokens(run: Packed, number: int) -> list[int]:
    kept = np.zeros(len(run.documents[number]), bool)
    for _, start, stop in run.trace.pieces[number]:
        kept[start:stop] = True
    return [t for t, k in zip(run.documents[number], kept, strict=True) if not k]


@rule("document_split", on="packing", needs=("documents", "packs"))
def split(run: Packed) -> Iterator[Finding]:
    """Documents that came out in pieces."""
    if run.cuts_anywhere:
        return
    numbers = [i for i, pieces in enumerate(run.trace.pieces) if len(pieces) > 1]
    if numbers:
        yield finding("document_split", numbers, f"{len(numbers)} documents are in pieces.")


@rule("tokens_orphaned", on="packing", needs=("documents", "packs", "prompts"))
def orphaned(run: Packed) -> Iterator[Finding]:
    """Answers in another row than the last token of their prompt."""
    faulty = []
    for number, (pieces, n) in enumerate(zip(run.trace.pieces, run.prompts, strict=True)):
        home = next((row for row, start, stop in pieces if start < n <= stop), None)
        if n and any(row != home and stop > n for row, _, stop in pieces):
            faulty.append(number)
    if faulty:
        said = f"{len(faulty)} documents have answers in a row without their prompt."
        yield finding("tokens_orphaned", faulty, said)


@rule("eos_missing", on="packing", needs=("documents", "packs", "eos"))
def eos_between(run: Packed) -> Iterator[Finding]:
    """Documents whose last token is followed by the next document, with no EOS between."""
    faulty = []
    for number, pieces in enumerate(run.trace.pieces):
        document = run.documents[number]
        if not pieces or pieces[-1][2] < len(document) or document[-1] == run.eos:
            continue
        row = pieces[-1][0]
        owners, tokens = run.trace.owners[row], run.packs[row]
        last = max(at for at, owner in enumerate(owners) if owner == number)
        if tokens[last + 1 : last + 2] != [run.eos]:
            faulty.append(number)
    if faulty:
        yield finding("eos_missing", faulty, f"{len(faulty)} documents end without EOS.",
                      expected=run.eos, severity="warn")  # fmt: skip


@rule("tokens_repeated", "tokens_foreign", on="packing", needs=("documents", "packs"))
def surplus(run: Packed) -> Iterator[Finding]:
    """Tokens that came out and did not go in (so often)."""
    if not run.balance[1]:
        return
    repeated, strange = [], []
    known = {t for d in run.documents for t in d}
    for row, (owners, tokens) in enumerate(zip(run.trace.owners, run.packs, strict=True)):
        for at, (owner, token) in enumerate(zip(owners, tokens, strict=True)):
            if owner < 0 and token not in run.added:
                (repeated if token in known else strange).append((row, at))
    for code, places in (("tokens_repeated", repeated), ("tokens_foreign", strange)):
        if places:
            tokens = [run.packs[r][c] for r, c in places[:16]]
            more = "came out more often than they went in"
            said = more if places is repeated else "never went in"
            yield finding(code, places, f"{len(places)} tokens {said}.", expected=[], found=tokens)


@rule("row_over_capacity", on="packing", needs=("packs",))
def over_capacity(run: Packed) -> Iterator[Finding]:
    """Rows longer than they may be."""
    rows = [i for i, p in enumerate(run.packs) if len(p) > run.capacity]
    if rows:
        longest = max(len(run.packs[i]) for i in rows)
        yield finding(
            "row_over_capacity",
            rows,
            f"{len(rows)} packs are longer than {run.capacity}; the longest has {longest} tokens.",
            expected=run.capacity,
            found=longest,
        )


@rule("utilization_wrong", on="packing", needs=("rows",))
def utilization(run: Packed) -> Iterator[Finding]:
    """Used tokens and slots, over the rows that are trained on."""
    rows = run.row_tokens if run.row_tokens is not None else [len(p) for p in run.packs]
    rows = list(map(int, rows))
    if run.drop_last and run.batch_size:
        rows = rows[: len(rows) // run.batch_size * run.batch_size]
    right = {"total_slots": len(rows) * run.capacity, "used": sum(rows)}
    right["efficiency"] = right["used"] / right["total_slots"] if rows else 0.0
    right["utilization"] = right["efficiency"]
    said = {k: v for k, v in run.reported.items() if k in right}
    wrong = {k for k, v in said.items() if abs(v - right[k]) > CLOSE * max(right[k], 1e-9)}
    if wrong:
        name = next((k for k in ("efficiency", "utilization") if k in said), sorted(wrong)[0])
        yield finding(
            "utilization_wrong",
            name,
            f"{len(rows)} rows remain: {right['total_slots']} slots, {right['used']} used.",
            expected={k: round(right[k], 6) for k in said},
            found=said,
        )


@rule("more_rows_than_needed", on="packing", needs=("documents", "packs"))
def rows_above_bound(run: Packed) -> Iterator[Finding]:
    """The number of rows beside the lower bound."""
    lengths = [k for k in run.kept if k]
    if not lengths or max(lengths) > run.capacity:
        return
    least = lower_bound(lengths, run.capacity, "L1" if run.cuts_anywhere else "L2")
    rows = sum(1 for p in run.packs if p)
    if rows > least:
        yield finding(
            "more_rows_than_needed",
            "packs",
            f"{rows} rows; the lower bound is {least} "
            f"({sum(lengths) / (rows * run.capacity):.1%} of the slots are used).",
            expected=least,
            found=rows,
        )
