"""Finding one's way: search with excerpts, the next page, and everything by keyboard."""

from __future__ import annotations

import pytest

from tests.site.visit import visit
from tools.browser import NARROW, WIDE
from tools.sources import toc_names

NAMES = toc_names()
FOCUS = """() => {
  const e = document.activeElement, s = getComputedStyle(e);
  const ring = parseFloat(s.outlineWidth) >= 2 && s.outlineStyle !== "none";
  return [ring || s.boxShadow.includes("3px"), e.outerHTML.slice(0, 120)];
}"""


def test_search_shows_excerpts_where_a_server_can_send_them(chromium, server):
    url = f"{server}/search.html?q=denominator"
    with visit(chromium, url, server, scheme="light", size=WIDE) as seen:
        found = seen.page.locator("#search-results li .context")
        found.first.wait_for(timeout=30_000)
        assert any("denominator" in text.lower() for text in found.all_inner_texts())
        assert seen.errors == [] and seen.foreign == []


def test_search_from_a_file_lists_pages_and_fetches_none(chromium, html):
    url = (html / "search.html").as_uri() + "?q=denominator"
    with visit(chromium, url, "file:", scheme="light", size=WIDE) as seen:
        seen.page.locator("#search-results li a").first.wait_for(timeout=30_000)
        assert seen.page.locator("#search-results li .context").count() == 0
        assert seen.errors == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_word_is_searched_by_keyboard_alone(chromium, server, size):
    url = f"{server}/{NAMES[1]}.html"
    with visit(chromium, url, server, scheme="light", size=size) as seen:
        seen.page.keyboard.press("Control+k")
        seen.page.locator("#pst-search-dialog input").wait_for()
        seen.page.keyboard.type("padding")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url("**/search.html?q=padding*")
        seen.page.locator("#search-results li a").first.wait_for(timeout=30_000)


def test_next_and_previous_go_through_the_table_of_contents(chromium, server):
    with visit(chromium, f"{server}/{NAMES[0]}.html", server, scheme="light", size=WIDE) as seen:
        for name in NAMES[1:]:
            seen.page.locator(".prev-next-footer .right-next").click()
            assert seen.page.url == f"{server}/{name}.html"
        assert seen.page.locator(".prev-next-footer .right-next").count() == 0
        seen.page.locator(".prev-next-footer .left-prev").click()
        assert seen.page.url == f"{server}/{NAMES[-2]}.html"


def test_the_first_stop_of_the_keyboard_skips_to_the_text(chromium, server):
    with visit(chromium, f"{server}/{NAMES[1]}.html", server, scheme="light", size=WIDE) as seen:
        seen.page.keyboard.press("Tab")
        link = seen.page.locator(".skip-link a")
        assert link.evaluate("e => e === document.activeElement")
        seen.page.wait_for_function(
            "document.activeElement.getBoundingClientRect().top >= 0")  # it slides in
        seen.page.keyboard.press("Enter")
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("!!document.activeElement.closest('main')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_keyboards_place_is_always_seen(chromium, server, scheme, size):
    with visit(chromium, f"{server}/{NAMES[1]}.html", server, scheme=scheme, size=size) as seen:
        stops = []
        for _ in range(40):
            seen.page.keyboard.press("Tab")
            visible, element = seen.page.evaluate(FOCUS)
            assert visible, f"no focus to be seen on {element}"
            stops.append(element)
        assert len(set(stops)) > 20


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_sidebar_opens_and_closes_by_keyboard(chromium, server, size):
    with visit(chromium, f"{server}/{NAMES[1]}.html", server, scheme="light", size=size) as seen:
        toggle = seen.page.locator(".primary-toggle")
        entry = seen.page.locator(".bd-docs-nav a:visible")
        before = entry.count() > 0
        assert before == (size == WIDE)
        toggle.focus()
        seen.page.keyboard.press("Enter")
        entry.first.wait_for(state="hidden" if before else "visible")
        if size == NARROW:
            assert seen.page.evaluate("!!document.activeElement.closest('dialog')")
            seen.page.keyboard.press("Escape")
            seen.page.wait_for_function("document.activeElement.matches('.primary-toggle')")
        else:
            seen.page.wait_for_function("document.activeElement.matches('.primary-toggle')")
            seen.page.keyboard.press("Enter")
        entry.first.wait_for(state="visible" if before else "hidden")


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("labs/")])
def test_pictures_keep_their_proportions_on_a_phone(chromium, server, name):
    with visit(chromium, f"{server}/{name}.html", server, scheme="dark", size=NARROW) as seen:
        for picture in seen.page.locator(".cell_output img").all():
            own, shown, width = picture.evaluate("""e => {
                const s = getComputedStyle(e), pads = (a, b) => parseFloat(s[a]) + parseFloat(s[b]);
                return [e.naturalWidth / e.naturalHeight,
                  (e.clientWidth - pads("paddingLeft", "paddingRight"))
                  / (e.clientHeight - pads("paddingTop", "paddingBottom")), e.clientWidth];
            }""")
            assert shown == pytest.approx(own, rel=0.02) and 0 < width <= NARROW["width"]
