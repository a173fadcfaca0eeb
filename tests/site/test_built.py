"""What stands in the built files, without a browser."""

from __future__ import annotations

import ast
import json
import re
import subprocess

import pytest
from bs4 import BeautifulSoup

from tools.sources import ROOT, Course, toc_names

COURSE = Course()
NAMES = toc_names()
DEAD = (
    "kernel connection is required",
    "application/vnd.jupyter.widget-view+json",
    "VBox(children=",
    "Widget Javascript not detected",
    "Error displaying widget",
    "require.min.js",
    "thebe-lite",
    "MathJax.js",
)


@pytest.fixture(scope="module")
def soup(html):
    return {name: BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")
            for name in NAMES}


def test_the_site_has_the_pages_of_the_table_of_contents(html):
    extra = {"index", "genindex", "search", "glossary", "404"}
    built = {p.relative_to(html).with_suffix("").as_posix() for p in html.rglob("*.html")
             if "_static" not in p.parts}
    assert built - extra == set(NAMES) - extra
    assert set(NAMES) == set(COURSE.pages), "a source page is missing in _toc.yml"


@pytest.mark.parametrize("name", NAMES)
def test_no_page_shows_an_error_or_something_dead(soup, name):
    text = str(soup[name])
    assert [word for word in DEAD if word in text] == []
    assert soup[name].select(".cell_output .traceback, .cell_output .stderr") == []
    assert soup[name].select(".system-message, .problematic") == []


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_its_text_twin(soup, name):
    for figure in soup[name].select(".course-figure"):
        twin = figure.select_one("details pre")
        assert twin and twin.get_text().strip()
    for image in soup[name].select(".cell_output img"):
        twin = image.find_next("details").select_one("pre").get_text()
        assert image["alt"] and twin.startswith(image["alt"])


@pytest.mark.parametrize("name", NAMES)
def test_the_colab_button_leads_to_the_committed_notebook(soup, name):
    start = COURSE.repository.replace("https://github.com", "https://colab.research.google.com/github")
    links = {a["href"] for a in soup[name].select('a[href*="colab.research.google.com"]')}
    assert links == {f"{start}/blob/{COURSE.branch}/{name}.ipynb"}
    tracked = subprocess.run(["git", "ls-files", f"{name}.ipynb"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout.split()
    assert tracked == [f"{name}.ipynb"], "the notebook is not committed"
    assert json.loads((ROOT / f"{name}.ipynb").read_text("utf8"))["nbformat"] == 4


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("book/")])
def test_the_page_and_the_notebook_show_the_same_numbers(soup, name):
    shown = [span.get_text() for span in soup[name].select("span.pasted-text")]
    source = COURSE.pages[name].text
    asked = re.findall(r"([\w ,]*)\{glue:text\}`[^`]+`", source)
    assert len(shown) == len(asked), "a glued value is missing on the page"
    notebook = json.loads((ROOT / f"{name}.ipynb").read_text("utf8"))
    cells = [c for c in notebook["cells"] if c["cell_type"] == "markdown"]
    prose = "\n".join("".join(c["source"]) for c in cells)
    at = 0
    for before, value in zip(asked, shown, strict=True):
        found = prose.find(before + value, at)
        assert found >= 0, f"the page says {before + value!r}, the notebook does not"
        at = found


@pytest.mark.parametrize("name", NAMES)
def test_math_is_mathml(soup, name):
    for block in soup[name].select(".math-block, span.math"):
        assert block.select_one("math"), f"not converted: {block.get_text()[:60]}"


@pytest.mark.parametrize(("part", "asset"), [
    (".course-widget", 'script[src*="course/widgets.js"]'),
    (".course-widget", 'link[href*="course/widgets.css"]'),
    (".course-figure", 'link[href*="course/figures.css"]'),
])
def test_scripts_and_styles_load_where_they_are_needed_and_only_there(soup, part, asset):
    for page in soup.values():
        assert bool(page.select(asset)) == bool(page.select(part))


def test_glued_names_are_used(soup):
    """A value that nothing shows is a number that somebody may have typed by hand instead."""
    for name in NAMES:
        if name.startswith("labs/"):
            continue
        source = COURSE.pages[name].text
        used = {ref.split(":")[0] for ref in re.findall(r"\{glue:text\}`([^`]+)`", source)}
        stored = set()
        for cell in re.findall(r"```\{code-cell\}[^\n]*\n(.*?)```", source, re.S):
            code = "\n".join(x for x in cell.splitlines() if not x.startswith(":tags:"))
            for node in ast.walk(ast.parse(code)):
                is_glue = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "glue"
                if is_glue and isinstance(node.args[0], ast.Constant):
                    stored.add(node.args[0].value)
        assert stored <= used, f"{name}: glued but not shown: {stored - used}"
