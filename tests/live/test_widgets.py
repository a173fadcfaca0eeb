"""Each exercise in JupyterLab: shown, worked, and its answer judged by the kernel."""

from __future__ import annotations

import pytest

from tests.live.jupyterlab import open_notebook, server, write_notebook
from tests.widgets.pages import EXERCISES

# what is pressed, and what the kernel then says about the answer that it received
CASES = {
    "workbench": ("widgets.Workbench([[1, 2, 3], [1, 1]], 8)", ".cw-cell", 4,
                  "starts: 1 wrong, first at 0"),
    "strip": ("widgets.TargetStrip([[5, 1, 6, 2]], 8, prompt_lengths=[3])", ".cw-cell", 4,
              "ignored: 6 wrong, first at 1"),
    "denominators": ("widgets.Denominators()", ".cw-cell", 6, "moves: 4 wrong, first at 9"),
    "bugs": ("widgets.SpotTheBug('double-shift')", ".cw-word", 0, "words: 2 wrong, first at 0"),
    "quick": ("widgets.QuickCheck('shift')", ".cw-option", 1, "choice: correct"),
    "steps": ("widgets.StepThrough()", ".cw-tab", 6, "frame 6"),
    "calculator": ("widgets.Calculator()", ".cw-preset", 1, "400 documents, 204,800 tokens"),
}  # fmt: skip

ASKED = {"steps": "'frame %d' % w.answer['frame']",
         "calculator": "f'{w.costs().documents} documents, {w.costs().tokens:,} tokens'"}
SHOW = """import ipywidgets
from IPython.display import display
def show(w):
    line = ipywidgets.HTML("")
    def tell(change):
        line.value = "<p class='kernel-{name}'>%s</p>" % ({asked},)
    w.observe(tell, "answer")
    display(w, line)
show({make})"""

SET = """set_here = widgets.QuickCheck("shift")
display(set_here)
set_here.answer = {"choice": 2}"""


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    cells = [SHOW.format(make=make, name=name, asked=ASKED.get(name, "w.result()"))
             for name, (make, *_) in CASES.items()]  # fmt: skip
    write_notebook(folder / "exercises.ipynb", ["from course_lib import widgets", *cells, SET])
    with (server(folder) as address,
          open_notebook(chromium, address, "exercises.ipynb") as notebook):  # fmt: skip
        notebook.run_all()
        yield notebook


def test_every_exercise_is_tried_live():
    assert {EXERCISES[n]().module for n in EXERCISES} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_receives_and_judges_the_answer(lab, name):
    _, selector, index, said = CASES[name]
    cell = lab.page.locator(".jp-CodeCell").nth(1 + list(CASES).index(name))
    cell.scroll_into_view_if_needed()
    cell.locator(".cw").wait_for(timeout=30_000)
    cell.locator(selector).nth(index).click()
    line = lab.page.locator(f".kernel-{name}", has_text=said)
    line.wait_for(timeout=15_000)
    assert lab.errors == [] and lab.foreign == []


def test_keys_stay_with_the_exercise(lab):
    cells = lab.page.locator(".jp-CodeCell")
    before = cells.count()
    word = lab.page.locator(".cw-word").first
    word.scroll_into_view_if_needed()
    word.focus()
    for key in ("b", "ArrowDown", "Space", "a", "d", "d"):  # JupyterLab's own shortcuts
        lab.page.keyboard.press(key)
    assert cells.count() == before
    assert lab.page.locator(".cw-word").nth(1).get_attribute("aria-pressed") == "true"


def test_an_answer_set_by_the_kernel_is_shown(lab):
    cells = lab.page.locator(".jp-CodeCell")
    cells.last.scroll_into_view_if_needed()
    options = cells.last.locator(".cw-option")
    state = "all => all.map((b) => b.getAttribute('aria-pressed'))"
    options.first.wait_for(timeout=15_000)
    assert options.evaluate_all(state) == ["false", "false", "true"]
    assert "the double shift" in cells.last.inner_text()
