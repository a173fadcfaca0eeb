"""Exercise of chapter 1: the two-sequence preview, read to its end."""

from __future__ import annotations

from course_lib.batch import Batch
from course_lib.exercises.checks import Exact
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import One
from course_lib.padding import pad_documents

DOCUMENTS = [[1, 2, 3], [1, 1]]
SLOTS = 5


def _batch() -> Batch:
    return pad_documents(DOCUMENTS, length=SLOTS)


EXERCISES = (
    Exercise(
        id="1.1",
        title="Read the preview",
        objective="Count the predictions that a padded batch scores.",
        minutes=3,
        difficulty="easy",
        chapter=1,
        idea="a prediction is scored where the slot to its right holds a real token.",
        prompt="Two documents are padded to 5 slots. How many predictions does the loss score?",
        stub="targets = ...",
        hints=(
            "write the labels of both rows, -100 on padding.",
            "drop the first label of each row: no prediction of the row stands before it.",
            "count what is left and is not -100, in both rows together.",
        ),
        returns=One("the number of targets"),
        reference=lambda: _batch().num_targets,
        checks=(Exact("the number of scored predictions"),),
        misconceptions={
            "counts_real_tokens": lambda: int(_batch().attention_mask.sum()),
            "counts_slots": lambda: _batch().num_slots,
            "counts_predictions": lambda: _batch().target_mask.numel(),
            "counts_sequences": lambda: len(DOCUMENTS),
        },
        given=lambda: {"documents": [list(d) for d in DOCUMENTS], "slots": SLOTS},
    ),
)
