"""Wrong answers, each refused with the sentence that is meant for it."""

from __future__ import annotations

import pytest

from tests.widgets.pages import feedback, strip_answer, workbench_answer

RIGHT = workbench_answer("A")
CAUSAL = [q * 8 + k for q in range(8) for k in range(q + 1)]

WORKBENCH = [
    # part, what is entered, what must be said, what must not be said
    ("starts", [0], "Missing: a document begins here", "Padding"),
    ("starts", [0, 2, 4], "Inside a document: this token continues", "Missing"),
    ("starts", [0, 4, 7], "Padding: it belongs to no document", "Missing"),
    ("positions", [*"0123456", ""], "This counts on from the document before", "one too many"),
    ("positions", [*"1234123", ""], "One too many: the first token", "counts on"),
    ("positions", [*"01230120"], "A 0 here reads as the beginning of one more document", "missing"),
    ("positions", [*"0123012x"], "This is not a number", "padding"),
    ("positions", ["0", *[""] * 7], "Nothing is entered here (slot 1; slot 2; slot 3 and 3 more)",
     "slot 7"),
    ("mask", list(range(64)), "Future: the key stands after the query", "Missing"),
    ("mask", CAUSAL, "Other document: the key belongs to a document", "Future"),
    ("mask", [*RIGHT["mask"], 63], "Padding: a padding slot neither attends", "Other document"),
    ("mask", RIGHT["mask"][1:], "Missing: the key is in the same document", "padding"),
    ("targets", [0, *RIGHT["targets"]], "First slot of the row: no prediction", "Missing"),
    ("targets", [*RIGHT["targets"], 7], "Padding: scoring it would teach", "Missing"),
    ("targets", [1, 2, 3, 5, 6], "Under A the first token of a later document is scored",
     "Padding"),
    ("loss", [RIGHT["loss"][0], "8"], "This counts all slots", "every loss"),
    ("loss", [RIGHT["loss"][0], "7"], "This counts every prediction", "every loss"),
    ("loss", [RIGHT["loss"][0], "2"], "This counts documents", "every loss"),
    ("loss", ["9", "6"], "This adds every loss, also where no target is", "count"),
    ("loss", ["5/6", "6"], "This is the mean already", "count"),
]  # fmt: skip


def enter(page, part: str, answer: list) -> None:
    """Put an answer into the part as a reader would leave it, through the part's own controls."""
    step = page.locator(".cw-step", has=page.locator(f"[data-check={part}]")).last
    if isinstance(answer[0], str):
        for field, text in zip(step.locator("input").all(), answer, strict=True):
            field.fill(text)
    else:
        press(step.locator("button.cw-cell"), answer)
    page.locator(f"[data-check={part}]").click()


def press(buttons, wanted: list[int]) -> None:
    buttons.evaluate_all("(buttons, wanted) => wanted.forEach((i) => buttons[i].click())", wanted)


@pytest.mark.parametrize("case", WORKBENCH, ids=lambda case: f"{case[0]}-{case[2][:30]}")
def test_the_workbench_says_why(opened, case):
    part, answer, said, unsaid = case
    page = opened("workbench-a")
    enter(page, part, answer)
    told = feedback(page, part)
    assert told.startswith("✗"), told
    assert said.lower() in told.lower()
    assert unsaid.lower() not in told.lower()
    step = page.locator(".cw-step", has=page.locator(f"[data-check={part}]"))
    marked = step.locator("[data-wrong='']").count()
    assert marked == int(told.split()[1]), "each wrong cell is marked"
    assert "done" not in step.locator(".cw-state").inner_text()


def test_convention_b_refuses_the_boundary_target(opened):
    page = opened("workbench-b")
    enter(page, "targets", workbench_answer("A")["targets"])
    assert "under B the first token of a later document is not scored" in feedback(page, "targets")


def test_a_changed_cell_takes_the_verdict_back(opened):
    page = opened("workbench-a")
    enter(page, "starts", [0])
    page.locator(".cw-step").first.locator("button.cw-cell").nth(4).click()
    assert feedback(page, "starts") == ""
    page.locator("[data-check=starts]").click()
    assert feedback(page, "starts").startswith("✓ Correct.")


STRIP = strip_answer()


