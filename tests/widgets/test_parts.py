"""Judging an answer: Python's rules, and that the page judges by the very same ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.widgets import Verdict, Workbench
from course_lib.widgets.assets import ESM
from course_lib.widgets.parts import judge, numbers, parse, toggles

TEXTS = ["", " ", "0", "-1", "−1", "1.5", "1,5", "3/2", " 9 / 7", "1/0", "x", "1e3", "--1", "1/2/3",
         "7.", ".5", "+2", "1.2857"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [("9/7", 9 / 7), ("1,5", 1.5), ("−1", -1), (" 3 / 2 ", 1.5), (".5", 0.5), ("1/0", None),
     ("1e3", None), ("nan", None), ("", None), ("1/2/3", None), ("½", None)],
)  # fmt: skip
def test_numbers_as_people_write_them(text, value):
    assert parse(text) == value


def test_a_toggle_part_names_the_reason_of_each_wrong_cell():
    say = {"own": ("", "gap"), "future": ("late", "")}
    part = toggles("t", [1, 0, 0], ["own", "future", "future"], say, free=[2])
    assert judge(part, [0, 1, 1]) == [(0, "gap"), (1, "late")]
    assert judge(part, [1, 0, 1]) == []
    assert judge(part, None) is None


def test_a_number_part_knows_its_traps():
    part = numbers("n", [1, -1], ["wrong", "wrong"], traps={0: [(2, "one too many")]}, blank=[1])
    assert judge(part, ["2", ""]) == [(0, "one too many")]
    assert judge(part, ["3", "-1"]) == [(0, "wrong")]
    assert judge(part, ["", "x"])[0] == (0, "nothing is entered here")


def test_a_trap_that_is_right_by_chance_is_no_trap():
    part = numbers("n", [2], ["wrong"], traps={0: [(2, "one too many")]})
    assert part["traps"] == [[]] and judge(part, ["2"]) == []


def test_a_verdict_says_what_is_wrong():
    verdict = Verdict({"a": None, "b": [], "c": [(3, "late")]})
    assert not verdict.ok
    assert str(verdict) == "a: not attempted yet\nb: correct\nc: 1 wrong, first at 3: late"


@pytest.fixture(scope="module")
def judged_by_the_page(chromium):
    """The function `judge` of `_shared.js`, called in a browser."""
    page = chromium.new_page()
    source = (ESM / "_shared.js").read_text("utf8")
    page.evaluate(f"() => {{ {source}\n window.judge = judge; window.parse = parse; }}")
    yield lambda part, value: [
        (w["i"], w["msg"]) for w in page.evaluate("([p, v]) => judge(p, v)", [part, value])
    ]
    page.close()


def test_the_page_judges_as_python_does(judged_by_the_page):
    parts = Workbench([[1, 2, 3], [1, 1]], 8, boundary="B").data["parts"]

    @settings(max_examples=60)
    @given(st.data())
    def agree(data):
        part = data.draw(st.sampled_from(parts))
        one = st.sampled_from([0, 1]) if part["kind"] == "toggle" else st.sampled_from(TEXTS)
        size = len(part["right"])
        value = data.draw(st.lists(one, min_size=size, max_size=size))
        assert judged_by_the_page(part, value) == judge(part, value)

    agree()
