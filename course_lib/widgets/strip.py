"""The target strip: which labels of a row with prompts are -100?"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.batch import Batch
from course_lib.boundaries import document_starts
from course_lib.targets import REASONS, slot_reasons
from course_lib.vocabulary import EOS, IGNORE_INDEX, PAD, VOCAB_SIZE
from course_lib.widgets.base import CourseWidget
from course_lib.widgets.parts import toggles
from course_lib.widgets.row import is_toy, one_row, slot_names, table

_SAY = {
    "prompts": ("", "prompt: the model is given it and not asked for it, so its label is -100"),
    "padding": ("", "padding: scoring it would teach the model to write padding; -100"),
    "boundaries": ("", "boundary: under B the first token of a later document is not scored; -100"),
    "boundary_kept": ("under A the first token of a later document keeps its label", ""),
    "targets": ("the model has to write this token, so its label stays", ""),
    "eos": ("EOS is part of the answer: without it the model never learns to stop", ""),
    "row_starts": ("", ""),  # free either way
}


class TargetStrip(CourseWidget):
    """Prompt, answer, EOS, padding: switch the labels of one row to -100 where they must be.

    `prompt_lengths` has one number for each document. The first slot of a row may be left or
    switched off: no prediction is scored on it either way. Raises ValueError if the documents need
    more than one row.

    >>> sum(TargetStrip([[5, 1, 6, 2]], 8, prompt_lengths=[3]).data["scored"])
    2
    """

    module = "strip"

    def __init__(
        self,
        documents: Sequence[Sequence[int]],
        capacity: int,
        *,
        prompt_lengths: Sequence[int] | None = None,
        boundary: str = "A",
        eos_id: int | None = EOS,
        pad_id: int = PAD,
    ) -> None:
        batch = one_row(
            documents, capacity, boundary=boundary, eos_id=eos_id, pad_id=pad_id,
            prompt_lengths=prompt_lengths,
        )  # fmt: skip
        ids, labels = batch.input_ids[0].tolist(), batch.labels[0].tolist()
        names = slot_names(ids, toy=is_toy(eos_id, pad_id) and max(ids) < VOCAB_SIZE)
        off = [label == IGNORE_INDEX for label in labels]
        count = batch.num_targets
        part = toggles(
            "ignored", off, _reasons(batch, eos_id), _SAY, free=[0], title="Labels",
            ask="Switch every label that is no target to -100.",
            names=[f"slot {t} {name}" for t, name in enumerate(names)],
            hints=[
                "Whoever asks writes the prompt; the model writes the answer.",
                "EOS ends the answer and is written by the model. Padding is written by nobody.",
            ],
            done=f"{count} targets. The first slot counts neither way: nothing predicts it.",
        )  # fmt: skip
        data = {
            "title": "Which labels are -100?",
            "question": _question(prompt_lengths, boundary, len(batch.document_lengths[0])),
            "names": names, "ids": ids, "pads": (batch.document_ids[0] < 0).tolist(),
            "scored": [1 if t and not o else 0 for t, o in enumerate(off)], "parts": [part],
        }  # fmt: skip
        blank = ["____"] * capacity
        rows = [("slot", range(capacity)), ("token", names), ("id", ids), ("label", blank)]
        super().__init__(data, table(rows) + "\n\nNumber of targets: ____")


def _reasons(batch: Batch, eos_id: int | None) -> list[str]:
    """Return the key into `_SAY` of each slot."""
    codes = slot_reasons(batch.labels, batch.document_ids)[0].tolist()
    starts = document_starts(batch.document_ids)[0].tolist()
    why = [REASONS[code] for code in codes]
    for t, token in enumerate(batch.input_ids[0].tolist()):
        if why[t] == "targets":
            why[t] = "boundary_kept" if starts[t] else "eos" if token == eos_id else "targets"
    return why


def _question(prompts: Sequence[int] | None, boundary: str, documents: int) -> str:
    ask = "This row goes to the loss, which shifts the labels itself."
    if prompts is not None and any(prompts):
        sizes = " and ".join(map(str, prompts))
        ask += f" Only answers are trained: the prompt is the first {sizes} tokens"
        ask += " of its document." if documents > 1 else "."
    if documents > 1:
        ask += f" The boundary convention is {boundary}."
    return ask + " Which labels are -100?"
