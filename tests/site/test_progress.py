"""What is solved: counted on the page, in the sidebar and on the first page, in this browser."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager

import pytest

from tests.serving import Quiet, serving
from tests.site.visit import Visit, visit
from tests.widgets.sources import exercises_of
from tools.browser import NARROW, WIDE
from tools.course_site.progress import NOT_SOLVED, exercises_in
from tools.sources import ROOT, toc_names

FIRST, *OTHERS = toc_names()
EXERCISES = {
    name: [w for w in exercises_of(ROOT / f"{name}.md") if w.module not in NOT_SOLVED]
    for name in (FIRST, *OTHERS) if name.startswith("book/")
}  # fmt: skip


def of_lab(name: str) -> list[str]:
    """The exercises that a lab's page shows: those in the stored outputs of its notebook."""
    notebook = json.loads((ROOT / f"{name}.ipynb").read_text("utf8"))
    outputs = [o for cell in notebook["cells"] for o in cell.get("outputs", [])]
    shown = "".join("".join(o.get("data", {}).get("text/html", "")) for o in outputs)
    return exercises_in(shown)


LABS = {name: of_lab(name) for name in OTHERS if name.startswith("labs/")}
PAGE = next(name for name in OTHERS if any(w.module == "quick" for w in EXERCISES[name]))
OF = len(EXERCISES[PAGE])
TOTAL = sum(map(len, EXERCISES.values())) + sum(map(len, LABS.values()))
RIGHT = next(w for w in EXERCISES[PAGE] if w.module == "quick").data["right"]


class Sandbox(Quiet):
    """Sends pages that may not keep anything, as under a browser's strictest settings."""

    def end_headers(self) -> None:
        if self.path.endswith(".html"):
            self.send_header("Content-Security-Policy", "sandbox allow-scripts allow-forms")
        self.send_header("Access-Control-Allow-Origin", "*")  # the theme's fonts
        super().end_headers()


@pytest.fixture(scope="module")
def sandbox(html):
    with serving(Sandbox, html) as address:
        yield address


def status(seen: Visit) -> str:
    return seen.page.locator(".course-progress [role=status]").inner_text()


def beside(seen: Visit, name: str, where: str = ".bd-docs-nav") -> str:
    """What stands behind the link to a page, in words."""
    link = seen.page.locator(f"{where} a[href$='{name.split('/')[1]}.html']").first
    mark = link.locator(".course-mark .visually-hidden")
    return mark.text_content().strip() if mark.count() else ""


def option(seen: Visit, right: bool):
    quick = seen.page.locator("[data-module=quick]").first
    return quick.locator(".cw-option").nth(RIGHT if right else (RIGHT + 1) % 2)


@contextmanager
def solved(chromium, server, **look):
    """A page of which one exercise has been solved."""
    look = {"scheme": "light", "size": WIDE} | look
    with visit(chromium, f"{server}/{PAGE}.html", server, **look) as seen:
        option(seen, True).click()
        yield seen
        assert seen.errors == [] and seen.foreign == []


def test_the_script_knows_every_exercise_of_the_sources(html):
    script = (html / "_static" / "course" / "reader.js").read_text("utf8")
    known = json.loads(re.search(r"^const EXERCISES = (.*);$", script, re.M)[1])
    chapters = {name: [w.widget_id for w in found] for name, found in EXERCISES.items() if found}
    found = {name: [i.split(":")[0] for i in ids] for name, ids in known.items()}
    assert {name: ids for name, ids in found.items() if name.startswith("book/")} == chapters
    labs = {name: ids for name, ids in LABS.items() if ids}
    assert {name: ids for name, ids in known.items() if name.startswith("labs/")} == labs


def test_the_line_says_how_much_there_is_without_a_script(html):
    text = (html / f"{PAGE}.html").read_text("utf8")
    assert f'<span role="status">{OF} interactive exercises on this page</span>' in text
    text = (html / f"{FIRST}.html").read_text("utf8")
    assert f'<span role="status">{TOTAL} interactive exercises in the course</span>' in text


def test_a_solved_exercise_is_counted_everywhere_and_after_a_reload(chromium, server):
    with solved(chromium, server) as seen:
        for _ in range(2):
            assert status(seen) == f"1 of {OF} interactive exercises on this page solved"
            title = seen.page.locator("[data-module=quick] .cw-title").first
            assert title.inner_text().endswith("✓ solved")
            assert seen.page.locator(".course-solved").count() == 1
            own = seen.page.locator(".bd-docs-nav a.current .course-mark")
            assert own.text_content() == f" 1/{OF} (1 of {OF} exercises solved)"
            seen.page.reload()
        seen.page.goto(f"{server}/{FIRST}.html")
        assert status(seen) == f"1 of {TOTAL} interactive exercises in the course solved"
        assert beside(seen, PAGE) == f"(1 of {OF} exercises solved)"
        assert beside(seen, PAGE, ".bd-article table") == f"(1 of {OF} exercises solved)"


