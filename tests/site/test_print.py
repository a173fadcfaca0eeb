"""A page on paper: its text in light colours, nothing cut off, nothing to press."""

from __future__ import annotations

import re

import pytest

from tests.site.visit import visit
from tools.browser import WIDE
from tools.sources import toc_names

NAMES = toc_names()
SCREEN_ONLY = (".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer, "
               ".copybtn, .cw, .course-progress, .course-forget, .headerlink, .skip-link, "
               "#pst-back-to-top, button")
PAPER = {"width": 673, "height": 1123}  # A4 less its margins, at 96 dots an inch
LIGHT = "e => getComputedStyle(e).backgroundColor"


@pytest.fixture
def printed(chromium, server):
    """A function that opens a page as it is while it prints, from dark colours."""
    opened = []

    def open_page(name: str):
        visitor = visit(chromium, f"{server}/{name}.html", server, scheme="dark", size=WIDE)
        opened.append(visitor)
        page = visitor.__enter__().page
        page.set_viewport_size(PAPER)
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        return page

    yield open_page
    for visitor in opened:
        visitor.__exit__(None, None, None)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_prints_its_text_alone_and_whole(printed, name):
    page = printed(name)
    assert page.locator(SCREEN_ONLY).locator("visible=true").count() == 0
    assert page.locator("h1:visible").count() == 1
    assert page.locator("body").evaluate(LIGHT) == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    cut = page.evaluate("""() => [...document.querySelectorAll(".bd-article *")].filter((e) =>
        e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible"
        && e.clientWidth > 0).map((e) => e.outerHTML.slice(0, 120))""")
    assert cut == []
    wide = page.evaluate("""() => [...document.querySelectorAll(
        ".bd-article :is(pre, table, img, svg, p)")]
        .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
        .map((e) => e.outerHTML.slice(0, 120))""")
    assert wide == []


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_unfolded_and_exercises_are_text(printed, name):
    page = printed(name)
    for unfold in page.locator(".bd-article details:visible").all():
        inside = unfold.locator(":scope > :not(summary)")
        assert inside.first.is_visible()
    for exercise in page.locator(".course-widget").all():
        text = exercise.locator(".course-widget-fallback")
        assert text.is_visible() and text.locator("pre").inner_text().strip()
    for figure in page.locator(".course-figure").all():
        assert figure.is_visible()
        assert not figure.locator("details").first.is_visible(), "the twin is printed as well"


def test_addresses_stand_behind_links_that_do_not_say_them(printed):
    shown = {}
    for name in NAMES:
        page = printed(name)
        shown |= dict(page.locator(".bd-article a.external").evaluate_all(
            "all => all.map((a) => [a.href + ' ' + a.textContent.trim(), "
            "getComputedStyle(a, '::after').content])"))
    assert any(content != "none" for content in shown.values())
    for link, content in shown.items():
        address, text = link.split(" ", 1)
        if "doi.org/" in address and address.split("doi.org/")[1].lower() in text.lower():
            assert content == "none", f"{link}: the address is there twice"
        else:
            assert content == f'" <{address}>"' or content == '" <" attr(href) ">"', link


def test_after_printing_the_page_is_as_before(chromium, server):
    name = next(n for n in NAMES if n.startswith("book/"))
    with visit(chromium, f"{server}/{name}.html", server, scheme="dark", size=WIDE) as seen:
        state = ("[document.documentElement.dataset.theme, "
                 "document.querySelectorAll('.bd-article details[open]').length]")
        before = seen.page.evaluate(state)
        assert before[0] == "dark" and seen.page.locator(".bd-article details").count()
        for event in ("beforeprint", "afterprint"):
            seen.page.evaluate("name => dispatchEvent(new Event(name))", event)
            now = seen.page.evaluate(state)
            assert (now == before) == (event == "afterprint")


def test_a_real_print_is_light_and_on_a4(chromium, server):
    name = next(n for n in NAMES if "denominators" in n)
    with visit(chromium, f"{server}/{name}.html", server, scheme="dark", size=WIDE) as seen:
        seen.page.evaluate("addEventListener('beforeprint', () => { "
                           "window.then = document.documentElement.dataset.theme; })")
        paper = seen.page.pdf(format="A4")
        assert seen.page.evaluate("window.then") == "light"
        assert seen.page.evaluate("document.documentElement.dataset.theme") == "dark"
    boxes = re.findall(rb"/MediaBox\s*\[\s*0\s+0\s+([\d.]+)\s+([\d.]+)", paper)
    assert boxes and all(abs(float(w) - 595) < 2 and abs(float(h) - 842) < 2 for w, h in boxes)
    assert 5 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 25
