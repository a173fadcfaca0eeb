"""The API page: every public name of `course_lib` with its docstring, room by room.

On the site Sphinx's autodoc reads signature and docstring from the package itself; a notebook gets
a link to that section of the page, and prints the first sentences with `public_names`.
"""

from __future__ import annotations

import importlib
from functools import cache

from course_lib.contents import PublicName, first_sentence, public_names, rooms
from tools.sources import Course

PAGE = "book/20_api"
SHORT = 60  # characters of a value that is shown


def entry(name: PublicName) -> str:
    """Return what Sphinx is asked for: one directive of autodoc, in reStructuredText."""
    if name.kind != "data":
        members = "\n   :members:\n" if name.kind == "class" else ""
        return f".. auto{name.kind}:: {name.address}{members}\n"
    module, _, last = name.address.rpartition(".")
    value = repr(getattr(importlib.import_module(module), last))
    shown = f"   :value: {value}\n" if len(value) <= SHORT else ""
    return f".. py:data:: {name.address}\n{shown}\n   {name.doc}\n"


def markdown(room: str, *, site: bool) -> str:
    """Return the section of one room: for the site its entries, for a notebook a link to them.

    >>> markdown("batch", site=True).splitlines()[2:4]
    ['```{eval-rst}', '.. autoclass:: course_lib.Batch']
    """
    about = first_sentence(importlib.import_module(f"course_lib.{room}").__doc__)
    if site:
        entries = "\n".join(entry(name) for name in public_names(room))
        return f"{about}\n\n```{{eval-rst}}\n{entries}```"
    url = f"{Course().page_url(PAGE)}#{room}"
    return f"{about} [Signatures, shapes, errors and examples]({url}) are on the page."


@cache
def addresses() -> dict[str, str]:
    """Return short name -> address; a name that `course_lib` itself offers goes before others.

    >>> addresses()["pack_documents"]
    'course_lib.pack_documents'
    """
    every = [name for room in rooms() for name in public_names(room)]
    every.sort(key=lambda name: -name.address.count("."))
    return {name.name: name.address for name in every}


@cache
def unique() -> frozenset[str]:
    """Return the short names that can be linked wherever they stand in backticks.

    A name of `course_lib` itself that no room has a second time. Others are often something else:
    `attention_mask` draws a figure, and is a tensor of a batch.

    >>> {"Batch", "Report", "attention_mask"} & unique()
    {'Batch'}
    """
    every = [name for room in rooms() for name in public_names(room)]
    short = [name.name for name in every]
    return frozenset(name.name for name in every
                     if short.count(name.name) == 1 and name.address.count(".") == 1)
