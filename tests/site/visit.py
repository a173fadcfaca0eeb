"""Open one page in a real browser and write down what a visitor would meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from axe_playwright_python.sync_playwright import Axe

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
OPTIONS = RULES | {"preload": False, "resultTypes": ["violations"]}  # fetch nothing more
# In listings thousands of tokens share some twenty colours: the first of each kind stays, the
# others become text of the listing. Contrast is measured once for a kind, in a third of the time.
ONE_TOKEN_OF_A_KIND = """() => {
  const seen = new Set();
  for (const token of document.querySelectorAll(".highlight pre span")) {
    if (seen.has(token.className)) token.replaceWith(...token.childNodes);
    else seen.add(token.className);
  }
}"""
LOCAL = ("data:", "blob:", "file:", "about:")


@dataclass
class Visit:
    """An open page and what went wrong on it so far."""

    page: object
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        """What axe finds: 'rule: element', one line each. Changes the page: look at it before."""
        self.page.evaluate(ONE_TOKEN_OF_A_KIND)
        report = Axe().run(self.page, options=OPTIONS).response
        return [f"{v['id']}: {node['html'][:160]} | {node.get('failureSummary', '')[:200]}"
                for v in report["violations"] for node in v["nodes"]]

    def wider_than_window(self) -> int:
        """By how many pixels the page scrolls sideways."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth")


@contextmanager
def visit(browser, url: str, origin: str, *, scheme: str, size: dict, **options) -> Iterator[Visit]:
    """The page at `url`; a request that begins neither with `origin` nor locally is foreign."""
    context = browser.new_context(viewport=size, color_scheme=scheme, **options)
    page = context.new_page()
    seen = Visit(page)
    page.on("console", lambda m: seen.errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("requestfailed", lambda r: seen.errors.append(f"failed: {r.url}"))
    page.on("request", lambda r: None if r.url.startswith((origin, *LOCAL))
            else seen.foreign.append(r.url))
    page.goto(url, wait_until="load")
    page.wait_for_timeout(100)  # scripts that start after load
    yield seen
    context.close()
