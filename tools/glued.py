"""What the cells of a page glued into its prose, read from the page's committed notebook.

The source says `{glue:text}` and a name where the notebook has the value: the two are laid beside
each other. Nothing is executed.
"""

from __future__ import annotations

import re

import jupytext
import nbformat

from tools.sources import Course, Page, SourceError

_GLUE = re.compile(r"\{glue:text\}`([^`:]+)(?::[^`]*)?`")


class _Marks(dict):
    """Every name is there; its value is a mark that stands in no text."""

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> str:
        return f"\ue000{name}\ue001"


def glued(course: Course, name: str) -> dict[str, str]:
    """Return glue name -> text as the notebook of the page `name` shows it.

    Raises SourceError where source and notebook do not lie beside each other.
    """
    from tools.plain_markdown import Converter

    page = course.pages[name]
    convert = Converter(course, page, _Marks()).convert
    written = nbformat.read(course.root / f"{name}.ipynb", as_version=4)
    shown = [c.source for c in written.cells if c.cell_type == "markdown"]
    values: dict[str, str] = {}
    for cell in jupytext.reads(page.text, fmt="md:myst").cells:
        if cell.cell_type == "markdown" and _GLUE.search(cell.source):
            values |= _beside(page, convert(cell.source), shown)
    return values


def _beside(page: Page, marked: str, shown: list[str]) -> dict[str, str]:
    names = re.findall("\ue000(.+?)\ue001", marked)
    pattern = re.sub("\ue000.+?\ue001", "(.+?)", re.escape(marked))
    for text in shown:
        if found := re.fullmatch(pattern, text):
            return dict(zip(names, found.groups(), strict=True))
    raise page.error(marked.splitlines()[0], f"the notebook says something else here: "
                     f"make notebooks P={page.name}.md")


def section_of(page: Page, name: str) -> str:
    """Return the heading above the first place that shows the glued value `name`.

    Raises SourceError if the page shows no such value.
    """
    place = re.search(rf"\{{glue:text\}}`{re.escape(name)}(?::[^`]*)?`", page.text)
    if place is None:
        raise SourceError(page.path.relative_to(page.root), 1, f"no glued value {name!r} is shown")
    return re.findall(r"^#+ +(.+?)\s*$", re.sub(r"^```.*?^```$", "", page.text[: place.start()],
                                               flags=re.M | re.S), re.M)[-1]
