"""Spot the bug: read a set-up, mark the words that are wrong, learn why the loss curve hides it."""

from __future__ import annotations

import re
import textwrap

from course_lib.inputs import choice
from course_lib.widgets.base import CourseWidget
from course_lib.widgets.parts import Verdict
from course_lib.widgets.setups import SETUPS

NEUTRAL = "nothing is wrong here: this is how it should be"
_COUNT = ("No", "One", "Two", "Three", "Four")
MISSED = "an error that is not marked yet"


class SpotTheBug(CourseWidget):
    """A training set-up in plain words, some of which are wrong; `setup` is a key of `SETUPS`.

    Any word of an error finds it; a word outside every error counts against the answer.

    >>> SpotTheBug("double-shift").data["errors"][0]["name"]
    'labels shifted in the collator'
    """

    module = "bugs"

    def __init__(self, setup: str = "no-document-mask") -> None:
        found = SETUPS[choice(setup, "setup", tuple(SETUPS))]
        words, owner = split_words(found.text)
        errors = [vars(e) for e in found.errors]
        count = "One thing is" if len(errors) == 1 else f"{_COUNT[len(errors)]} things are"
        data = {
            "title": f"Spot the bug: {found.title}",
            "question": f"{count} wrong in this set-up. Click words that contain an error; click "
            "again to unmark.",
            "words": words, "owner": owner, "errors": errors, "fine": list(found.fine),
            "neutral": NEUTRAL, "evidence": found.evidence(),
            "hints": list(found.hints),
        }  # fmt: skip
        plain = re.sub(r"[\[\]{}]{2}", "", found.text)
        super().__init__(data, "\n".join(_wrap(plain)) + "\n\nWhat is wrong, and why is it silent?")

    def result(self) -> Verdict:
        """Return the verdict on the marked words."""
        marked = self.answer.get("words")
        return Verdict({"words": None if marked is None else self._judge(marked)})

    def _judge(self, marked: list[int]) -> list[tuple[int, str]]:
        owner, errors = self.data["owner"], self.data["errors"]
        wrong = [(i, self._fine(owner[i])) for i, on in enumerate(marked) if on and owner[i] < 0]
        hit = {owner[i] for i, on in enumerate(marked) if on}
        return wrong + [(owner.index(e), MISSED) for e in range(len(errors)) if e not in hit]

    def _fine(self, owner: int) -> str:
        return NEUTRAL if owner == -1 else self.data["fine"][-2 - owner]


def split_words(text: str) -> tuple[list[str], list[int]]:
    """Return the words and the owner of each: error k, -1 for none, -2-j for the j-th {{…}}.

    >>> split_words("an [[odd thing]] {{here}}")
    (['an', 'odd', 'thing', 'here'], [-1, 0, 0, -2])
    """
    words: list[str] = []
    owner: list[int] = []
    counts = {"[[": 0, "{{": 0}
    for piece in re.split(r"(\[\[.+?\]\]|\{\{.+?\}\})", text, flags=re.S):
        mark, who = piece[:2], -1
        if mark in counts:
            who = counts[mark] if mark == "[[" else -2 - counts[mark]
            counts[mark] += 1
            piece = piece[2:-2]
        words += piece.split()
        owner += [who] * len(piece.split())
    return words, owner


def _wrap(text: str, width: int = 46) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), width)
