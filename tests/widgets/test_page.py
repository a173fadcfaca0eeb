"""What an exercise is on a page: it keeps its state, is accessible, narrow, printable, light."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.widgets.pages import EXERCISES, feedback

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
NAMES = tuple(EXERCISES)
PARTS = {"workbench-a": ".cw-cell", "strip": ".cw-cell", "denominators": ".cw-cell",
         "bugs": ".cw-word", "quick": ".cw-option", "steps": ".cw-tab",
         "calculator": ".cw-preset"}  # fmt: skip
"""Something to press in each exercise, the second of its kind."""


def pressed(page, selector: str) -> list[str | None]:
    state = "aria-current" if selector == ".cw-tab" else "aria-pressed"
    return [b.get_attribute(state) for b in page.locator(selector).all()]


@pytest.mark.parametrize(("name", "selector"), PARTS.items())
def test_a_reload_keeps_the_answer_and_reset_clears_it(opened, name, selector):
    page = opened(name)
    before = pressed(page, selector)
    page.locator(selector).nth(1).click()
    after = pressed(page, selector)
    assert after != before
    page.reload()
    assert pressed(page, selector) == after
    page.get_by_role("button", name="Start again").click()
    assert pressed(page, selector) == before
    assert page.evaluate("localStorage.length") == 0
    page.reload()
    assert pressed(page, selector) == before


def test_a_verdict_and_hints_survive_a_reload(opened):
    page = opened("strip")
    page.locator(".cw-cell").nth(1).click()
    page.locator("[data-check=ignored]").click()
    page.get_by_role("button", name="Hint 1 of 2").click()
    told = feedback(page, "ignored")
    page.reload()
    assert told.startswith("✗") and feedback(page, "ignored") == told
    assert page.locator(".cw-hints li").count() == 1


def test_two_of_a_kind_on_one_page_keep_their_own_answers(chromium, folder):
    text = (folder / "quick-light.html").read_text("utf8")
    start, end = text.index("<div"), text.index("<p>What follows")
    both = text[:end] + text[start:end] + text[end:]
    (folder / "twice.html").write_text(both, "utf8")
    page = chromium.new_page()
    page.goto((folder / "twice.html").as_uri())
    page.locator(".cw-option").nth(4).click()
    page.reload()
    assert [v == "true" for v in pressed(page, ".cw-option")] == [i == 4 for i in range(6)]
    page.close()


def test_an_unreadable_answer_does_not_take_the_exercise_away(opened):
    page = opened("bugs")
    page.locator(".cw-word").first.click()
    page.evaluate("localStorage.setItem(localStorage.key(0), '{\"words\": 7, \"hints\": 3}')")
    page.reload()
    assert page.locator(".cw-word").count() > 10


@pytest.mark.parametrize("name", NAMES)
def test_it_works_from_a_file(opened, folder, name):
    page = opened(name, url=(folder / f"{name}-light.html").as_uri())
    assert page.locator(".course-widget[data-ready]").count() == 1
    assert not page.locator(".course-widget-fallback").is_visible()


def test_it_works_where_the_browser_keeps_nothing(opened):
    page = opened("quick")
    page.add_init_script("Object.defineProperty(window, 'localStorage', "
                         "{ get() { throw new Error('denied'); } })")
    page.reload()
    page.locator(".cw-option").nth(1).click()
    assert page.locator(".cw-feedback").first.inner_text().startswith("✓")


def violations(page) -> list[tuple[str, list[str]]]:
    found = Axe().run(page, options=RULES).response["violations"]
    return [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]


@pytest.mark.parametrize("width", [1300, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_accessible_before_and_after_an_answer(opened, name, theme, width):
    page = opened(name, theme=theme, width=width)
    if (theme, width) == ("light", 1300):
        assert violations(page) == []
    page.locator(".cw-option, .cw-tab, .cw-word, .cw-cell").first.click()
    for check in page.locator("[data-check]").all():
        check.click()
    page.locator(".cw-quiet").first.click()  # the first hint, or the answer cleared
    assert violations(page) == []
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) <= 0


@pytest.mark.parametrize("name", NAMES)
def test_a_finger_finds_every_target(opened, name):
    page = opened(name, width=390, has_touch=True)
    for box in page.locator(".cw button, .cw input").evaluate_all(
        "all => all.filter(e => e.offsetParent).map(e => "
        "[e.textContent, e.offsetWidth, e.offsetHeight])"
    ):
        assert min(box[1:]) >= 24, box


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_question_and_twin_are_there(opened, name):
    page = opened(name, java_script_enabled=False)
    widget = EXERCISES[name]()
    shown = page.locator(".course-widget").inner_text()
    assert widget.data["question"].replace("`", "") in shown
    assert widget._twin_body in page.locator(".course-widget pre").inner_text()


@pytest.mark.parametrize("name", NAMES)
def test_print_shows_question_and_twin_instead_of_controls(opened, name):
    page = opened(name)
    page.emulate_media(media="print")
    assert page.locator(".course-widget-fallback").is_visible()
    assert not page.locator(".cw").is_visible()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_jumps_while_the_page_loads(opened, name):
    page = opened(name)
    page.evaluate("window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach("
                  "e => { if (!e.hadRecentInput) window.shift += e.value; }))"
                  ".observe({ type: 'layout-shift', buffered: true })")
    page.wait_for_timeout(50)
    assert page.evaluate("window.shift") < 0.1


@pytest.mark.parametrize("name", NAMES)
def test_it_is_ready_when_the_page_has_loaded(opened, name):
    page = opened(name)
    page.add_init_script("addEventListener('load', () => { window.ready = document"
                         ".querySelectorAll('.course-widget[data-ready]').length; })")
    page.reload()
    assert page.evaluate("window.ready") == 1


def test_focus_can_be_seen(opened):
    page = opened("workbench-a")
    for _ in range(3):
        page.keyboard.press("Tab")
        style = page.evaluate("(s => [s.outlineStyle, parseFloat(s.outlineWidth)])"
                              "(getComputedStyle(document.activeElement))")
        assert style[0] == "solid" and style[1] >= 2


def test_a_grid_is_one_stop_for_the_tab_key(opened):
    page = opened("workbench-a")
    grids = page.locator("[role=grid]")
    assert grids.count() == 3
    for grid in grids.all():
        assert grid.locator("button[tabindex='0']").count() == 1


def test_copy_as_python_gives_literals_that_say_the_same(opened):
    page = opened("workbench-a")
    step = page.locator(".cw-step")
    step.nth(0).locator("button.cw-cell").nth(4).click()
    step.nth(1).locator("input").first.fill("0")
    step.nth(2).locator("button.cw-cell").nth(9).click()
    step.nth(3).locator("button.cw-cell").nth(2).click()
    step.nth(4).locator("input").first.fill("9/7")
    page.get_by_role("button", name="Copy as Python").click()
    assert "exercise L2.3" in page.locator(".cw-note").inner_text()
    code = page.locator(".cw-code").input_value()
    values = {}
    exec(code, {}, values)
    assert values["starts"] == [4]
    assert values["position_ids"] == [0, *[None] * 6, -1]
    assert [sum(row) for row in values["mask"]] == [0, 1, 0, 0, 0, 0, 0, 0]
    assert values["labels"] == [1, -100, 3, *[-100] * 5]
    assert values["numerator"] == 9 / 7 and values["denominator"] is None
