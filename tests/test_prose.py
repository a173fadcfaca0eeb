"""Numbers in prose: their text, and that a reader outside of a build sees nothing."""

import pytest
import torch

from course_lib.prose import as_text, glue


@pytest.mark.parametrize(("value", "fmt", "text"), [
    (7, None, "7"), (9 / 7, ".3f", "1.286"), (0.875, ".1%", "87.5%"), (10**6, ",", "1,000,000"),
    (torch.tensor(1.5), ".2f", "1.50"), (torch.tensor([1, 2]), None, "[1, 2]"),
    ("hello there", None, "hello there"),
])
def test_as_text(value, fmt, text):
    assert as_text(value, fmt) == text


@pytest.mark.parametrize("value", ["", " ", "two\nlines"])
def test_a_value_that_is_no_line_of_text_is_refused(value):
    with pytest.raises(ValueError, match="one line of text"):
        glue("name", value)


def test_a_reader_sees_nothing(monkeypatch, capsys):
    monkeypatch.delenv("COURSE_GLUE", raising=False)
    glue("mean", 1)
    assert capsys.readouterr().out == ""


def test_a_build_stores_the_text(monkeypatch):
    stored = {}
    monkeypatch.setenv("COURSE_GLUE", "1")
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: stored.update({name: value}))
    glue("mean", 9 / 7, ".3f")
    assert stored == {"mean": "1.286"}
