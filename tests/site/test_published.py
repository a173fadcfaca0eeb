"""What the published site needs besides its pages: site map, cards, a page for a wrong address."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

from tests.serving import Quiet, serving
from tests.site.visit import visit
from tools.browser import NARROW, WIDE
from tools.course_site.publish import prefix_of
from tools.sources import Course, toc_names

COURSE = Course()
BASE = COURSE.config["html"]["baseurl"].rstrip("/")
NAMES = toc_names()
NEEDED = {"og:title", "og:description", "og:url", "og:image", "og:image:alt", "og:type",
          "og:site_name", "description", "twitter:card"}  # fmt: skip


def head(html: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser").head


def metas(soup: BeautifulSoup) -> dict[str, str]:
    return {m.get("property") or m.get("name"): m["content"] for m in soup.select("meta[content]")}


def test_the_site_map_lists_every_page_and_nothing_else(html):
    root = ElementTree.parse(html / "sitemap.xml").getroot()
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert root.tag == f"{space}urlset"
    listed = [loc.text for loc in root.iter(f"{space}loc")]
    assert sorted(listed) == sorted(COURSE.page_url(name) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_names_itself_to_search_engines_and_cards(html, name):
    soup = head(html, name)
    assert [link["href"] for link in soup.select("link[rel=canonical]")] == [COURSE.page_url(name)]
    found = metas(soup)
    assert set(found) >= NEEDED
    assert found["og:url"] == COURSE.page_url(name)
    assert found["og:title"] == COURSE.pages[name].title.replace("`", "")
    assert 40 <= len(found["description"]) <= 210
    assert "robots" not in found


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_of_a_card_is_there_and_of_the_right_size(html, name):
    found = metas(head(html, name))
    picture = html / found["og:image"].removeprefix(f"{BASE}/")
    size = struct.unpack(">II", picture.read_bytes()[16:24])
    assert size == (int(found["og:image:width"]), int(found["og:image:height"])) == (1146, 600)
    assert picture.stat().st_size < 150_000


@pytest.mark.parametrize("name", ["404", "search", "genindex"])
def test_what_is_no_page_of_the_course_stays_out_of_search_engines(html, name):
    soup = head(html, name)
    assert metas(soup)["robots"] == "noindex"
    assert soup.select("link[rel=canonical]") == []


@pytest.mark.parametrize(("base", "prefix"), [
    ("https://example.org/a/course/", "/a/course/"), ("https://example.org", "/"), ("", "/")])
def test_the_prefix_follows_the_base_address(base, prefix):
    assert prefix_of(base) == prefix


def test_what_the_course_adds_to_a_page_stays_light(html):
    static = html / "_static"
    ours = [*(static / "course").iterdir(), *static.glob("course.css"), static / "reference.css"]
    assert len(ours) == 6
    assert sum(len(gzip.compress(path.read_bytes())) for path in ours) <= 22_000, "as it is sent"


class Published(Quiet):
    """Answers as GitHub Pages does: the site below its prefix, 404.html for everything else."""

    def translate_path(self, path: str) -> str:
        prefix = prefix_of(BASE)
        here = path if path.startswith(prefix) else f"{prefix}no-such-place"
        return super().translate_path("/" + here.removeprefix(prefix))

    def send_error(self, code, message=None, explain=None) -> None:
        body = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def host(html):
    with serving(Published, html) as address:
        yield address


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("place", ["nowhere", "book/nowhere.html", "a/b/c/d"])
def test_a_wrong_address_shows_a_page_that_works_at_any_depth(chromium, host, place, scheme, size):
    url = f"{host}{prefix_of(BASE)}{place}"
    with visit(chromium, url, host, scheme=scheme, size=size) as seen:
        missing = [e for e in seen.errors if "404 (Not Found)" in e]
        assert len(missing) == 1, "more than the page itself is missing"
        assert seen.errors == missing and seen.foreign == []
        assert seen.page.locator("h1:visible").inner_text() == "There is no such page"
        assert seen.wider_than_window() <= 0
        links = seen.page.locator("main a:visible, .bd-docs-nav a").evaluate_all(
            "all => all.map((a) => a.href)")
        inside = {link.split("#")[0] for link in links if link.startswith(host)} - {url}
        assert len(inside) >= len(NAMES)
        for link in inside:
            assert seen.page.request.get(link).status == 200, link
        assert seen.violations() == []


def test_the_links_of_that_page_lead_to_the_first_page_and_to_search(chromium, host):
    with visit(chromium, f"{host}/wrong/place", host, scheme="light", size=WIDE) as seen:
        for text, path in (("Search the course", "search.html"),
                           ("The first page", f"{NAMES[0]}.html")):
            seen.page.get_by_role("link", name=text).click()
            assert urlsplit(seen.page.url).path == f"{prefix_of(BASE)}{path}"
            seen.page.go_back()


def test_forgetting_leaves_what_other_sites_of_the_host_keep(chromium, host):
    prefix, others = prefix_of(BASE), ["course:/other/a.html:quick-1:1", "course-done:/other/#a"]
    url = f"{host}{prefix}{NAMES[1]}.html"
    with visit(chromium, url, host, scheme="light", size=WIDE) as seen:
        for key in (*others, f"course-done:{prefix}{NAMES[2]}#quick-1:1"):
            seen.page.evaluate("key => localStorage.setItem(key, '1')", key)
        seen.page.reload()
        seen.page.get_by_role("button", name="Forget my progress").click()
        seen.page.get_by_role("button", name="Forget them").click()
        kept = seen.page.evaluate("Object.keys(localStorage)")
        assert sorted(key for key in kept if key.startswith("course")) == sorted(others)
