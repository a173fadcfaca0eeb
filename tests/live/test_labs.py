"""Each lab in JupyterLab: opened, run, its controls moved by keyboard, what the kernel says read.

What must stand on the page comes from `course_lib` here, for the values that the keys lead to.
"""

from __future__ import annotations

import shutil
from itertools import product

import pytest
from playwright.sync_api import expect

from course_lib.exercises.hunt import COLLATORS, SETS
from course_lib.exercises.registry import find
from course_lib.masks import causal_mask, document_mask
from course_lib.widgets.live import denominators, masks, packing
from tests.live.jupyterlab import open_notebook, server
from tests.widgets.pages import Hand
from tests.widgets.test_solve import solve_the_workbench
from tools.sources import ROOT

LABS = ("02_masks", "03_packing", "04_denominators", "05_bug_hunt")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labs")
    for name in LABS:
        shutil.copy(ROOT / "labs" / f"{name}.ipynb", folder)
    with server(folder) as address:
        yield address


@pytest.fixture(params=LABS)
def lab(request, chromium, address):
    """A lab with all its cells run, its name, and the box of its controls."""
    with open_notebook(chromium, address, f"{request.param}.ipynb") as notebook:
        notebook.run_all()
        box = notebook.page.locator(".jp-OutputArea-output .widget-vbox").first
        box.wait_for(timeout=30_000)
        box.scroll_into_view_if_needed()
        notebook.name, notebook.box = request.param, box
        yield notebook
        assert notebook.errors == [] and notebook.foreign == []


def press(lab, label, *keys):
    """Give keys to the control of this label, once the box keeps them from JupyterLab."""
    lab.page.locator(".widget-vbox[data-keys=stay]").first.wait_for(timeout=15_000)
    row = lab.box.locator(".widget-inline-hbox", has=lab.page.get_by_text(label, exact=True))
    target = row.locator("select, input[type=text], .noUi-handle").first
    target.focus()
    for key in keys:
        lab.page.keyboard.press(key)


def says(lab, words):
    lab.box.get_by_role("status").filter(has_text=words).wait_for(timeout=15_000)


def test_controls_moved_by_keyboard_are_answered_by_the_kernel(lab):
    cells = lab.page.locator(".jp-Cell").count()
    STORIES[lab.name](lab)
    assert lab.page.locator(".jp-Cell").count() == cells, "JupyterLab took a key"


def _masks(lab):
    batch = masks.masked_batch([4, 3], 8)
    table = lab.box.locator("table caption", has_text="mask: ")
    assert table.inner_text() == f"mask: {int(document_mask(batch).sum())} of 64 pairs"
    press(lab, "mask", "Home")  # causal
    table.get_by_text(f"mask: {int(causal_mask(8).sum())} of 64 pairs").wait_for(timeout=15_000)
    press(lab, "length of doc 1", "ArrowRight")
    press(lab, "boundary", "ArrowDown")
    batch = masks.masked_batch([4, 4], 8, "B")
    says(lab, f"targets {batch.num_targets}, row starts 1, boundaries 1, prompts 0, padding 0")
    press(lab, "prompt lengths", "End", "x")
    says(lab, "Not possible: prompt lengths are whole numbers")
    press(lab, "prompt lengths", "Backspace", "Backspace", "2")
    batch = masks.masked_batch([4, 4], 8, "B", [0, 2])
    says(lab, f"targets {batch.num_targets}, row starts 1, boundaries 1, prompts 1")


def _packing(lab):
    def shown(**state):
        found = packing.pack(**start | state)
        words = f"{found.rows} rows for {found.documents} documents, {found.utilization:.1%} used"
        says(lab, words)

    start = {"distribution": "lognormal", "documents": 200, "capacity": 256,
             "strategy": "best_fit_decreasing", "window": 0}  # fmt: skip
    shown()
    press(lab, "lengths", "End")
    shown(distribution="two sizes")
    press(lab, "strategy", "Home")
    shown(distribution="two sizes", strategy="next_fit")
    press(lab, "packer sees", "Home")
    press(lab, "documents", "ArrowRight", "ArrowRight")
    shown(distribution="two sizes", strategy="next_fit", window=8, documents=300)
    assert lab.box.locator("svg[role=img]").count() == 1


def _denominators(lab):
    def shown(*state):
        found = denominators.drift(*state)
        says(lab, f"cosine {found.cosine:.4f}, relative difference {found.relative:.4f}")

    shown(2, 2, "by length", "micro")
    press(lab, "ranks", "ArrowRight", "ArrowRight")
    shown(4, 2, "by length", "micro")
    press(lab, "documents", "Home")
    shown(4, 2, "as they come", "micro")
    press(lab, "rule", "End")
    shown(4, 2, "as they come", "slots")
    press(lab, "rule", "Home")
    shown(4, 2, "as they come", "global")


def _bug_hunt(lab):
    letters, names = list(COLLATORS), list(SETS)
    for letter, pad in product("CH", (0, 4)):
        press(lab, "collator", "Home", *["ArrowDown"] * letters.index(letter))
        press(lab, "documents", "Home", "ArrowDown")
        press(lab, "pad_id", "End" if pad else "Home")
        batch = COLLATORS[letter](*SETS[names[1]], pad)
        says(lab, f"num_items_in_batch = {batch['num_items_in_batch']}")
        row = lab.box.locator("table").first.locator("tr", has_text="labels")
        right = [str(v) for v in batch["labels"][0].tolist()]
        expect(row.locator("td")).to_have_text(right, timeout=15_000)


STORIES = {
    "02_masks": _masks,
    "03_packing": _packing,
    "04_denominators": _denominators,
    "05_bug_hunt": _bug_hunt,
}


def test_the_drawn_row_goes_into_its_answer_cell(chromium, address):
    """Solve the workbench, copy it as Python, paste it, and let the lab's own check judge it."""
    drawn = find("L2.3").reference()
    scored = [t for t, label in enumerate(drawn["labels"]) if t and label >= 0]
    right = {
        "starts": drawn["starts"],
        "positions": [str(p) for p in drawn["position_ids"]],
        "mask": drawn["mask"].flatten().nonzero().flatten().tolist(),
        "targets": scored,
        "loss": [f"{drawn['numerator']:g}", str(drawn["denominator"])],
    }
    with open_notebook(chromium, address, "02_masks.ipynb") as lab:
        lab.run_all()
        lab.page.locator(".cw").first.scroll_into_view_if_needed()
        solve_the_workbench(Hand(lab.page, "mouse"), right)
        lab.page.get_by_role("button", name="Copy as Python").click()
        copied = lab.page.get_by_label("Your answer as Python").input_value()
        cell = lab.page.locator(".jp-CodeCell", has_text="numerator = ...")
        rest = cell.locator(".cm-content").inner_text().partition("drawn = {")
        assert rest[1], "the answer cell has another form"
        cell.locator(".cm-content").click()
        lab.page.keyboard.press("Control+A")
        lab.page.keyboard.insert_text(copied + "\n" + rest[1] + rest[2].replace("\n\n", "\n"))
        lab.page.keyboard.press("Control+Enter")
        said = lab.page.locator(".jp-OutputArea-output", has_text="L2.3 Draw a row: correct")
        said.wait_for(timeout=30_000)
        assert lab.errors == [] and lab.foreign == []
