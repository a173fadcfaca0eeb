"""Code cells as plain Python: what only IPython understands is left out.

A cell that is Python stays as it is. In any other, lines such as `%matplotlib inline`, `!pip
install x` and `name?` become `pass`, and `%%time` goes, while the cell below it stays.
"""

from __future__ import annotations

import ast
import re

_LINE = re.compile(r"^(\s*)(?:[%!]|\?|(?:[\w.]+\s*=\s*)[%!]|[\w.]+\?\??\s*$)")
_STAYS = ("%%time", "%%timeit", "%%capture", "%%prun")


def python_of(source: str) -> str:
    """Return a cell without IPython's own lines.

    >>> python_of("%matplotlib inline\\nx = 1")
    'pass\\nx = 1'
    """
    if _is_python(source):
        return source
    lines = source.splitlines()
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines and lines[first].startswith("%%"):
        if not lines[first].startswith(_STAYS):
            return ""
        lines[first] = ""
    return "\n".join(_without(line) for line in lines)


def _without(line: str) -> str:
    found = _LINE.match(line)
    return f"{found[1]}pass" if found else line


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
