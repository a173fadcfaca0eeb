"""`Live`: named controls, a function of their values, and a picture of what it returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from course_lib.widgets.live.html import refusal
from course_lib.widgets.live.keys import KeysStayHere

WIDE: dict[str, Any] = {
    "style": {"description_width": "9em"},
    "layout": {"width": "24em", "max_width": "98%"},
}


class Live(ipywidgets.VBox):
    """Controls above, and below them what `compute` makes of their values.

    `compute(**state)` returns what `draw` turns into HTML. It runs once at the start and then
    whenever a control moves. Where it raises ValueError, its sentence is shown and `result` is
    None.

    >>> from ipywidgets import IntSlider
    >>> Live("square", {"n": IntSlider(3, 0, 9)}, lambda n: n * n, str).result
    9
    """

    def __init__(
        self,
        name: str,
        controls: Mapping[str, ipywidgets.Widget],
        compute: Callable[..., Any],
        draw: Callable[[Any], str],
    ) -> None:
        self._name, self._compute, self._draw = name, compute, draw
        self.controls = dict(controls)
        self.view = ipywidgets.HTML()
        self.result: Any = None
        super().__init__([_in_rows(list(self.controls.values())), self.view, KeysStayHere()])
        for control in self.controls.values():
            control.observe(self._refresh, names="value")
        self._refresh()

    @property
    def state(self) -> dict[str, Any]:
        """The values of the controls by name."""
        return {name: control.value for name, control in self.controls.items()}

    def _refresh(self, change: Any = None) -> None:
        try:
            self.result = self._compute(**self.state)
        except ValueError as error:
            self.result, self.view.value = None, refusal(str(error))
        else:
            self.view.value = self._draw(self.result)

    def __repr__(self) -> str:
        return f"Live(name={self._name!r}, values={list(self.state.values())})"


def _in_rows(controls: list[ipywidgets.Widget]) -> ipywidgets.Box:
    """Two controls beside each other where there is room for them."""
    return ipywidgets.Box(controls, layout=ipywidgets.Layout(flex_flow="row wrap"))


def slider(name: str, value: int, low: int, high: int, step: int = 1) -> ipywidgets.IntSlider:
    """Return a slider of whole numbers that reports while it is dragged.

    >>> slider("capacity", 8, 4, 12).max
    12
    """
    return ipywidgets.IntSlider(value, low, high, step, description=name, **WIDE)


def menu(name: str, options: Any, value: Any = None) -> ipywidgets.Dropdown:
    """Return a menu; `options` are values, or pairs (shown, value).

    >>> menu("boundary", ["A", "B"]).value
    'A'
    """
    chosen = {} if value is None else {"value": value}
    return ipywidgets.Dropdown(options=options, description=name, **WIDE, **chosen)


def field(name: str, value: str) -> ipywidgets.Text:
    """Return a line of text that reports with each key.

    >>> field("prompts", "0, 0").value
    '0, 0'
    """
    return ipywidgets.Text(value, description=name, **WIDE)


def whole_numbers(text: str, name: str) -> list[int]:
    """Return the whole numbers of "3, 0"; raise ValueError for anything else.

    >>> whole_numbers("3, 0", "prompts")
    [3, 0]
    """
    try:
        numbers = [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        numbers = [-1]
    if min(numbers, default=0) < 0:
        raise ValueError(
            f"{name} are whole numbers from 0, such as '3, 0'; {text!r} is something else."
        )
    return numbers
