"""What does a collator make of documents whose every token is marked?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from course_lib.inputs import as_documents, as_int, as_rows
from course_lib.probes.result import Probe
from course_lib.vocabulary import IGNORE_INDEX

LENGTHS = (5, 3, 4, 2)

UNPACKED = (
    "saw no packing: if rows are packed before the collator, "
    "probe lambda features: collator(pack(features))"
)


@dataclass(frozen=True, repr=False)
class Collator(Probe):
    """`Probe` with the facts found (layout, labels, padding, EOS, boundary …) and the faults."""

    facts: dict[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        width = max(map(len, self.facts), default=0)
        facts = [f"{name:<{width}}  {fact}" for name, fact in self.facts.items()]
        return facts + [f"fault: {fault}" for fault in self.faults]


def probe_collator(
    collate_fn: Callable[[list], Mapping[str, Any]],
    *,
    eos_id: int | None = None,
    feature: Callable[[list[int]], Any] | None = None,
    lengths: Sequence[int] = LENGTHS,
    first_id: int = 11,
) -> Collator:
    """Feed documents of unlike lengths to `collate_fn` and report what came out where.

    Every token is an id of its own, counted from `first_id`, so each can be found again in the
    output. `eos_id` is appended to each document. Packing that happens before the collator is not
    seen: hand over both as one function, `lambda features: collator(pack(features))`.
    `feature` makes what the collator takes for one document; by default `{"input_ids": ids}`. The
    collator must return a mapping with `input_ids` and `labels`.

    >>> from course_lib import pad_documents
    >>> def collate(features):
    ...     return pad_documents([f["input_ids"] for f in features]).to_dict()
    >>> probe_collator(collate).facts["layout"]
    'one document a row, padding on the right'
    """
    start, documents = as_int(first_id, "first_id", at_least=1), []
    for n in lengths:
        ids = list(range(start, start + as_int(n, "lengths", at_least=1)))
        start += len(ids)
        documents.append(ids if eos_id is None else [*ids, as_int(eos_id, "eos_id")])
    as_documents(documents)
    make = feature or (lambda ids: {"input_ids": list(ids)})
    out = collate_fn([make(d) for d in documents])
    if not isinstance(out, Mapping) or "input_ids" not in out or "labels" not in out:
        have = list(out) if isinstance(out, Mapping) else type(out).__name__
        raise TypeError(
            f"the collator must return a mapping with input_ids and labels, got {have}."
        )
    facts, faults = _look(documents, out, eos_id)
    what = "nothing wrong was found." if not faults else f"{len(faults)} faults were found."
    return Collator("collator", not faults, what, 1, 0.0, 0, facts, tuple(faults))


def _look(
    documents: list[list[int]], out: Mapping[str, Any], eos_id: int | None
) -> tuple[dict[str, str], list[str]]:
    ids, labels = (_rows(out, name) for name in ("input_ids", "labels"))
    owner = {t: d for d, doc in enumerate(documents) for t in doc if t != eos_id}
    if ids.shape != labels.shape:
        shapes = f"input_ids {tuple(ids.shape)}, labels {tuple(labels.shape)}"
        return {"shapes": shapes}, ["labels and input_ids differ in shape"]
    doc = _owners(ids, owner, eos_id)
    facts, faults = _tokens(ids, owner)
    real = doc >= 0
    facts["layout"] = _layout(doc)
    if facts["layout"].startswith("one"):
        facts["packing"] = UNPACKED
    shift = _shift(ids, labels, real)
    facts["labels"] = {
        0: "a copy of the ids; the loss must shift",
        1: "shifted already; the loss must not shift",
    }.get(shift, "neither a copy of the ids nor shifted by one")
    if shift not in (0, 1):
        faults.append("labels do not follow the ids")
    pads = int(((labels != IGNORE_INDEX) & ~real).sum()) if shift == 0 else 0
    facts["padding"] = f"{int((~real).sum())} slots, {pads} of them with a label"
    if pads:
        faults.append(f"{pads} padding slots have a label other than {IGNORE_INDEX}")
    _attention(out, real, facts, faults)
    if eos_id is not None and shift in (0, 1):
        _ends(ids, labels, doc, eos_id, shift, facts, faults)
    _boundaries(out, labels, doc, shift, facts)
    return facts, faults


def _rows(out: Mapping[str, Any], name: str) -> Tensor:
    rows = as_rows(out[name], name, ndim=(1, 2))
    return rows[None] if rows.ndim == 1 else rows


def _owners(ids: Tensor, owner: dict[int, int], eos_id: int | None) -> Tensor:
    """Return the document of each slot [B, T], -1 on padding; an EOS belongs to what it follows."""
    doc = torch.tensor([[owner.get(int(t), -1) for t in row] for row in ids])
    if eos_id is not None:
        after = torch.nn.functional.pad(doc[:, :-1], (1, 0), value=-1)
        doc = torch.where((ids == eos_id) & (after >= 0), after, doc)
    return doc


def _tokens(ids: Tensor, owner: dict[int, int]) -> tuple[dict[str, str], list[str]]:
    seen = Counter(t for t in ids.flatten().tolist() if t in owner)
    lost = [t for t in owner if t not in seen]
    again = [t for t, n in seen.items() if n > 1]
    faults = [f"{len(lost)} tokens are lost, first of document {owner[lost[0]]}"] if lost else []
    faults += [f"{len(again)} tokens came out more than once"] if again else []
    return {"tokens": f"{len(owner)} given, {len(lost)} lost, {len(again)} repeated"}, faults


def _layout(doc: Tensor) -> str:
    real = doc >= 0
    several = any(len(row[row >= 0].unique()) > 1 for row in doc)
    form = "several documents in a row" if several else "one document a row"
    if real.all():
        return form + ", no padding"
    left = bool((~real[:, 0]).any())
    return f"{form}, padding on the {'left' if left else 'right'}"


def _shift(ids: Tensor, labels: Tensor, real: Tensor) -> int | None:
    kept = (labels != IGNORE_INDEX) & real
    if bool((labels == ids)[kept].all()):
        return 0
    ahead = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=IGNORE_INDEX)
    return 1 if bool((labels == ahead)[kept].all()) else None


def _attention(
    out: Mapping[str, Any], real: Tensor, facts: dict[str, str], faults: list[str]
) -> None:
    mask = out.get("attention_mask")
    if mask is None or torch.as_tensor(mask).ndim != 2:
        facts["attention mask"] = "none in 2-D"
        return
    allowed = torch.as_tensor(mask) > 0
    facts["attention mask"] = "1 on tokens, 0 on padding" if torch.equal(allowed, real) else "other"
    if (allowed & ~real).any():
        faults.append(f"{int((allowed & ~real).sum())} padding slots may be attended to")
    if (~allowed & real).any():
        faults.append(f"{int((~allowed & real).sum())} real tokens are hidden from attention")


def _ends(
    ids: Tensor, labels: Tensor, doc: Tensor, eos_id: int, shift: int,
    facts: dict[str, str], faults: list[str],
) -> None:  # fmt: skip
    ends = (ids == eos_id) & (doc >= 0)
    at = torch.roll(ends, -shift, 1) if shift else ends
    trained = int((labels[at] == eos_id).sum())
    facts["EOS"] = f"{int(ends.sum())} real ones, {trained} of them are targets"
    if trained < int(ends.sum()):
        faults.append("EOS is not always a target: the model may never learn to stop")


def _boundaries(
    out: Mapping[str, Any], labels: Tensor, doc: Tensor, shift: int | None, facts: dict[str, str]
) -> None:
    later = (doc[:, 1:] != doc[:, :-1]) & (doc[:, 1:] >= 0) & (doc[:, :-1] >= 0)
    if not later.any():
        return
    at = labels[:, :-1] if shift == 1 else labels[:, 1:]
    kept = at[later] != IGNORE_INDEX
    kind = {True: "A: later documents' first tokens are targets", False: "B: they are masked"}
    facts["boundary"] = kind[bool(kept.all())] if kept.all() or not kept.any() else "mixed"
    positions = out.get("position_ids")
    if positions is not None:
        starts = torch.as_tensor(positions)[:, 1:][later]
        reset = "start again in each document" if (starts == starts[0]).all() else "run on"
        facts["positions"] = reset
