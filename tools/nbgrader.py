"""Write the labs as sources for nbgrader: `python -m tools.nbgrader FOLDER`.

Each lab becomes FOLDER/source/NN_name/NN_name.ipynb with its solutions between nbgrader's markers
and the metadata that nbgrader asks for. In front of a solution stands our stub, so that what
`nbgrader generate_assignment` leaves runs like our own student notebook.
"""

from __future__ import annotations

import sys
from pathlib import Path

import jupytext
import nbformat

from tools import solutions
from tools.sources import Course, Page

CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "shift-pad-pack"
c.ClearSolutions.code_stub = {"python": "# your answer"}
"""


def source(page: Page) -> nbformat.NotebookNode:
    """Return a lab as a source notebook of nbgrader."""
    notebook = jupytext.reads(page.text, fmt="md:myst")
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    )
    for number, cell in enumerate(notebook.cells):
        cell.metadata = nbformat.NotebookNode()
        if cell.cell_type == "code" and solutions.has_solution(cell.source):
            cell.source = _with_stub(cell.source, page)
            cell.metadata["nbgrader"] = nbformat.from_dict({
                "schema_version": 3, "grade_id": f"answer-{number}", "solution": True,
                "grade": False, "locked": False, "task": False,
            })  # fmt: skip
    return notebook


def _with_stub(cell: str, page: Page) -> str:
    """Put each stub in front of its solution and keep the solution between its markers."""
    out: list[str] = []
    block: list[str] = []
    for line in cell.splitlines():
        mark = line.strip()
        if mark == solutions.BEGIN or block:
            block.append(line)
        else:
            out.append(line)
        if mark == solutions.END:
            kept = [x for x in block if not x.lstrip().startswith(solutions.STUB)]
            out += [solutions.student("\n".join(block), page), *kept]
            block = []
    return "\n".join(out)


def write(course: Course, folder: Path) -> list[Path]:
    """Write the course folder of nbgrader and return its sources."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nbgrader_config.py").write_text(CONFIG)
    written = []
    for name, page in course.pages.items():
        if page.is_lab:
            lab = Path(name).name
            path = folder / "source" / lab / f"{lab}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(source(page), path)
            written.append(path)
    return written


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for made in write(Course(), Path(sys.argv[1])):
        print(made)
