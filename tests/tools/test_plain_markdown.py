"""MyST to plain Markdown: each form that a chapter may use, and an error for any other."""

import pytest

from tools.plain_markdown import Converter
from tools.sources import SourceError

BLOB = "https://github.com/shift-pad-pack/shift-pad-pack/blob/main"


@pytest.fixture
def plain(course):
    return Converter(course, course.pages["book/01_first"], {"mean": "1.286"}).convert


@pytest.mark.parametrize(("myst", "markdown"), [
    ("```{note}\nA note.\n\nMore.\n```", "> **Note**\n>\n> A note.\n>\n> More."),
    (":::{tip} First words\nRest.\n:::", "> **Tip**\n>\n> First words\n>\n> Rest."),
    ("```{admonition} Think\n:class: tip\nWhy?\n```", "> **Think**\n>\n> Why?"),
    (":::{seealso}\nA book.\n:::", "> **See also**\n>\n> A book."),
    (":::{dropdown} Hint\nLook.\n:::",
     "<details><summary>Hint</summary>\n\nLook.\n\n</details>"),
    (":::{admonition} Hint\n:class: dropdown\nLook.\n:::",
     "<details><summary>Hint</summary>\n\nLook.\n\n</details>"),
    ("::::{note}\n:::{dropdown} In\nDeep.\n:::\n::::",
     "> **Note**\n>\n> <details><summary>In</summary>\n>\n> Deep.\n>\n> </details>"),
    ("```python\nx = {1}\n{note}\n```", "```python\nx = {1}\n{note}\n```"),
    ("```{math}\n:label: eq\nx + 1\n```", "$$\nx + 1\n$$"),
    ("$$\nx\n$$ (eq-x)", "$$\nx\n$$"),
    ("slot\n: a place", "- **slot**: a place"),
    ("```{glossary}\nslot\n  a place,\n  one of many\n```", "- **slot**: a place, one of many"),
    ("(label)=\n% comment\nText.", "Text."),
    ("mean {glue:text}`mean` and {glue:text}`mean:.1f`", "mean 1.286 and 1.3"),
    ("`{glue:text}` and $x_{i}$ stay", "`{glue:text}` and $x_{i}$ stay"),
    ("{ref}`rule`", f"[The rule]({BLOB}/book/02_second.ipynb)"),
    ("{ref}`here <first>`", "here"),
    ("{doc}`02_second`", f"[Second page]({BLOB}/book/02_second.ipynb)"),
    ("[lab](../labs/01_lab.md)", f"[lab]({BLOB}/labs/01_lab.ipynb)"),
    ("[away](https://example.org/x.md)", "[away](https://example.org/x.md)"),
    ("{term}`slot` {kbd}`Tab` {math}`x^2`", "slot <kbd>Tab</kbd> $x^2$"),
    ("```{figure} pic.png\n:alt: a picture\nCaption.\n```",
     "![a picture](https://github.com/shift-pad-pack/shift-pad-pack/raw/main/book/pic.png)\n\n"
     "Caption."),
    ("```{raw} html\n<b>x</b>\n```", "[This part is interactive on the page.]"
     "(https://shift-pad-pack.github.io/shift-pad-pack/book/01_first.html)"),
    ("````{table} Title\n| a |\n|---|\n| 1 |\n````", "**Title**\n\n| a |\n|---|\n| 1 |"),
])
def test_form(plain, myst, markdown):
    assert plain(myst) == markdown


@pytest.mark.parametrize(("myst", "message"), [
    ("```{plotly}\nx\n```", "directive {plotly}"),
    ("{colour}`x`", "role {colour}"),
    ("{glue:text}`median`", "no cell of this page glues 'median'; glued: mean"),
    ("{ref}`nowhere`", "no page has the label 'nowhere'"),
    ("[x](09_none.md)", "there is no page 'book/09_none'"),
    ("[x](#nowhere)", "neither an address"),
    ("```{note}\nopen", "no closing ```"),
    (":::\nx\n:::", "needs a directive"),
])
def test_what_has_no_plain_form_is_an_error_with_a_place(plain, myst, message):
    with pytest.raises(SourceError, match="book/01_first.md:1: ") as caught:
        plain(myst)
    assert message in str(caught.value)


def test_the_error_names_the_line(course):
    page = course.pages["book/01_first"]
    with pytest.raises(SourceError, match=r"book/01_first\.md:19: no cell of this page glues"):
        Converter(course, page, {}).convert("The mean is {glue:text}`mean`; it says")
