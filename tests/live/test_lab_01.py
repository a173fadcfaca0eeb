"""The menus of lab 1, after all of the lab has run: each choice is computed anew by the kernel."""

from __future__ import annotations

import nbformat
import pytest

from tests.live.jupyterlab import open_notebook, server
from tools.sources import ROOT


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab_01")
    notebook = nbformat.read(ROOT / "labs" / "01_decoder.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, folder / "lab.ipynb")
    with server(folder) as address, open_notebook(chromium, address, "lab.ipynb") as opened:
        opened.run_all()
        yield opened


def test_each_menu_changes_its_part_of_the_report(lab):
    menus = lab.page.locator(".widget-dropdown select")
    report = lab.page.locator(".widget-html pre")
    menus.first.scroll_into_view_if_needed()
    assert menus.count() == 3
    for said in ("targets    6", "positions  [0, 1, 2, 3, 0, 1, 2, 0]", "at most 1e-6"):
        assert said in report.inner_text()
    for menu, choice, said in (
        (1, "B", "targets    5"),
        (2, "rope, running", "positions  [0, 1, 2, 3, 4, 5, 6, 7]"),
        (0, "causal", "packed - separate: 0."),
        (0, "document", "packed - separate: at most 1e-6"),
    ):
        menus.nth(menu).select_option(choice)
        report.filter(has_text=said).wait_for(timeout=15_000)
    assert lab.errors == [] and lab.foreign == []
