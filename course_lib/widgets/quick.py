"""Quick check: one question, a few options, and for each of them the thought behind it."""

from __future__ import annotations

import textwrap

from course_lib.inputs import choice
from course_lib.widgets.base import CourseWidget
from course_lib.widgets.parts import Verdict
from course_lib.widgets.questions import QUESTIONS


class QuickCheck(CourseWidget):
    """A question with options; `question` is a key of `QUESTIONS`, one for each chapter.

    Every wrong option names the misconception that leads to it.

    >>> QuickCheck("global-mean").data["right"]
    2
    """

    module = "quick"

    def __init__(self, question: str) -> None:
        found = QUESTIONS[choice(question, "question", tuple(QUESTIONS))]()
        options = [vars(option) for option in found.options]
        right = [i for i, option in enumerate(found.options) if not option.misconception]
        data = {
            "title": "Quick check", "question": found.text, "options": options, "right": right[0],
        }  # fmt: skip
        lines = [
            textwrap.fill(f"{'ABCDE'[i]}) {o.text.replace('`', '')}", 46, subsequent_indent="   ")
            for i, o in enumerate(found.options)
        ]
        super().__init__(data, "\n".join(lines))

    def result(self) -> Verdict:
        """Return the verdict on the chosen option."""
        chosen = self.answer.get("choice")
        if chosen is None:
            return Verdict({"choice": None})
        wrong = chosen != self.data["right"]
        return Verdict({"choice": [(chosen, self.data["options"][chosen]["why"])] if wrong else []})
