"""Every exercise solved to "correct": by mouse, by touch and with the keyboard alone."""

from __future__ import annotations

import pytest

from course_lib.widgets import Denominators, QuickCheck
from tests.widgets.pages import Hand, feedback, strip_answer, workbench_answer

WAYS = ("mouse", "touch", "keyboard")


@pytest.fixture(params=WAYS)
def worked(request, opened):
    """A function that opens an exercise for one way of working it."""

    def start(name: str) -> Hand:
        touch = request.param == "touch"
        return Hand(opened(name, width=390 if touch else 1300, has_touch=touch), request.param)

    return start


def check(hand: Hand, part: str) -> str:
    hand.press(hand.page.locator(f"[data-check={part}]"))
    return feedback(hand.page, part)


def test_the_workbench(worked):
    solve_the_workbench(worked("workbench-a"), workbench_answer("A"))


def test_the_workbench_under_the_other_convention(opened):
    solve_the_workbench(Hand(opened("workbench-b"), "mouse"), workbench_answer("B"))


def solve_the_workbench(hand: Hand, right: dict) -> None:
    steps = hand.page.locator(".cw-step")
    for number, part, columns in ((0, "starts", 8), (2, "mask", 8), (3, "targets", 8)):
        hand.cells(steps.nth(number).locator("[role=grid]"), right[part], columns)
        assert check(hand, part).startswith("✓ Correct.")
    for number, part in ((1, "positions"), (4, "loss")):
        for field, text in zip(steps.nth(number).locator("input").all(), right[part], strict=True):
            hand.write(field, text)
        assert check(hand, part).startswith("✓ Correct.")
    total = hand.page.locator(".cw-foot .cw-progress").inner_text()
    assert total == "✓ All five steps are correct."


def test_the_target_strip(worked):
    hand = worked("strip")
    hand.cells(hand.page.locator("[role=grid]"), strip_answer(), 12)
    assert check(hand, "ignored").startswith("✓ Correct.")
    # two answers with their EOS are left: b eos, a b eos
    assert hand.page.locator(".cw-count strong").inner_text() == str(2 + 3)


def test_denominators(worked):
    hand = worked("denominators")
    right = Denominators().data["parts"][0]["right"]
    hand.cells(hand.page.locator("[role=grid]"), [i for i, on in enumerate(right) if on], 3)
    assert check(hand, "moves").startswith("✓ Correct.")


def test_spot_the_bug(worked):
    hand = worked("bugs")
    words = [b.inner_text() for b in hand.page.locator(".cw-word").all()]
    text = hand.page.locator(".cw-text")
    hand.cells(text, [words.index("prompt", words.index("with")), words.index("keeps")], 10_000)
    answer = check(hand, "words")
    assert answer.startswith("✓ Correct.")
    for said in ("Prompt in the loss", "Padding in the loss", "Why the loss curve hides it"):
        assert said in answer


def test_the_quick_check(worked):
    hand = worked("quick")
    hand.press(hand.page.locator(".cw-option").nth(QuickCheck("shift").data["right"]))
    assert hand.page.locator(".cw-feedback").first.inner_text().startswith("✓ Correct.")


def test_step_through(worked):
    hand = worked("steps")
    titles = [hand.page.locator(".cw-progress").inner_text().split(": ")[1]]
    for _ in range(6):
        hand.press(hand.page.get_by_role("button", name="Next →"))
        titles.append(hand.page.locator(".cw-progress").inner_text().split(": ")[1])
    wanted = ["documents", "input_ids", "masks", "labels", "shifted pairs", "losses", "mean"]
    assert titles == wanted
    assert hand.page.locator(".cw-frame:not([data-hidden])").count() == 1


def test_dragging_paints_the_mask(opened):
    page = opened("workbench-a")
    cells = page.locator(".cw-step").nth(2).locator("button.cw-cell")
    cells.nth(36).scroll_into_view_if_needed()
    first, last = cells.nth(8).bounding_box(), cells.nth(11).bounding_box()
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=2)
    page.mouse.up()
    pressed = [i for i in range(64) if cells.nth(i).get_attribute("aria-pressed") == "true"]
    assert pressed == [8, 9, 10, 11]
    cells.nth(9).click()
    assert cells.nth(9).get_attribute("aria-pressed") == "false", "a click after a drag counts"


def test_shift_and_arrow_paint_by_keyboard(opened):
    page = opened("workbench-a")
    cells = page.locator(".cw-step").nth(2).locator("button.cw-cell")
    cells.first.focus()
    for key in ("Space", "Shift+ArrowDown", "Shift+ArrowRight"):
        page.keyboard.press(key)
    pressed = [i for i in range(64) if cells.nth(i).get_attribute("aria-pressed") == "true"]
    assert pressed == [0, 8, 9]
