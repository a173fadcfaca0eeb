"""Checks in a real kernel: one message a cell, no exception of ours, and later cells go on."""

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = [
    "from course_lib.exercises import calling, check, hint",
    "def shift(logits, labels):\n    ...\n\ncheck('2.2', shift)",
    "def shift(logits, labels):\n    while True:\n        pass\n\n"
    "calling.SECONDS = 0.3\ncheck('2.2', shift)",
    "calling.SECONDS = 10\n"
    "def shift(logits, labels):\n    return logits[:, :-1], labels[:, 9]\n\ncheck('2.2', shift)",
    "def shift(logits, labels):\n    return logits[:, :-1], labels[:, 1:]\n\ncheck('2.2', shift)",
    "def shift(*both):\n    print('seen')\n    return both\n\ncheck('2.2', shift)",
    "hint('2.2')",
    "1 + 1",
]


@pytest.fixture(scope="module")
def outputs():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def printed(cell):
    assert {output.output_type for output in cell} == {"stream"}
    assert {output.name for output in cell} == {"stdout"}
    return "".join(output.text for output in cell)


def test_the_message_is_the_only_output(outputs):
    assert printed(outputs[1]) == "2.2 Write shift: not attempted yet\n"
    assert printed(outputs[4]).startswith("2.2 Write shift: correct\nPassed: ")
    assert printed(outputs[6]).startswith("Hint 1 of 3: ")


def test_endless_loop_ends_and_later_cells_run(outputs):
    assert "did not end within 0.3 seconds" in printed(outputs[2])
    assert outputs[7][0]["data"]["text/plain"] == "2"


def test_exception_is_told_with_the_line_of_the_cell(outputs):
    text = " ".join(printed(outputs[3]).split())
    assert "Your function raised IndexError: index 9 is out of bounds" in text
    assert "in the line `return logits[:, :-1], labels[:, 9]`" in text
    assert "Traceback" not in text and "ipykernel" not in text


def test_what_an_answer_prints_stays_in_its_cell(outputs):
    text = printed(outputs[5])
    assert "seen" in text and "nothing dropped" in text
