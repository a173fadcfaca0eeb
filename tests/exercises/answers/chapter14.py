"""Right and wrong answers to the exit questions."""

import numpy as np

from tests.exercises.wrong import Wrong

RIGHT_LETTERS = "dbcadcdb"


def but(number, letter):
    return RIGHT_LETTERS[: number - 1] + letter + RIGHT_LETTERS[number:]


RIGHT = {
    "14.1": [
        RIGHT_LETTERS,
        dict(enumerate(RIGHT_LETTERS, 1)),
        {str(number): letter for number, letter in enumerate(RIGHT_LETTERS, 1)},
        list(RIGHT_LETTERS.upper()),
        "d b c a  d c d b",
        np.array(list(RIGHT_LETTERS)),
    ]
}

WRONG = {
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
    ]
}
