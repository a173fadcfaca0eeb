"""Numbers in prose: a cell computes a value, the text around it shows that value.

In a chapter, ``glue("utilization", 0.987, ".1%")`` stores ``98.7%``, and the prose asks for it
with ``{glue:text}`utilization```. While the book and the notebooks are made (the environment
variable ``COURSE_GLUE`` is set then) the value goes to MyST-NB; anywhere else, for a reader in
Colab or Jupyter, the call shows nothing and the notebook already has the value in its text.
"""

from __future__ import annotations

import os
from typing import Any


def as_text(value: Any, fmt: str | None = None) -> str:
    """What the prose shows for `value`: formatted with `fmt`, a tensor as its numbers.

    Raises ValueError for a text that is empty or longer than one line.

    >>> as_text(9 / 7, ".3f")
    '1.286'
    >>> as_text(1234567, ",")
    '1,234,567'
    """
    if hasattr(value, "tolist"):  # torch.Tensor, numpy.ndarray and numpy scalars
        value = value.tolist()
    text = str(value) if fmt is None else format(value, fmt)
    if not text.strip() or "\n" in text:
        raise ValueError(f"prose shows one line of text, but the value is {text!r}: pass a number "
                         "or a short text")
    return text


def glue(name: str, value: Any, fmt: str | None = None) -> None:
    """Store `value` under `name` for the prose of this page.

    `fmt` is a format specification such as ``".3f"`` or ``".1%"``. Raises ValueError as
    `as_text` does.

    >>> glue("targets", 7)
    """
    text = as_text(value, fmt)
    if not os.environ.get("COURSE_GLUE"):
        return
    from myst_nb import glue as store  # only where pages are built: Colab does not have it

    store(name, text, display=False)
