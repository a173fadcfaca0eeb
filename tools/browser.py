"""A real Chromium for the site: find it, open pages in it, take pictures.

Playwright drives the system's Chromium; nothing is downloaded.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]
WIDE, NARROW = {"width": 1300, "height": 900}, {"width": 390, "height": 844}


def find_chromium() -> str:
    """The path of Chromium: $CHROMIUM or the first known name on PATH.

    Raises FileNotFoundError that says how to get it.
    """
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        raise FileNotFoundError("no Chromium on PATH: install it (Debian: apt-get install chromium "
                                "fonts-dejavu-core) or name it: CHROMIUM=/path/to/chrome make test")
    return found


@contextmanager
def chromium() -> Iterator:
    """A running browser (playwright's Browser)."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def screenshots(html: Path, folder: Path) -> list[Path]:
    """Full-page pictures of a built page: light and dark, wide and narrow."""
    folder.mkdir(parents=True, exist_ok=True)
    shots = []
    with chromium() as browser:
        for scheme in ("light", "dark"):
            for label, size in (("wide", WIDE), ("narrow", NARROW)):
                context = browser.new_context(viewport=size, color_scheme=scheme)
                page = context.new_page()
                page.goto(html.resolve().as_uri(), wait_until="load")
                shots.append(folder / f"{html.stem}-{scheme}-{label}.png")
                page.screenshot(path=shots[-1], full_page=True)
                context.close()
    return shots


if __name__ == "__main__":
    try:
        print(find_chromium())
    except FileNotFoundError as error:
        sys.exit(str(error))
