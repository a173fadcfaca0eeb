"""JupyterLab with a real kernel in a real browser: a server, a notebook, and hands.

Reusable by every test that needs a kernel behind a page:

    with server(folder) as address, open_notebook(browser, address, "lab.ipynb") as lab:
        lab.run_all()
        lab.page.locator(...).click()
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from tools.sources import ROOT

START_S = 120


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """Write a notebook of code cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    code = [nbformat.v4.new_code_cell(source) for source in cells]
    nbformat.write(nbformat.v4.new_notebook(cells=code, metadata={"kernelspec": kernel}), path)


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab that serves `folder`, on this machine alone."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    private = folder / ".jupyter"
    places = {f"{name}_DIR": str(private / name.lower()) for name in (
        "JUPYTER_CONFIG", "JUPYTER_DATA", "JUPYTER_RUNTIME", "JUPYTERLAB_SETTINGS",
        "JUPYTERLAB_WORKSPACES")}  # fmt: skip
    env = dict(os.environ, **places, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=",
        "--ServerApp.password=", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        f"--ServerApp.root_dir={folder}",
    ]  # fmt: skip
    # every cell stays in the page, also out of sight
    tracker = private / "jupyterlab_settings" / "@jupyterlab" / "notebook-extension"
    tracker.mkdir(parents=True, exist_ok=True)
    (tracker / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    log = folder / "server.log"
    with log.open("wb") as out:
        running = subprocess.Popen(command, env=env, stdout=out, stderr=out)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status", running, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            running.terminate()
            try:
                running.wait(15)
            except subprocess.TimeoutExpired:
                running.kill()


def _wait_for(url: str, running: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and running.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).read()
            return
        except OSError:
            time.sleep(0.3)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


@dataclass
class Notebook:
    """An open notebook and what went wrong in its page so far."""

    page: Any
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def run_all(self) -> None:
        """Run every cell and wait until all have run; an error in a cell is an error here."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        self.page.wait_for_function(
            "() => document.querySelector('.jp-Notebook [data-mime-type*=error]') || [..."
            "document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputArea-prompt')]"
            ".every(p => /\\[\\d+\\]/.test(p.textContent))", timeout=120_000)
        errors = self.page.locator(".jp-Notebook [data-mime-type*=error]")
        assert errors.count() == 0, errors.first.inner_text()


@contextmanager
def open_notebook(browser, address: str, name: str, **options) -> Iterator[Notebook]:
    """The notebook `name` in the Lab at `address`, its kernel ready."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, **options)
    page = context.new_page()
    seen = Notebook(page)
    local = (address, address.replace("http:", "ws:"), "data:", "blob:")
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(local) else seen.foreign.append(r.url))
    page.goto(f"{address}/lab/tree/{name}?reset", wait_until="load")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
    # until the kernel has a session, running a cell asks which kernel to take
    page.locator("#jp-main-statusbar", has_text="Idle").wait_for(timeout=60_000)
    yield seen
    context.close()
