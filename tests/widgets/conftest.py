"""One browser and one folder of small pages for all tests of the exercises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serving import Quiet, serving
from tests.widgets.pages import write_site
from tools import browser


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """The folder of the small pages."""
    path = tmp_path_factory.mktemp("exercises")
    write_site(path)
    return path


@pytest.fixture(scope="session")
def server(folder):
    """The address of a plain file server over the small pages."""
    with serving(Quiet, folder) as address:
        yield address


@pytest.fixture(scope="session")
def chromium():
    with browser.chromium() as running:
        yield running


@pytest.fixture
def opened(chromium, server):
    """A function that opens the page of an exercise; every console error fails the test."""
    contexts, errors = [], []

    def open_page(name: str, *, theme: str = "light", width: int = 1300, url: str = "", **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.goto(url or f"{server}/{name}-{theme}.html", wait_until="load")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
