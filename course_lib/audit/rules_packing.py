"""Rules on a packer's result: lost, cut, repeated, foreign; rows and slots."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.packing import Packed
from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.packing.bounds import lower_bound

CLOSE = 5e-4  # efficiencies are often reported with three or four digits


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
