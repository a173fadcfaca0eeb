"""Every page of the site in a real browser: no error, no foreign request, accessible, narrow."""

from __future__ import annotations

import pytest

from tests.site.visit import visit
from tools.browser import NARROW, WIDE
from tools.sources import toc_names

CHAPTERS = toc_names()
PAGES = [*CHAPTERS, "search", "genindex"]
LOOKS = [("light", WIDE), ("dark", WIDE), ("light", NARROW), ("dark", NARROW)]


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look[0]}-{look[1]['width']}")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_from_a_file_server(chromium, server, name, look):
    scheme, size = look
    url = f"{server}/{name}.html"
    with visit(chromium, url, server, scheme=scheme, size=size) as seen:
        assert seen.wider_than_window() <= 0, "the page scrolls sideways"
        assert seen.errors == []
        assert seen.foreign == []
        assert seen.violations() == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_from_the_file_system(chromium, html, name):
    url = (html / f"{name}.html").as_uri()
    with visit(chromium, url, "file:", scheme="light", size=WIDE) as seen:
        assert seen.errors == []
        assert seen.foreign == []
        waiting = seen.page.locator(".course-widget:not([data-ready])")
        assert waiting.count() == 0, "an interactive part did not start"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_page_printed_or_without_scripts_still_reads(chromium, server, name):
    url = f"{server}/{name}.html"
    with visit(chromium, url, server, scheme="light", size=WIDE, java_script_enabled=False) as seen:
        assert seen.page.locator(".bd-article h1").inner_text().strip()
        for part in seen.page.locator(".course-widget").all():
            assert part.inner_text().strip(), "an exercise shows nothing without scripts"
        seen.page.emulate_media(media="print")
        assert not seen.page.locator(".bd-sidebar-primary").is_visible()
        assert seen.page.locator("main h1:visible").count() == 1
        assert seen.page.locator(".bd-article p").first.is_visible()


def test_the_first_page_opens_from_the_folder(chromium, html):
    with visit(chromium, (html / "index.html").as_uri(), "file:", scheme="light",
               size=WIDE) as seen:
        seen.page.wait_for_url(f"**/{CHAPTERS[0]}.html", timeout=30_000)
        assert seen.foreign == []


def test_the_search_finds_a_page_without_a_server(chromium, html):
    url = (html / "search.html").as_uri() + "?q=padding"
    with visit(chromium, url, "file:", scheme="light", size=WIDE) as seen:
        seen.page.locator("#search-results li a").first.wait_for(timeout=30_000)
        assert seen.errors == []


def test_an_accessibility_fault_would_be_found(chromium, server):
    with visit(chromium, f"{server}/search.html", server, scheme="light", size=WIDE) as seen:
        seen.page.evaluate("document.querySelector('main').innerHTML += "
                           "'<img src=x><button></button>'")
        found = " ".join(seen.violations())
        assert "image-alt" in found and "button-name" in found
