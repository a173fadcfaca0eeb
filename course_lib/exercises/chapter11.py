"""Exercise 11.1, the labels of a conversation; the weighted mean stands beside it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from course_lib.exercises import cases, chapter11_weights
from course_lib.exercises.checks import Args, Edges, Exact, Property, Random
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.forms import Numbers, numbers
from course_lib.vocabulary import IGNORE_INDEX, encode

CHAT = encode("<user> a <assistant> b <eos> <user> c <assistant> c a <eos>")
CHAT_TURNS = [3, 2, 3, 3]


def _flags(turn_lengths: list[int], wanted: Callable[[int], bool]) -> list[bool]:
    return [wanted(turn) for turn, n in enumerate(turn_lengths) for _ in range(n)]


def _masked(input_ids: list[int], flags: list[bool], other: int = IGNORE_INDEX) -> list[int]:
    return [token if flag else other for token, flag in zip(input_ids, flags, strict=True)]


def _answer(turn: int) -> bool:
    return turn % 2 == 1


def _labels(input_ids: list[int], turn_lengths: list[int]) -> list[int]:
    return _masked(input_ids, _flags(turn_lengths, _answer))


def _turns_where(wanted: Callable[[int, int], bool]) -> Callable[..., list[int]]:
    """The labels of someone who trains on other turns: `wanted(turn, number of turns)`."""

    def wrong(input_ids: list[int], turn_lengths: list[int]) -> list[int]:
        count = len(turn_lengths)
        return _masked(input_ids, _flags(turn_lengths, lambda turn: wanted(turn, count)))

    return wrong


def _last_answer(turn: int, count: int) -> bool:
    return turn == (count - 2) | 1


def _without(end: int) -> Callable[..., list[int]]:
    """One token of each answer is lost: its first (end = 0) or its last (end = -1)."""

    def wrong(input_ids: list[int], turn_lengths: list[int]) -> list[int]:
        flags: list[bool] = []
        for turn, n in enumerate(turn_lengths):
            part = [_answer(turn)] * n
            if part:
                part[end] = False
            flags += part
        return _masked(input_ids, flags)

    return wrong


def _zeros(input_ids: list[int], turn_lengths: list[int]) -> list[int]:
    return _masked(input_ids, _flags(turn_lengths, _answer), 0)


def _chat(rng: random.Random) -> Args:
    """Up to six turns; a prompt may be empty, and a conversation may end with one."""
    turns = [rng.randint(turn % 2, 4) for turn in range(rng.randint(2, 6))]
    return cases.tokens(rng, sum(turns)), turns


def _long_chat(rng: random.Random) -> Args:
    turns = cases.many_lengths(rng)
    return cases.tokens(rng, sum(turns), 0, cases.MOST_ID), turns


def _answers_kept(value: Any, input_ids: list[int], turn_lengths: list[int]) -> str:
    kept, start = numbers(value) != IGNORE_INDEX, 0
    for turn, n in enumerate(turn_lengths):
        scored = int(kept[start : start + n].sum())
        if scored != (n if _answer(turn) else 0):
            what = "an answer" if _answer(turn) else "a prompt"
            return f"turn {turn} is {what} of {n} tokens, and {scored} of its labels are on"
        start += n
    return ""


EXERCISES = (
    Exercise(
        id="11.1",
        title="The labels of a conversation",
        objective="Train on every answer of a conversation, and on nothing else.",
        minutes=10,
        difficulty="medium",
        chapter=11,
        idea="every second turn is an answer, and all of its tokens are targets, its EOS as well.",
        prompt="A conversation is one list of ids. `turn_lengths` are the lengths of its turns: "
        "prompt, answer, prompt, answer, and so on; a conversation may end with a prompt, and a "
        "prompt may be empty. Return its labels: the id on each answer, -100 elsewhere.",
        stub="def conversation_labels(input_ids, turn_lengths):\n"
        '    """list [T], list of lengths -> labels [T]"""\n    ...',
        hints=(
            "go through the turns with a counter of slots. Where does turn 1 begin and end?",
            "turn numbers start at 0 with a prompt, so answers have the odd numbers.",
            "labels += input_ids[start:start + n] for an answer, else [-100] * n.",
        ),
        returns=Numbers("labels", "int", ("slot",)),
        reference=_labels,
        checks=(
            Exact(
                "two questions and answers, an open question, an empty prompt",
                lambda: [
                    (list(CHAT), list(CHAT_TURNS)),
                    (encode("<user> a <assistant> b <eos> <user> c"), [3, 2, 2]),
                    (encode("b <eos> <user> c <assistant> a <eos>"), [0, 2, 3, 2]),
                ],
            ),
            Property("answers on, prompts off", _chat, _answers_kept),
            Random("20 random conversations", _chat),
            Edges(
                "one turn, ids of 0, and long conversations",
                lambda: [([3], [1]), ([3, 2], [0, 2]), ([0, 0, 0, 4], [1, 1, 1, 1])],
                _long_chat,
            ),
        ),
        misconceptions={
            "only_first_prompt_masked": _turns_where(lambda turn, count: turn > 0),
            "only_last_answer": _turns_where(_last_answer),
            "answers_masked": _turns_where(lambda turn, count: not _answer(turn)),
            "turn_end_masked": _without(-1),
            "first_answer_masked": _without(0),
            "prompts_scored": _turns_where(lambda turn, count: True),
            "zero_for_ignored": _zeros,
        },
    ),
    *chapter11_weights.EXERCISES,
)
