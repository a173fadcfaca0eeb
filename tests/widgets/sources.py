"""The exercises of a chapter, made again from its source, so that a page can be held to them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import course_lib
from course_lib import widgets
from course_lib.widgets import CourseWidget

_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?::[^\n]*\n)*(.*?)^```$", re.M | re.S)


def exercises_of(page: Path) -> list[CourseWidget]:
    """Return the exercises of a page in their order.

    Of the page's code only the exercise runs, and the assignments that its arguments need.
    """
    body = [s for cell in _CELL.findall(page.read_text("utf8")) for s in ast.parse(cell).body]
    found = []
    for at, statement in enumerate(body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("widgets."):
            scope = {name: getattr(course_lib, name) for name in course_lib.__all__}
            scope["widgets"] = widgets
            _define(call, body[:at], scope)
            found.append(eval(ast.unparse(call), scope))
    return [widget for widget in found if isinstance(widget, CourseWidget)]


def _define(node: ast.AST, before: list[ast.stmt], scope: dict) -> None:
    """Run the last assignment to each name in `node` that `scope` does not know."""
    for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - set(scope):
        for at in range(len(before) - 1, -1, -1):
            statement = before[at]
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
                _define(statement.value, before[:at], scope)
                exec(ast.unparse(statement), scope)
                break
