"""The built site, a plain file server for it and one browser, each made once per worker."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from tools import browser, site
from tools.sources import ROOT


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write to the test's output."""

    def log_message(self, *args) -> None:
        pass


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the site, built from exactly these sources."""
    site.BUILD.mkdir(exist_ok=True)
    with FileLock(site.BUILD / ".site.lock"):
        assert site.build_site(if_changed=True) == 0, "make book fails"
    return ROOT / "_build" / "html"


@contextmanager
def serving(handler: type, folder: Path) -> Iterator[str]:
    """The address of a file server of this kind over `folder`."""
    made = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), made) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(scope="session")
def server(html):
    """The address of a plain file server over the site."""
    with serving(Quiet, html) as address:
        yield address


@pytest.fixture(scope="session")
def chromium():
    with browser.chromium() as running:
        yield running
