"""Every exercise of the built pages: wrong answers explained, then solved in three ways.

What is right and how many cells are wrong comes from `course_lib`, which makes each exercise again
from the page's source, and not from the page.
"""

from __future__ import annotations

import json

import pytest

from tests.site.visit import visit
from tests.widgets.pages import Hand
from tests.widgets.sources import exercises_of
from tools.browser import NARROW, WIDE
from tools.course_site.progress import NOT_SOLVED
from tools.sources import ROOT, toc_names

EXERCISES = {name: exercises_of(ROOT / f"{name}.md") for name in toc_names()
             if name.startswith("book/")}  # fmt: skip
PAGES = [name for name, found in EXERCISES.items() if found]
FIRST = toc_names()[0]


def hosts(page, name: str) -> list:
    """The exercises on the page, as many as the source has."""
    found = page.locator(".course-widget[data-ready]").all()
    assert len(found) == len(EXERCISES[name])
    return found


def field_of(host, part: str):
    """The step or exercise that holds the Check button of `part`."""
    near = "xpath=ancestor::*[contains(@class, 'cw-step') or @class='cw'][1]"
    return host.locator(f"[data-check={part}]").locator(near)


def press(buttons, wanted: list[int]) -> None:
    buttons.evaluate_all("(buttons, wanted) => wanted.forEach((i) => buttons[i].click())", wanted)


def test_the_course_has_exercises():
    assert {w.module for found in EXERCISES.values() for w in found} == {
        "bugs", "calculator", "denominators", "quick", "steps", "strip", "workbench"}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_wrong_answers_get_the_kernels_verdict(chromium, server, name):
    url = f"{server}/{name}.html"
    with visit(chromium, url, server, scheme="light", size=WIDE) as seen:
        for widget, host in zip(EXERCISES[name], hosts(seen.page, name), strict=True):
            for part in widget.data.get("parts", ()):
                for value in wrong_values(part):
                    judge_part(host, widget, part, value)
            if widget.module == "quick":
                judge_options(host, widget)
            if widget.module == "bugs":
                judge_words(host, widget)
        assert seen.errors == []


def wrong_values(part: dict) -> list[list]:
    """Three wrong answers: nothing, everything, and the right one with a single mistake."""
    right = part["right"]
    if part["kind"] == "number":
        return [[""] * len(right), ["99"] * len(right), ["98", *map(str, right[1:])]]
    last = [*right[:-1], 1 - right[-1]]
    return [v for v in ([0] * len(right), [1] * len(right), last) if v != right]


def judge_part(host, widget, part: dict, value: list) -> None:
    field = field_of(host, part["id"])
    if part["kind"] == "number":
        for entry, text in zip(field.locator("input").all(), value, strict=True):
            entry.fill(text)
    else:
        cells = field.locator("button.cw-cell")
        now = cells.evaluate_all("all => all.map(b => b.getAttribute('aria-pressed') === 'true')")
        press(cells, [i for i, on in enumerate(now) if on != bool(value[i])])
    host.locator(f"[data-check={part['id']}]").click()
    widget.answer = {part["id"]: value}
    wrong = widget.result().parts[part["id"]]
    assert wrong
    box = field.locator(f"[data-check={part['id']}]").locator(
        "xpath=../following-sibling::*[contains(@class, 'cw-feedback')][1]")  # fmt: skip
    if not any(value):  # its missing cells would be the answer
        assert box.inner_text() == "Nothing is filled in yet."
        assert field.locator("[data-wrong='']").count() == 0
        return
    assert int(box.get_attribute("data-wrong")) == len(wrong)
    told = box.inner_text().lower()
    assert all(reason.replace("`", "").lower() in told for _, reason in wrong)
    assert field.locator("[data-wrong='']").count() == len(wrong)


def judge_options(host, widget) -> None:
    for i, option in enumerate(widget.data["options"]):
        host.locator(".cw-option").nth(i).click()
        told = host.locator(".cw-feedback").first.inner_text()
        assert option["why"].replace("`", "") in told
        assert option["misconception"].replace("`", "") in told
        assert told.startswith("✓") == (i == widget.data["right"])