def test_nothing_solved_leaves_no_marks_and_nothing_to_forget(chromium, server):
    with visit(chromium, f"{server}/{PAGE}.html", server, scheme="light", size=WIDE) as seen:
        assert status(seen) == f"0 of {OF} interactive exercises on this page solved"
        assert seen.page.locator(".course-mark, .course-solved").count() == 0
        assert not seen.page.locator(".course-forget").is_visible()


def test_neither_a_wrong_answer_nor_a_new_start_takes_a_solved_one_back(chromium, server):
    with visit(chromium, f"{server}/{PAGE}.html", server, scheme="light", size=WIDE) as seen:
        for right, count in ((False, 0), (True, 1), (False, 1)):
            option(seen, right).click()
            assert status(seen).startswith(f"{count} of {OF}")
        quick = seen.page.locator("[data-module=quick]").first
        quick.get_by_role("button", name="Start again").click()
        assert status(seen).startswith("1 of")
        title = seen.page.locator("[data-module=quick] .cw-title").first
        assert title.inner_text().endswith("✓ solved before")


def test_everything_solved_is_a_tick(chromium, server):
    name = next(n for n, found in EXERCISES.items() if [w.module for w in found] == ["quick"])
    right = EXERCISES[name][0].data["right"]
    with visit(chromium, f"{server}/{name}.html", server, scheme="light", size=WIDE) as seen:
        seen.page.locator(".cw-option").nth(right).click()
        assert status(seen) == "✓ 1 of 1 interactive exercise on this page solved"
        mark = seen.page.locator(".bd-docs-nav a.current .course-mark").inner_text()
        assert mark.split()[0] == "✓"


def test_forgetting_asks_first_and_works_by_keyboard(chromium, server):
    other = "notes"
    with solved(chromium, server) as seen:
        seen.page.evaluate("key => localStorage.setItem(key, '{}')", other)
        theme = seen.page.evaluate("localStorage.getItem('theme')")
        forget = seen.page.get_by_role("button", name="Forget my progress")
        for keys in (["Escape"], ["Enter"]):  # Enter: the first button keeps
            forget.focus()
            seen.page.keyboard.press("Enter")
            assert seen.page.get_by_role("dialog").inner_text().startswith("Forget all answers")
            assert seen.page.evaluate("document.activeElement.textContent") == "Keep them"
            for key in keys:
                seen.page.keyboard.press(key)
            assert status(seen).startswith("1 of")
            assert seen.page.evaluate("document.activeElement.className") == "course-forget"
        for key in ("Enter", "Tab", "Enter"):
            seen.page.keyboard.press(key)
        assert status(seen).startswith("0 of")
        assert not forget.is_visible()
        assert seen.page.locator(".course-solved, .course-mark").count() == 0
        assert seen.page.locator(".cw-option[aria-pressed=true]").count() == 0
        left = set(seen.page.evaluate("Object.keys(localStorage)"))
        assert other in left and not any(key.startswith("course") for key in left)
        assert seen.page.evaluate("localStorage.getItem('theme')") == theme
        assert seen.page.evaluate("document.activeElement.className") == "course-progress"


def test_it_counts_where_the_browser_keeps_nothing_without_an_error(chromium, sandbox):
    with visit(chromium, f"{sandbox}/{PAGE}.html", sandbox, scheme="light", size=WIDE) as seen:
        assert seen.page.evaluate("window.origin") == "null", "the page has storage after all"
        option(seen, True).click()
        assert status(seen) == f"1 of {OF} interactive exercises on this page solved"
        seen.page.get_by_role("button", name="Forget my progress").click()
        seen.page.get_by_role("button", name="Forget them").click()
        assert status(seen).startswith("0 of")
        assert seen.errors == [] and seen.foreign == []


def test_two_open_tabs_do_not_overwrite_each_other(chromium, server):
    with solved(chromium, server) as seen:
        second = seen.page.context.new_page()
        second.goto(f"{server}/{FIRST}.html")
        shown = second.locator(".course-progress [role=status]")
        assert shown.inner_text().startswith("1 of")
        seen.page.get_by_role("button", name="Forget my progress").click()
        seen.page.get_by_role("button", name="Forget them").click()
        second.wait_for_function(
            "document.querySelector('.course-progress').innerText.startsWith('0 of')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_marks_and_question_are_accessible(chromium, server, scheme, size):
    with solved(chromium, server, scheme=scheme, size=size) as seen:
        assert seen.wider_than_window() <= 0
        seen.page.get_by_role("button", name="Forget my progress").click()
        assert seen.violations() == []
        seen.page.keyboard.press("Escape")
        assert seen.violations() == []
        for box in seen.page.locator(".course-forget, .course-ask button").all():
            assert box.evaluate("e => !e.offsetParent || e.offsetHeight >= 24")


def test_it_works_from_a_file(chromium, html):
    url = (html / f"{PAGE}.html").as_uri()
    with visit(chromium, url, "file:", scheme="light", size=WIDE) as seen:
        option(seen, True).click()
        assert status(seen).startswith("1 of")
        seen.page.goto((html / f"{FIRST}.html").as_uri())
        assert status(seen).startswith("1 of")
        assert seen.errors == [] and seen.foreign == []
