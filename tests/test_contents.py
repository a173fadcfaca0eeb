"""The package can say what it holds: every public name, each with a sentence."""

import pytest

import course_lib
from course_lib.contents import first_sentence, public_names, rooms

EVERY = [name for room in rooms() for name in public_names(room)]


def test_every_public_name_of_the_package_is_in_one_room():
    top = [n.address for n in EVERY if n.address.count(".") == 1]
    assert sorted(top) == sorted(f"course_lib.{name}" for name in course_lib.__all__)
    assert len({n.address for n in EVERY}) == len(EVERY)


@pytest.mark.parametrize("name", EVERY, ids=lambda n: n.address)
def test_a_public_name_says_in_a_sentence_what_it_is(name):
    assert name.sentence.endswith("."), "begin its docstring with a sentence"
    assert not name.sentence.startswith(f"{name.name}("), "this text was made by dataclass"


def test_constants_have_the_text_behind_their_assignment():
    texts = {n.name: (n.kind, n.doc) for n in public_names("vocabulary")}
    assert texts["IGNORE_INDEX"][0] == "data" and "cross_entropy" in texts["IGNORE_INDEX"][1]
    assert texts["EOS"] == texts["PAD"] == ("data", "The ids of the seven tokens by name.")
    assert texts["encode"][0] == "function"


def test_a_constant_is_found_where_it_is_assigned():
    (strategies,) = [n for n in public_names("packing") if n.name == "STRATEGIES"]
    assert strategies.address == "course_lib.packing.STRATEGIES"
    assert strategies.sentence.startswith("The names of the packing strategies")


def test_the_table_has_a_line_for_each_name_and_wraps():
    text = repr(public_names("boundaries"))
    assert text.splitlines()[0] == "boundaries: 10 names"
    assert max(map(len, text.splitlines())) <= 88
    assert [line.split()[0] for line in text.splitlines()[1:] if line[0] != " "] == [
        n.name for n in public_names("boundaries")]


def test_an_unknown_room_is_an_error_that_names_the_rooms():
    with pytest.raises(ValueError, match="no room 'mask': vocabulary, boundaries, masks"):
        public_names("mask")


@pytest.mark.parametrize(("doc", "sentence"), [
    ("Return [B, T-1, V], bool. More.", "Return [B, T-1, V], bool."),
    ("Two\nlines.\n\nMore.", "Two lines."), ("Version 1.5 of it. More", "Version 1.5 of it."),
    ("No full stop", "No full stop"), ("", ""),
])
def test_the_first_sentence(doc, sentence):
    assert first_sentence(doc) == sentence
