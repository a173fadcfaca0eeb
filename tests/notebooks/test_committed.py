"""What stands in the committed notebooks, before anything is executed."""

import json

import pytest

from tools.notebooks import METADATA, setup_source
from tools.solutions import BEGIN, END, STUB
from tools.sources import ROOT, Course

COURSE = Course()
NAMES = list(COURSE.pages)
MIMES = {"text/plain", "text/html", "image/png"}


def notebook(name: str) -> dict:
    return json.loads((ROOT / f"{name}.ipynb").read_text("utf8"))


def code_cells(name: str) -> list[dict]:
    return [c for c in notebook(name)["cells"] if c["cell_type"] == "code"]


def outputs(name: str) -> list[dict]:
    return [output for cell in code_cells(name) for output in cell["outputs"]]


def test_there_are_pages_and_no_notebook_without_one():
    assert NAMES, "no source page found"
    found = {p.relative_to(ROOT).with_suffix("").as_posix()
             for room in ("book", "labs") for p in (ROOT / room).glob("*.ipynb")}
    assert found == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_code_cell_was_executed_in_order(name):
    # nbval never compares a cell whose count is null
    counts = [c["execution_count"] for c in code_cells(name)]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("name", NAMES)
def test_no_output_is_an_error_or_a_warning(name):
    kinds = [(o["output_type"], o.get("name")) for o in outputs(name)]
    assert ("error", None) not in kinds
    assert ("stream", "stderr") not in kinds, "a cell writes to stderr: mend what it warns of"


@pytest.mark.parametrize("name", NAMES)
def test_mime_types_are_on_the_list_and_each_has_a_text_twin(name):
    for output in outputs(name):
        data = output.get("data", {"text/plain": ""})
        assert set(data) <= MIMES, f"{set(data) - MIMES}: not shown everywhere"
        assert "text/plain" in data


@pytest.mark.parametrize("name", NAMES)
def test_no_output_holds_an_address_or_a_plot_object(name):
    for output in outputs(name):
        text = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        assert " at 0x" not in text, f"give this object a repr: {text[:80]}"
        assert not text.startswith(("<Axes", "[<matplotlib", "<Figure size", "Text("))


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_and_metadata_is_stable(name):
    nb = notebook(name)
    ids = [cell["id"] for cell in nb["cells"]]
    assert len(set(ids)) == len(ids)
    assert nb["metadata"] == METADATA
    for cell in nb["cells"]:
        assert set(cell["metadata"]) <= {"tags", "cellView"}


@pytest.mark.parametrize("name", NAMES)
def test_the_set_up_cell_is_first_and_touches_no_library(name):
    first = notebook(name)["cells"][0]
    source = "".join(first["source"])
    assert source == setup_source(COURSE) and first["outputs"] == []
    assert "--no-deps" in source and COURSE.repository in source


@pytest.mark.parametrize("name", NAMES)
def test_students_get_no_solution(name):
    page = COURSE.pages[name]
    text = (ROOT / f"{name}.ipynb").read_text("utf8")
    assert not any(mark in text for mark in (BEGIN, END, STUB))
    if page.is_lab:
        assert BEGIN in page.text, "a lab without a single exercise"


@pytest.mark.parametrize("name", NAMES)
def test_every_glued_number_has_its_value(name):
    text = (ROOT / f"{name}.ipynb").read_text("utf8")
    assert "{glue" not in text
