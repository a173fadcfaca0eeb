"""The exit check: the module's questions, answered with letters; typed tasks beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course_lib.exercises import chapter14_typed
from course_lib.exercises.checks import Args, Exact
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Difference, bad
from course_lib.exercises.plain import type_name
from course_lib.exercises.questions import QUESTIONS

LETTERS = "abcd"


@dataclass(frozen=True)
class Choices:
    """One letter for each question: a dict by number, a list, or one text."""

    count: int

    def compare(self, expected: Any, got: Any) -> Difference | None:
        if isinstance(got, dict):
            wanted = set(map(str, range(1, self.count + 1)))
            found = {str(number): letter for number, letter in got.items()}
            odd = sorted(wanted ^ set(found))
            if odd:
                has = "has no" if odd[0] in wanted else "has a"
                return bad(f"your dict {has} question {odd[0]}; there are 1 to {self.count}")
            got = [found[str(number)] for number in range(1, self.count + 1)]
        if isinstance(got, str):
            got = [letter for letter in got if not letter.isspace()]
        if not isinstance(got, list | tuple):
            return bad(f"the answer must be a dict or a text of letters; you gave {type_name(got)}")
        if len(got) != self.count:
            return bad(f"there are {self.count} questions; you gave {len(got)} letters")
        return self._letters(expected, list(got))

    def _letters(self, expected: Any, got: list[Any]) -> Difference | None:
        for number, (wanted, letter) in enumerate(zip(expected, got, strict=True), 1):
            mine = letter.strip().lower() if isinstance(letter, str) else letter
            if not isinstance(mine, str) or len(mine) != 1 or mine not in LETTERS:
                return bad(f"question {number}: {letter!r} is none of a, b, c, d")
            if mine != wanted:
                return Difference(f"question {number}: you chose {mine}", name=f"{number}{mine}")
        return None


def _right() -> str:
    return "".join(question.letter for question in QUESTIONS)


def _but(number: int, value: Any) -> str:
    """The right letters but for one question, where the option with this value is chosen."""
    values = [option.value for option in QUESTIONS[number - 1].options]
    letters = list(_right())
    letters[number - 1] = LETTERS[values.index(value)]
    return "".join(letters)


def _say(args: Args, found: Difference) -> str:
    if not found.name:
        return ""
    number, letter = int(found.name[:-1]), found.name[-1]
    option = QUESTIONS[number - 1].options[LETTERS.index(letter)]
    return f"'{option.text}': {option.say}"


EXERCISES = (
    Exercise(
        id="14.1",
        title="The exit questions",
        objective="Answer the questions that the module ends with.",
        minutes=15,
        difficulty="medium",
        chapter=14,
        idea="each question has its chapter; the sentence above says what the choice means.",
        prompt="Answer the questions that questions() prints: one letter for each.",
        stub="answers = {\n"
        + "\n".join(f"    {i}: ...," for i in range(1, len(QUESTIONS) + 1))
        + "\n}",
        hints=(
            "draw the row: ids, then labels under them, before you count anything.",
            "labels are a copy of the ids. Who moves them, and how often?",
            "a padded document of n tokens has n - 1 targets, none of them padding.",
        ),
        returns=Choices(len(QUESTIONS)),
        reference=_right,
        checks=(Exact("the eight letters"),),
        explain=_say,
        misconceptions={
            "counts_sequences": lambda: _but(1, 2),
            "counts_slots": lambda: _but(1, 8),
            "counts_real_tokens": lambda: _but(2, 6),
            "boundary_masked": lambda: _but(3, ()),
            "missing_shift": lambda: _but(4, 10),
            "one_shift_seen": lambda: _but(5, 20),
            "last_position_scored": lambda: _but(6, (5, 1)),
            "no_document_mask": lambda: _but(7, 5),
            "eos_erased": lambda: _but(8, 1),
            "pad_target": lambda: _but(8, 4),
        },
    ),
    *chapter14_typed.EXERCISES,
)
