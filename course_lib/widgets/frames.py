"""Step through the preparation of a batch: documents → ids → mask → labels → pairs → loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from course_lib.batch import Batch
from course_lib.decoder import TinyDecoder
from course_lib.loss import LossSum, shift, token_losses
from course_lib.masks import padding_mask
from course_lib.padding import pad_documents
from course_lib.vocabulary import IGNORE_INDEX
from course_lib.widgets.base import CourseWidget
from course_lib.widgets.parts import Verdict
from course_lib.widgets.row import slot_names, table

Frame = dict[str, Any]


class StepThrough(CourseWidget):
    """The two-sequence preview, one frame for each step, with losses of the untrained decoder.

    Takes documents in the toy vocabulary (at most 3, at most 8 slots wide, which a phone shows).

    >>> [f["title"] for f in StepThrough().data["frames"]][:3]
    ['documents', 'input_ids', 'masks']
    """

    module = "steps"

    def __init__(
        self,
        documents: Sequence[Sequence[int]] = ((1, 2, 3), (1, 1)),
        *,
        length: int | None = 5,
        seed: int = 0,
    ) -> None:
        batch = pad_documents(documents, length=length)
        if len(batch) > 3 or batch.input_ids.shape[1] > 8:
            raise ValueError(
                f"the preview draws at most 3 rows of 8 slots, got "
                f"{tuple(batch.input_ids.shape)}. Pass fewer or shorter documents."
            )
        frames = [
            _documents(documents), _ids(batch), _masks(batch), _labels(batch), _pairs(batch),
            *_losses(batch, seed),
        ]  # fmt: skip
        data = {
            "title": "From documents to a loss",
            "question": f"{len(batch)} documents on their way to one number, step by step.",
            "frames": frames,
        }  # fmt: skip
        super().__init__(data, "\n\n".join(map(_frame_text, frames)))

    def result(self) -> Verdict:
        """There is nothing to get wrong here; the verdict has no parts."""
        return Verdict({})


def _documents(documents: Sequence[Sequence[int]]) -> Frame:
    rows = [(f"document {d}", slot_names(ids), "") for d, ids in enumerate(documents)]
    lengths = " and ".join(str(len(d)) for d in documents)
    return _frame("documents", f"Token sequences of {lengths} tokens: no rectangle yet.", [
        ("", max(map(len, documents)), rows)])  # fmt: skip


def _ids(batch: Batch) -> Frame:
    return _frame(
        "input_ids",
        "Each token becomes its id. The short rows are filled with the pad id 0 on the right; the "
        "dashed cells are padding.",
        [("input_ids [B, T]", batch.input_ids.shape[1], _rows(batch.input_ids, batch))],
    )


def _masks(batch: Batch) -> Frame:
    width = batch.input_ids.shape[1]
    tables = [("attention_mask [B, T]: 1 real, 0 padding", width,
               _rows(batch.attention_mask, batch))]  # fmt: skip
    for b, mask in enumerate(padding_mask(batch).int()):
        rows = [
            (f"query {q}", row, ["on" if v else "off" for v in row])
            for q, row in enumerate(mask.tolist())
        ]
        tables.append((f"row {b}: which key each query sees", width, rows))
    return _frame(
        "masks",
        "The attention mask marks real tokens. With the causal rule it gives the combined mask: "
        "no query sees the future, none sees a padding key.",
        tables,
    )


def _labels(batch: Batch) -> Frame:
    return _frame(
        "labels",
        "A copy of the ids with -100 where padding is. Nothing is shifted here.",
        [("labels [B, T]", batch.input_ids.shape[1], _rows(batch.labels, batch))],
    )


def _pairs(batch: Batch) -> Frame:
    logits = torch.zeros(*batch.input_ids.shape, 1)
    _, targets = shift(logits, batch.labels)
    width = targets.shape[1]
    rows = []
    for b, row in enumerate(targets.tolist()):
        tones = ["pad" if v == IGNORE_INDEX else "on" for v in row]
        read = batch.input_ids[b, :width].tolist()
        rows += [(f"row {b} reads", read, ""), ("is scored on", row, tones)]
    return _frame(
        "shifted pairs",
        "The loss drops the last prediction and the first label. What is left pairs each "
        f"prediction with the next token: {batch.num_targets} of {targets.numel()} pairs have a "
        "target.",
        [(f"logits[:, :-1] and labels[:, 1:], {width} columns", width, rows)],
    )


def _losses(batch: Batch, seed: int) -> list[Frame]:
    model = TinyDecoder(seed=seed)
    with torch.no_grad():
        logits = model(
            batch.input_ids, mask=padding_mask(batch), position_ids=batch.model_position_ids
        )
    losses, mask = token_losses(logits, batch.labels), batch.target_mask
    pair = LossSum.of(losses, mask)
    width = losses.shape[1]
    rows = [
        (f"row {b}", [f"{v:.2f}" if on else "-" for v, on in zip(ls, kept, strict=True)],
         ["on" if on else "pad" for on in kept])
        for b, (ls, kept) in enumerate(zip(losses.tolist(), mask.tolist(), strict=True))
    ]  # fmt: skip
    total, mean = f"{float(pair.total):.2f}", f"{float(pair.mean):.2f}"
    return [
        _frame(
            "losses",
            "One cross-entropy in nats for each pair with a target, from the decoder before any "
            "training. A pair with -100 has none.",
            [("token losses [B, T-1]", width, rows)],
        ),
        _frame(
            "mean",
            "The sum of the losses, divided once by the number of targets.",
            [("sum of losses, number of targets, mean", 3,
              [("all rows", [total, str(pair.count), mean], ["", "", "on"])])],
        ),
    ]


def _rows(values: torch.Tensor, batch: Batch) -> list[tuple[str, list[Any], Any]]:
    tones = [["pad" if not r else "" for r in row] for row in batch.attention_mask.tolist()]
    return [(f"row {b}", row, tones[b]) for b, row in enumerate(values.tolist())]


def _frame(title: str, text: str, tables: list[tuple[str, int, list[Any]]]) -> Frame:
    return {
        "title": title, "text": text,
        "tables": [
            {"caption": caption, "columns": columns,
             "rows": [{"head": h, "cells": [str(c) for c in cells], "tones": list(tones)}
                      for h, cells, tones in rows]}
            for caption, columns, rows in tables
        ],
    }  # fmt: skip


def _frame_text(frame: Frame) -> str:
    lines = [f"{frame['title'].upper()}"]
    for part in frame["tables"]:
        lines += [part["caption"]] * bool(part["caption"])
        lines.append(table([(r["head"], r["cells"]) for r in part["rows"]]))
    return "\n".join(lines)
