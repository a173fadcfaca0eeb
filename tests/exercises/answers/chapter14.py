"""Right and wrong answers to the exit questions."""

import numpy as np
import torch

from course_lib import pad_documents
from tests.exercises.wrong import Wrong

RIGHT_LETTERS = "dbcadcdb"


def but(number, letter):
    return RIGHT_LETTERS[: number - 1] + letter + RIGHT_LETTERS[number:]


PADDED = {
    "input_ids": [[1, 2, 0], [3, 0, 0], [4, 5, 6]],
    "attention_mask": [[1, 1, 0], [1, 0, 0], [1, 1, 1]],
    "labels": [[1, 2, -100], [3, -100, -100], [4, 5, 6]],
    "targets": [[2, -100], [-100, -100], [5, 6]],
    "count": 3,
}
LEFT = {
    "input_ids": [[0, 1, 2], [0, 0, 3], [4, 5, 6]],
    "attention_mask": [[0, 1, 1], [0, 0, 1], [1, 1, 1]],
    "labels": [[-100, 1, 2], [-100, -100, 3], [4, 5, 6]],
    "targets": [[1, 2], [-100, 3], [5, 6]],
}
PROMPT = {
    "input_ids": [1, 5],
    "after_a_block": [1, 5, 4],
    "sampled_column": 4,
    "terms": 4,
    "first_pair": [0, 1],
}


def left_count():
    """Padding on the left leaves the course's own count: what has a token before it."""
    return pad_documents([[1, 2], [3], [4, 5, 6]], side="left").num_targets


def targets_left():
    batch = pad_documents([[1, 2], [3], [4, 5, 6]], side="left")
    return LEFT | {"labels": batch.labels, "targets": batch.labels[:, 1:], "count": left_count()}


RIGHT = {
    "14.2": [
        PADDED,
        {name: torch.tensor(value) for name, value in PADDED.items()},
        {name: np.array(value) for name, value in PADDED.items()},
        PADDED | {"attention_mask": torch.tensor(PADDED["attention_mask"]).bool()},
    ],
    "14.3": [
        {"a": "pads", "b": "copies", "c": "right"},
        dict(c="right", b="copies", a="pads"),
        dict(zip("abc", ("pads", "copies", "right"), strict=True)),
    ],
    "14.4": [
        PROMPT,
        PROMPT | {"input_ids": (1, 5), "after_a_block": torch.Size([1, 5, 4])},
        {name: torch.tensor(value) for name, value in PROMPT.items()},
    ],
    "14.1": [
        RIGHT_LETTERS,
        dict(enumerate(RIGHT_LETTERS, 1)),
        {str(number): letter for number, letter in enumerate(RIGHT_LETTERS, 1)},
        list(RIGHT_LETTERS.upper()),
        "d b c a  d c d b",
        np.array(list(RIGHT_LETTERS)),
    ],
}

WRONG = {
    "14.2": [
        Wrong(targets_left(), "pads_left"),
        Wrong(PADDED | {"attention_mask": [[0, 0, 1], [0, 1, 1], [0, 0, 0]]}, "mask_inverted"),
        Wrong(PADDED | {"attention_mask": [[1] * 3] * 3}, "all_ones"),
        Wrong(PADDED | {"labels": PADDED["input_ids"]}, "pad_target"),
        Wrong(
            PADDED | {"labels": [[2, -100, -100], [-100, -100, -100], [5, 6, -100]]},
            "collator_shifts",
        ),
        Wrong(PADDED | {"targets": [[-100, -100], [-100, -100], [6, -100]]}, "double_shift"),
        Wrong(PADDED | {"count": 6}, "counts_real_tokens"),
        Wrong(PADDED | {"count": 9}, "counts_slots"),
        Wrong(PADDED | {"count": 4}, says="count got 4"),
        Wrong(PADDED | {"targets": [[2, -100, 5]]}, says="shape of targets"),
        Wrong({"input_ids": PADDED["input_ids"]}, says="the dict has no 'attention_mask'"),
        Wrong(PADDED["labels"], says="must be a dict"),
    ],
    "14.3": [
        Wrong({"a": "right", "b": "right", "c": "right"}, "always_fine"),
        Wrong({"a": "right", "b": "copies", "c": "right"}, "pad_target"),
        Wrong({"a": "pads", "b": "right", "c": "right"}, "missing_shift"),
        Wrong({"a": "pads", "b": "copies", "c": "copies"}, "loss_shift_is_the_fault"),
        Wrong({"a": "copies", "b": "pads", "c": "right"}, says="a got copies"),
        Wrong({"a": "pads", "b": "copies", "c": "pads"}, says="c got pads"),
        Wrong({"a": "wrong", "b": "copies", "c": "right"}, says="must be one of 'right'"),
        Wrong("c", says="must be a dict"),
    ],
    "14.4": [
        Wrong(PROMPT | {"terms": 5}, "last_position_scored"),
        Wrong(PROMPT | {"first_pair": [0, 0]}, "missing_shift"),
        Wrong(PROMPT | {"first_pair": [0, 2]}, "double_shift"),
        Wrong(PROMPT | {"first_pair": [1, 0]}, "shift_backwards"),
        Wrong(PROMPT | {"sampled_column": 5}, says="sampled_column got 5"),
        Wrong(PROMPT | {"sampled_column": 0}, says="sampled_column got 0"),
        Wrong(PROMPT | {"after_a_block": [1, 4]}, says="shape of after_a_block"),
        Wrong(PROMPT | {"after_a_block": [1, 4, 4]}, says="after_a_block: axis 1"),
        Wrong(PROMPT | {"input_ids": 5}, says="input_ids"),
        Wrong(5, says="must be a dict"),
    ],
    "14.1": [
        Wrong(but(1, "a"), "counts_sequences", says="question 1: you chose a"),
        Wrong(but(1, "b"), "counts_slots"),
        Wrong(but(1, "c"), says="the targets of the other document count, too"),
        Wrong(but(2, "a"), "counts_real_tokens"),
        Wrong(but(2, "c"), says="that counts slots"),
        Wrong(but(3, "a"), "boundary_masked"),
        Wrong(but(3, "d"), says="behind the last EOS comes padding"),
        Wrong(but(4, "b"), "missing_shift"),
        Wrong(but(5, "b"), "one_shift_seen"),
        Wrong(but(6, "b"), "last_position_scored"),
        Wrong(but(7, "a"), "no_document_mask"),
        Wrong(but(8, "a"), "eos_erased"),
        Wrong(but(8, "c"), "pad_target"),
        Wrong("aaaabbbb", says="Why: '2, the documents'"),
        Wrong(RIGHT_LETTERS[:7], says="there are 8 questions; you gave 7 letters"),
        Wrong(but(4, "e"), says="question 4: 'e' is none of a, b, c, d"),
        Wrong([*RIGHT_LETTERS[:7], "ab"], says="question 8: 'ab' is none of"),
        Wrong([*RIGHT_LETTERS[:7], 2], says="question 8: 2 is none of"),
        Wrong([*RIGHT_LETTERS[:7], ""], says="question 8: '' is none of"),
        Wrong(dict(enumerate(RIGHT_LETTERS)), says="your dict has a question 0"),
        Wrong({1: "d"}, says="your dict has no question 2"),
        Wrong(42, says="you gave a whole number"),
    ],
}
