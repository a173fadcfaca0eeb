"""Rules on the numbers themselves: ids in the vocabulary, the ignored value, types."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.audit.registry import finding, rule
from course_lib.audit.report import Finding
from course_lib.audit.view import BatchView, places


@rule("float_ids")
def float_ids(view: BatchView) -> Iterator[Finding]:
    """Ids came as floating-point numbers."""
    for name in view.fields.floats:
        yield finding("float_ids", name, f"{name} holds floats, not whole numbers.")


@rule("ignore_index_mismatch")
def ignore_index_mismatch(view: BatchView) -> Iterator[Finding]:
    """A negative label that the loss does not ignore."""
    ignore = view.options.ignore_index
    for name in ("labels", "shift_labels"):
        labels = view.fields.get(name)
        if labels is None or labels.min(initial=0) >= 0:
            continue
        faulty = (labels < 0) & (labels != ignore)
        if faulty.any():
            values = np.unique(labels[faulty]).tolist()
            yield finding(
                "ignore_index_mismatch",
                places(faulty),
                f"{values[0]} is neither the ignored value {ignore} nor a valid id.",
                expected=ignore,
                found=values,
            )


@rule("ignore_index_as_input")
def ignore_index_as_input(view: BatchView) -> Iterator[Finding]:
    """A negative number among the ids that the model reads."""
    for name in ("input_ids", "decoder_input_ids"):
        ids = view.fields.get(name)
        if ids is not None and ids.min(initial=0) < 0:
            faulty = ids < 0
            yield finding(
                "ignore_index_as_input",
                places(faulty),
                f"{name} contains {ids[faulty][0]}.",
                expected="ids from 0, the pad id for padding",
                found=np.unique(ids[faulty]).tolist(),
            )


@rule("id_out_of_range", needs=("vocab_size",))
def id_out_of_range(view: BatchView) -> Iterator[Finding]:
    """An id that the embedding table does not have."""
    size = view.options.vocab_size
    for name in ("input_ids", "decoder_input_ids", "labels", "shift_labels"):
        ids = view.fields.get(name)
        if ids is not None and ids.max(initial=0) >= size:
            faulty = ids >= size
            yield finding(
                "id_out_of_range",
                places(faulty),
                f"{name} contains {ids[faulty].max()}, the vocabulary ends at {size - 1}.",
                expected=f"0 to {size - 1}",
                found=np.unique(ids[faulty]).tolist()[:16],
            )
