"""Glued values are read from the notebooks, by the names that the sources give them."""

import shutil

import pytest

from tools.glued import glued, section_of
from tools.notebooks import make_all
from tools.sources import Course, SourceError

COURSE = Course()


def test_the_seeds_of_the_denominators_are_read_by_name():
    values = glued(COURSE, "book/06_denominators")
    assert (values["denominators-token"], values["denominators-slot"]) == ("1.285714", "1.125000")


def test_a_value_has_the_section_that_shows_it_first():
    page = COURSE.pages["book/05_packing"]
    assert section_of(page, "packing-next") == "Vary one thing: the strategy"
    with pytest.raises(SourceError, match="no glued value 'packing-none'"):
        section_of(page, "packing-none")


def test_a_notebook_that_says_something_else_is_an_error(course, tmp_path):
    copy = Course(shutil.copytree(course.root, tmp_path / "copy"))
    name = "book/01_first"
    assert make_all(copy, [name], copy.root) == []
    assert glued(copy, name) == {"mean": "1.286", "words": "hello there"}
    path = copy.pages[name].path
    path.write_text(path.read_text("utf8").replace("The mean is", "Their mean is"), "utf8")
    with pytest.raises(SourceError, match="make notebooks P="):
        glued(Course(copy.root), name)
