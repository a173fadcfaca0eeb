"""The toy languages are what their descriptions say, and the same for one seed."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from course_lib.languages import LANGUAGES, toy_documents
from course_lib.vocabulary import decode

GRAMMAR = {
    "repeat": r"([abc])( \1){1,4} <eos>",
    "cycle": r"[abc]( [abc]){2,5} <eos>",
    "echo": r"<user> ([abc]) <assistant> \1 <eos>",
    "shared": r"<user> <assistant> [abc] <eos>",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_document_follows_its_grammar(language: str) -> None:
    texts = {decode(d) for d in toy_documents(language, 300, seed=1)}
    assert all(re.fullmatch(GRAMMAR[language], text) for text in texts)
    assert len(texts) == {"repeat": 12, "cycle": 12, "echo": 3, "shared": 3}[language]


def test_a_cycle_goes_round() -> None:
    for document in toy_documents("cycle", 100):
        letters = document[:-1]
        assert all(after == before % 3 + 1 for before, after in pairwise(letters))


def test_documents_of_a_group_share_their_letter_and_groups_do_not() -> None:
    documents = toy_documents("shared", 60, group=3)
    groups = [{tuple(d) for d in documents[i : i + 3]} for i in range(0, 60, 3)]
    assert all(len(group) == 1 for group in groups)
    assert len(set.union(*groups)) == 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_seed_decides(language: str) -> None:
    first = toy_documents(language, 40, seed=5)
    assert first == toy_documents(language, 40, seed=5)
    assert first[:10] == toy_documents(language, 10, seed=5)
    assert first != toy_documents(language, 40, seed=6)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="'repeat', 'cycle', 'echo', 'shared'; got 'latin'"):
        toy_documents("latin", 1)
    with pytest.raises(ValueError, match="count must be at least 1"):
        toy_documents("echo", 0)