def judge_words(host, widget) -> None:
    words = host.locator(".cw-word")
    right = [int(owner >= 0) for owner in widget.data["owner"]]
    for value in ([0] * len(right), [1] * len(right), [1 - r for r in right]):
        now = words.evaluate_all("all => all.map(b => b.getAttribute('aria-pressed') === 'true')")
        press(words, [i for i, on in enumerate(now) if on != bool(value[i])])
        host.locator("[data-check=words]").click()
        widget.answer = {"words": value}
        wrong = widget.result().parts["words"]
        box = host.locator(".cw-feedback").first
        owner = widget.data["owner"]  # words marked side by side are one place
        joined = sum(bool(a and b and i == j < 0) for a, b, i, j in zip(
            value, value[1:], owner, owner[1:], strict=False))
        assert int(box.get_attribute("data-wrong")) == len(wrong) - joined > 0
        for k, error in enumerate(widget.data["errors"]):
            found = any(v and o == k for v, o in zip(value, widget.data["owner"], strict=True))
            assert (error["hides"].replace("`", "") in box.inner_text()) == found


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
@pytest.mark.parametrize("name", PAGES)
def test_every_exercise_can_be_solved(chromium, server, name, way):
    size = NARROW if way == "touch" else WIDE
    url = f"{server}/{name}.html"
    with visit(chromium, url, server, scheme="light", size=size, has_touch=way == "touch") as seen:
        hand = Hand(seen.page, way)
        for widget, host in zip(EXERCISES[name], hosts(seen.page, name), strict=True):
            host.scroll_into_view_if_needed()
            host.locator("button").first.focus()
            solve(hand, widget, host)
        kept = seen.page.evaluate("Object.values(localStorage)")
        assert len([k for k in kept if k.startswith("{")]) >= len(EXERCISES[name])
        line = seen.page.locator(".course-progress:not([data-whole])")
        if any(widget.module not in NOT_SOLVED for widget in EXERCISES[name]) and name != FIRST:
            assert line.inner_text().startswith("✓"), "solved, but not counted"
        assert seen.errors == []


def solve(hand: Hand, widget, host) -> None:
    """Solve one exercise and hold what the reader sees to the verdict of Python."""
    if widget.module == "quick":
        hand.press(host.locator(".cw-option").nth(widget.data["right"]))
        assert host.locator(".cw-feedback").first.inner_text().startswith("✓ Correct.")
    elif widget.module == "steps":
        for _ in widget.data["frames"][1:]:
            hand.press(host.get_by_role("button", name="Next →"))
        assert widget.data["frames"][-1]["title"] in host.locator(".cw-progress").inner_text()
    elif widget.module == "calculator":
        hand.press(host.locator(".cw-preset").nth(2))
        hand.write(host.locator("input").first, "1500")
        hand.press(host.locator("[data-check=costs]"))
        widget.answer = {"given": {"text": widget.data["presets"][2][1], "capacity": "1500"}}
        used = f"{widget.costs().utilization('first_fit'):.1%}"[:-2]
        assert used in host.locator("tbody tr").nth(4).inner_text()
    elif widget.module == "bugs":
        owner = widget.data["owner"]
        first = [owner.index(k) for k in range(len(widget.data["errors"]))]
        hand.cells(host.locator(".cw-text"), first, 10_000)
        hand.press(host.locator("[data-check=words]"))
        assert host.locator(".cw-feedback").first.inner_text().startswith("✓ Correct.")
        assert widget.data["evidence"].replace("`", "") in host.inner_text()
    for part in widget.data.get("parts", ()):
        field = field_of(host, part["id"])
        if part["kind"] == "number":
            for entry, value in zip(field.locator("input").all(), part["right"], strict=True):
                hand.write(entry, f"{value:g}")
        else:
            wanted = [i for i, on in enumerate(part["right"]) if on]
            columns = part.get("cols", len(part["right"]))
            hand.cells(field.locator("[role=grid]"), wanted, columns)
        hand.press(host.locator(f"[data-check={part['id']}]"))
        box = field.locator(".cw-feedback[data-kind=good]")
        assert part["done"].replace("`", "") in box.inner_text()


@pytest.mark.parametrize("name", PAGES)
def test_the_state_of_a_page_is_its_data(html, name):
    """A page carries exactly what Python computed, so that nothing is decided in the browser."""
    text = (html / f"{name}.html").read_text("utf8")
    start = '<script type="application/json">'
    shipped = [json.loads(piece.split("</script>")[0])["data"] for piece in text.split(start)[1:]]
    assert shipped == [widget.data for widget in EXERCISES[name]]
