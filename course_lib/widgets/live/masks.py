"""One packed row under your hands: lengths, capacity, boundary, prompts and kind of mask."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from course_lib.batch import Batch
from course_lib.decoder import TinyDecoder
from course_lib.masks import causal_mask, document_mask, padding_mask
from course_lib.packing import pack_documents
from course_lib.targets import REASONS, slot_reasons
from course_lib.vocabulary import EOS, token_name
from course_lib.widgets.live import html
from course_lib.widgets.live.panel import Live, field, menu, slider, whole_numbers

KINDS = ("causal", "padding", "document")
LARGEST = 12


@dataclass(frozen=True)
class MaskedRow:
    """What the controls ask for: a batch, the mask [T, T] of its first row, the attention of the
    decoder's first head [T, T] under that mask."""

    batch: Batch
    mask: Tensor
    weights: Tensor


def mask_explorer(
    lengths: tuple[int, ...] = (4, 3, 0), capacity: int = 8, boundary: str = "A",
    prompts: str = "0, 0", mask: str = "document",
) -> Live:  # fmt: skip
    """Return controls for a packed row; `result` is a `MaskedRow`.

    Lengths count EOS; a document of length 0 is left out. Document d begins with letter d, so that
    documents can be told apart.

    >>> mask_explorer(mask="causal").result.mask.sum().item()
    36
    """
    longest = LARGEST - 4
    controls = {
        f"length_{d}": slider(f"length of doc {d}", n, 0 if d else 1, longest)
        for d, n in enumerate(lengths)
    }
    controls |= {
        "capacity": slider("capacity", capacity, 4, LARGEST),
        "boundary": menu("boundary", ["A", "B"], boundary),
        "prompts": field("prompt lengths", prompts),
        "mask": menu("mask", KINDS, mask),
    }
    model = TinyDecoder().double().eval()

    def compute(capacity: int, boundary: str, prompts: str, mask: str, **lengths: int) -> MaskedRow:
        asked = [n for n in lengths.values() if n]
        batch = masked_batch(asked, capacity, boundary, whole_numbers(prompts, "prompt lengths"))
        chosen = mask_of(batch, mask)
        look = model.look(
            batch.input_ids[:1], mask=chosen, position_ids=batch.model_position_ids[:1]
        )
        return MaskedRow(batch, chosen, look.attention[0][0, 0])

    return Live("masks", controls, compute, draw)


def masked_batch(
    lengths: list[int], capacity: int, boundary: str = "A", prompts: list[int] | None = None
) -> Batch:
    """Return documents of these lengths, packed in their order; missing prompts are 0 long.

    >>> masked_batch([4, 3], 8).input_ids.tolist()
    [[1, 2, 3, 4, 2, 3, 4, 0]]
    """
    documents = [[(d + t) % 3 + 1 for t in range(n - 1)] + [EOS] for d, n in enumerate(lengths)]
    given = [*(prompts or []), *[0] * len(documents)][: len(documents)]
    return pack_documents(
        documents, capacity, boundary=boundary, prompt_lengths=given, strategy="next_fit"
    )


def mask_of(batch: Batch, kind: str) -> Tensor:
    """Return the mask [T, T] of the first row: "causal", "padding" or "document".

    >>> mask_of(masked_batch([2], 2), "document").int().tolist()
    [[1, 0], [1, 1]]
    """
    if kind == "causal":
        return causal_mask(batch.input_ids.shape[1])
    return (padding_mask(batch) if kind == "padding" else document_mask(batch))[0]


def draw(row: MaskedRow) -> str:
    """Return the row, its mask, the attention under it and the ledger as HTML.

    >>> draw(mask_explorer().result).count("<table")
    3
    """
    batch, ledger = row.batch, row.batch.ledger()
    names = [token_name(i).strip("<>") for i in batch.input_ids[0].tolist()]
    slots = [str(t) for t in range(len(names))]
    owners = batch.document_ids[0].tolist()
    grids = beside_names(names)
    parts = (
        f"targets {ledger.targets}, row starts {ledger.row_starts}, boundaries {ledger.boundaries},"
        f" prompts {ledger.prompts}, padding {ledger.padding}: {batch.num_slots} slots"
    )
    more = len(batch) - 1
    if more:
        parts += f" in {len(batch)} rows; the first row is drawn"
    return html.beside(
        html.table("the row", slots, _row(batch, names, owners)),
        html.table(
            f"mask: {int(row.mask.sum())} of {row.mask.numel()} pairs",
            slots,
            {n: _bits(cells) for n, cells in zip(grids, row.mask.tolist(), strict=True)},
        ),
        html.table(
            "attention, head 0",
            slots,
            {n: _weights(cells) for n, cells in zip(grids, row.weights.tolist(), strict=True)},
        ),
    ) + html.sentence(parts)


def beside_names(names: list[str]) -> list[str]:
    """Return "slot token" for each slot.

    >>> beside_names(["a", "eos"])
    ['0 a', '1 eos']
    """
    return [f"{t} {name}" for t, name in enumerate(names)]


def _row(batch: Batch, names: list[str], owners: list[int]) -> dict[str, list[html.Cell]]:
    labels = batch.labels[0].tolist()
    reasons = [REASONS[code] for code in slot_reasons(batch.labels, batch.document_ids)[0].tolist()]
    tints = [html.document(d) for d in owners]
    return {
        "token": [*zip(names, tints, strict=True)],
        "document": [*zip(map(str, owners), tints, strict=True)],
        "position": [(str(p), t) for p, t in zip(batch.position_ids[0].tolist(), tints,
                                                 strict=True)],
        "label": [(str(v), "off" if v >= 0 else "ignored") for v in labels],
        "scored": [("yes", "on") if r == "targets" else (_SHORT[r], "ignored") for r in reasons],
    }  # fmt: skip


_SHORT = {"row_starts": "start", "boundaries": "bound", "prompts": "prompt", "padding": "pad"}


def _bits(cells: list[bool]) -> list[html.Cell]:
    return [("1", "on") if seen else ("0", "off") for seen in cells]


def _weights(cells: list[float]) -> list[html.Cell]:
    return [(f"{w:.2f}", html.shade(w)) if w else ("0", "off") for w in cells]
