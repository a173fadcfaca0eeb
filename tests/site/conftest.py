"""The built site, a plain file server for it and one browser, each made once per worker."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from tests.serving import Quiet, serving
from tools import browser, site
from tools.sources import ROOT


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the site, built from exactly these sources."""
    site.BUILD.mkdir(exist_ok=True)
    with FileLock(site.BUILD / ".site.lock"):
        assert site.build_site(if_changed=True) == 0, "make book fails"
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def server(html):
    """The address of a plain file server over the site."""
    with serving(Quiet, html) as address:
        yield address


@pytest.fixture(scope="session")
def chromium():
    with browser.chromium() as running:
        yield running