@pytest.mark.parametrize(
    ("ignored", "said"),
    [
        ([t for t in STRIP if t < 3], "Prompt: the model is given it"),
        ([*STRIP, 4], "EOS is part of the answer"),
        ([*STRIP, 3], "The model has to write this token"),
        ([t for t in STRIP if t != 11], "Padding: scoring it would teach"),
    ],
)
def test_the_strip_says_why(opened, ignored, said):
    page = opened("strip")
    press(page.locator("button.cw-cell"), ignored)
    page.locator("[data-check=ignored]").click()
    told = feedback(page, "ignored")
    assert told.startswith("✗") and said in told


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ([0], "No arrangement moves it: its sum and its count are those of the targets"),
        ([3 * 3 + 2], "It counts the predictions of all rows"),
        ([2 * 3], "It can move: its count is the number of predictions"),
        ([4 * 3 + 1], "Padding holds no target"),
    ],
)
def test_denominators_says_why(opened, marked, said):
    page = opened("denominators")
    press(page.locator("[role=grid] button"), marked)
    page.locator("[data-check=moves]").click()
    told = feedback(page, "moves")
    assert told.startswith("✗") and said.lower() in told.lower()


def test_denominators_shows_which_mean_moves(opened):
    page = opened("denominators")
    values = page.locator(".cw-mean strong")
    assert values.all_inner_texts() == ["1.286", "1.500", "1.500", "0.900", "1.286"]
    page.get_by_role("button", name="Document B: row 0").click()
    assert values.all_inner_texts() == ["1.286", "1.500", "1.286", "1.125", "1.286"]
    page.get_by_role("button", name="Extra padding: 2").click()
    assert values.all_inner_texts()[3] == "0.900"  # nine by ten predictions once more
    page.get_by_role("button", name="Document B: row 1").click()
    page.get_by_role("button", name="Micro-batches: one for each row").click()
    assert values.all_inner_texts() == ["1.286", "1.500", "1.500", "0.643", "1.500"]
    assert "slot mean, mean of micro-batch means" in page.locator(".cw-progress").inner_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["conversation:"], "Nothing is wrong here"),
        (["attention"], "Keys that are padding must not be seen"),
        (["divides"], "This is the token mean, once the labels are right"),
        (["prompt,"], "2 errors are not marked yet"),
        (["keeps"], "One error is not marked yet"),
    ],
)
def test_spot_the_bug_says_why(opened, words, said):
    page = opened("bugs")
    for word in words:
        page.locator(".cw-word", has_text=word).first.click()
    page.locator("[data-check=words]").click()
    told = feedback(page, "words")
    assert told.startswith("✗") and said.lower() in told.lower()


def test_a_word_is_unmarked_by_a_second_click(opened):
    page = opened("bugs")
    word = page.locator(".cw-word").nth(3)
    word.click()
    assert word.get_attribute("aria-pressed") == "true"
    word.click()
    assert word.get_attribute("aria-pressed") == "false"


@pytest.mark.parametrize(
    ("choice", "said"), [(0, "the missing shift"), (2, "the double shift")]
)
def test_the_quick_check_names_the_misconception(opened, choice, said):
    page = opened("quick")
    page.locator(".cw-option").nth(choice).click()
    told = page.locator(".cw-feedback").first.inner_text()
    assert told.startswith("✗ Not this one.") and said in told and "The thought behind it" in told


def test_hints_come_one_by_one(opened):
    page = opened("workbench-a")
    hints = page.locator(".cw-step").nth(2).locator(".cw-hints li")
    assert hints.count() == 0
    for count in (1, 2, 3):
        page.locator(".cw-step").nth(2).locator(".cw-quiet").click()
        assert hints.count() == count
    assert "No more hints" in page.locator(".cw-step").nth(2).inner_text()


@pytest.mark.parametrize(
    ("name", "part"),
    [("workbench-a", part) for part in ("starts", "positions", "mask", "targets", "loss")]
    + [("strip", "ignored"), ("denominators", "moves")],
)
def test_an_empty_step_is_not_judged(opened, name, part):
    page = opened(name)
    page.locator(f"[data-check={part}]").click()
    assert feedback(page, part) == "Nothing is filled in yet."
    assert page.locator(":is(.cw-cell, .cw-input)[data-wrong]").count() == 0
    assert page.locator(".cw-feedback[data-kind=good], .cw-feedback[data-kind=bad]").count() == 0


def test_words_side_by_side_are_one_thing_to_put_right(opened):
    page = opened("bugs")
    words = [b.inner_text() for b in page.locator(".cw-word").all()]
    first = words.index("divides")
    press(page.locator(".cw-word"), [first, first + 1, first + 2, words.index("conversation:")])
    page.locator("[data-check=words]").click()
    told = feedback(page, "words")
    assert told.startswith("✗ 4 to put right.") and "(“divides by the”)" in told


def test_the_note_about_a_cleared_answer_goes_with_the_next_one(opened):
    page = opened("strip")
    page.locator(".cw-cell").nth(1).click()
    page.get_by_role("button", name="Start again").click()
    assert page.locator(".cw-note").inner_text() == "Everything is cleared."
    page.locator(".cw-cell").nth(1).click()
    assert page.locator(".cw-note").inner_text() == ""
