"""Do tokens of one document change the logits of another in the same row?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from course_lib.batch import Batch
from course_lib.inputs import as_int
from course_lib.probes.result import Probe
from course_lib.probes.subject import as_batch, asker, moved, other_ids, quiet


@dataclass(frozen=True)
class Leak:
    """Document `source` of row `row` moved logits of document `victim` by up to `size`."""

    row: int
    source: int
    victim: int
    size: float


@dataclass(frozen=True, repr=False)
class Isolation(Probe):
    """`Probe` with the leaking pairs, largest first, and the number of pairs looked at.

    Half of the pairs lead from a document to an earlier one, where a causal model cannot leak.
    """

    leaks: tuple[Leak, ...] = ()
    pairs: int = 0

    def lines(self) -> list[str]:
        shown = [
            f"row {k.row}: document {k.source} moves logits of document {k.victim} by {k.size:.2g}"
            for k in self.leaks[:8]
        ]
        more = len(self.leaks) - len(shown)
        shown += [f"… and {more} more pairs"] if more else []
        half = self.pairs // 2
        if self.leaks and len(self.leaks) == half and all(k.source < k.victim for k in self.leaks):
            shown.append("these are all that a causal model can leak: from earlier to later")
        return shown


def probe_isolation(
    model: Callable[..., Any],
    batch: Batch | Mapping[str, Any],
    *,
    trials: int = 3,
    tolerance: float = 1e-4,
    seed: int = 0,
    vocab_size: int | None = None,
    document_ids: Any = None,
    eos_token_id: int | None = None,
    **given: Any,
) -> Isolation:
    """Change one document at a time and see which other documents' logits move.

    `model` maps ids [B, T] to logits [B, T, V] (or an object with `.logits`): a module, or any
    function of ids. A `Batch` is passed as ids and position ids, as far as the model takes them; a
    mapping is passed as it is, without its labels; further keyword arguments (`mask=…`,
    `use_cache=False`) are passed on.

    Documents are `document_ids` [B, T] if given, else those of the batch; where the batch names
    no boundary, each `eos_token_id` ends a document. Neither of the two reaches the model. Pairs
    are counted in both directions; a causal model can leak only from a document to a later one.

    Raises ValueError when no row holds two documents, since nothing could leak.

    >>> from course_lib import TinyDecoder, document_mask, pack_documents
    >>> batch = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4)
    >>> probe_isolation(TinyDecoder(), batch).ok
    False
    >>> probe_isolation(TinyDecoder(), batch, mask=document_mask(batch)).ok
    True
    """
    rows, arguments = as_batch(batch, document_ids)
    if document_ids is None and eos_token_id is not None and int(rows.document_ids.max()) < 1:
        rows = _ended_by(rows, as_int(eos_token_id, "eos_token_id"))
    count = int(rows.document_ids.max()) + 1
    if count < 2:
        raise ValueError(
            "no row of this batch holds two documents, so there is nothing that could leak. "
            "Give a packed batch. Where documents begin is said by document_ids, seq_lengths or "
            "position_ids in the mapping, or by the arguments document_ids=… or eos_token_id=…."
        )
    rounds = as_int(trials, "trials", at_least=1)
    rng = torch.Generator().manual_seed(as_int(seed, "seed"))
    restore, ask = quiet(model), asker(model, arguments, given)
    try:
        sizes = _leaks(ask, rows, count, rounds, rng, vocab_size)
    finally:
        restore()
    leaks = sorted(
        (Leak(r, s, v, size) for (r, s, v), size in sizes.items() if not size <= tolerance),
        key=lambda leak: (-leak.size, leak.row, leak.source, leak.victim),
    )
    pairs = f"{len(sizes)} pair{'s' * (len(sizes) != 1)} of documents"
    summary = (
        f"no document moves another's logits ({pairs})."
        if not leaks
        else f"{len(leaks)} of {pairs} leak, by up to {leaks[0].size:.2g}."
    )
    return Isolation(
        "isolation", not leaks, summary, rounds * count, tolerance, seed, tuple(leaks), len(sizes)
    )


def _ended_by(rows: Batch, eos: int) -> Batch:
    """Return the rows with a document behind every EOS; padding stays padding."""
    behind = torch.nn.functional.pad((rows.input_ids == eos).long().cumsum(1)[:, :-1], (1, 0))
    ids = behind.masked_fill(rows.document_ids < 0, -1)
    return Batch.from_dict({"input_ids": rows.input_ids, "document_ids": ids})


def _leaks(
    ask: Callable[[Tensor], Tensor],
    rows: Batch,
    count: int,
    rounds: int,
    rng: torch.Generator,
    vocab_size: int | None,
) -> dict[tuple[int, int, int], float]:
    """Return the largest change for each (row, changed document, looked-at document)."""
    before, sizes = ask(rows.input_ids), {}
    for _ in range(rounds):
        changed = other_ids(rows.input_ids, vocab_size, rng)
        for source in range(count):
            # document number `source` of every row at once: rows do not see each other
            ids = changed.where(rows.document_ids == source, rows.input_ids)
            change = moved(ask(ids), before)
            for row, victim in _others(rows.document_ids, source):
                here = float(change[row][rows.document_ids[row].cpu() == victim].max())
                key = (row, source, victim)
                sizes[key] = max(here, sizes.get(key, 0.0))
    return sizes


def _others(document_ids: Tensor, source: int) -> list[tuple[int, int]]:
    """Return (row, other document) for every row that holds document `source`."""
    last = document_ids.max(1).values.tolist()
    return [
        (row, victim)
        for row, n in enumerate(last)
        if n >= source
        for victim in range(n + 1)
        if victim != source
    ]
