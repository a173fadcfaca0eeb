"""Whether a function can be called as an exercise calls it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any


def misfit(answer: Any, takes: Sequence[str]) -> str:
    """Return what is wrong with the parameters of a function, "" if it can be called.

    >>> misfit(lambda x: x, ["x"])
    ''
    """
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):  # some built-in functions do not tell
        return ""
    try:
        signature.bind(*takes)
    except TypeError:
        return (
            f"your function takes {signature}; it must take ({', '.join(takes)}), in this order"
        )
    return ""
