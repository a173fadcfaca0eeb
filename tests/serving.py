"""A plain file server over a folder, for tests that open pages."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write to the test's output."""

    def log_message(self, *args) -> None:
        pass


@contextmanager
def serving(handler: type, folder: Path) -> Iterator[str]:
    """The address of a file server of this kind over `folder`."""
    made = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), made) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
