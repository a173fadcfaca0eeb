"""Right and wrong answers to the exercise of chapter 12."""

import numpy as np
import torch

from course_lib import Batch
from tests.exercises.wrong import Wrong, up_to


def megatron_lists(input_ids, labels):
    return {
        "labels": input_ids[1:] + [0],
        "loss_mask": [int(t != -100) for t in labels[1:]] + [0],
    }


def megatron_arrays(input_ids, labels):
    ids, keep = np.array(input_ids), np.array(labels) != -100
    out = np.zeros((2, len(ids)), dtype=int)
    out[0, :-1], out[1, :-1] = ids[1:], keep[1:]
    return {"labels": out[0], "loss_mask": out[1]}


def megatron_loop(input_ids, labels):
    out = {"labels": [], "loss_mask": []}
    for t in range(len(input_ids)):
        last = t + 1 == len(input_ids)
        out["labels"].append(0 if last else input_ids[t + 1])
        out["loss_mask"].append(0 if last or labels[t + 1] == -100 else 1)
    return out


def megatron_form(input_ids, labels):
    """The form of the package itself."""
    form = Batch.from_dict({"input_ids": [input_ids], "labels": [labels]}).to_dict("megatron")
    return {"labels": form["labels"][0], "loss_mask": form["loss_mask"][0].long()}


def no_shift(input_ids, labels):
    return {"labels": list(input_ids), "loss_mask": [int(t != -100) for t in labels]}


def shift_twice(input_ids, labels):
    once = megatron_lists(input_ids, labels)
    return {name: row[1:] + [0] for name, row in once.items()}


def rolled(input_ids, labels):
    keep = torch.tensor([int(t != -100) for t in labels])
    return {"labels": torch.tensor(input_ids).roll(-1), "loss_mask": keep.roll(-1)}


def last_counts(input_ids, labels):
    out = megatron_lists(input_ids, labels)
    return {**out, "loss_mask": [*out["loss_mask"][:-1], 1]}


def ignored_kept(input_ids, labels):
    """-100 stays in the labels."""
    out = megatron_lists(input_ids, labels)
    return {**out, "labels": list(labels[1:]) + [0]}


def mask_not_shifted(input_ids, labels):
    out = megatron_lists(input_ids, labels)
    return {**out, "loss_mask": [int(t != -100) for t in labels]}


def mask_of_ids(input_ids, labels):
    """0 is taken for padding and is masked by id."""
    out = megatron_lists(input_ids, labels)
    marks = [m if t else 0 for m, t in zip(out["loss_mask"], out["labels"], strict=True)]
    return {**out, "loss_mask": marks}


def row_of_seven(input_ids, labels):
    """Right for the row of the chapter; elsewhere nothing counts."""
    out = megatron_lists(input_ids, labels)
    return out if len(input_ids) == 7 else {**out, "loss_mask": [0] * len(input_ids)}


RIGHT = {"12.1": [megatron_lists, megatron_arrays, megatron_loop, megatron_form]}

WRONG = {
    "12.1": [
        Wrong(no_shift, "missing_shift"),
        Wrong(shift_twice, "double_shift"),
        Wrong(rolled, "wraps_around"),
        Wrong(last_counts, "last_position_scored"),
        Wrong(ignored_kept, says="got -100"),
        Wrong(mask_not_shifted, says="loss_mask"),
        Wrong(row_of_seven, says="targets, your loss mask 0"),
        Wrong(up_to(16, lambda ids, labels: len(ids), megatron_lists, mask_of_ids),
              says="long rows"),
        Wrong(lambda ids, labels: megatron_lists(ids, labels)["labels"], says="labels"),
        Wrong(lambda ids, labels: {**megatron_lists(ids, labels), "labels": ids[1:]},
              says="shape"),
    ]
}
