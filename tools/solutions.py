"""Solutions in a lab become stubs, so that one source serves students and proofs.

In a code cell, the lines from `### BEGIN SOLUTION` to `### END SOLUTION` are the solution. What
stands there in the student's notebook is, in this order:

- the lines after `### STUB:` inside the solution, where the author wrote some;
- inside a function: `...  # your code here`, so that the function returns None;
- at top level: `name = ...  # your answer` for each name that the solution binds.

An untouched stub thus runs: Ellipsis and None are what "not attempted yet" looks like.
"""

from __future__ import annotations

import ast
import re
import textwrap

from tools.sources import Page

BEGIN, END, STUB = "### BEGIN SOLUTION", "### END SOLUTION", "### STUB:"
_NEAR_MARKER = re.compile(r"\b(BEGIN|END)\s+SOLUTION\b|#\s*STUB\b", re.I)


def has_solution(source: str) -> bool:
    return BEGIN in source


def _bound_names(solution: str) -> list[str]:
    """Names that a piece of top-level code binds, in order."""
    names: list[str] = []
    for node in ast.parse(textwrap.dedent(solution)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = [n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            names += [n.id for n in found if isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(names))


def _stub(lines: list[str], indent: str, page: Page) -> list[str]:
    written = [line.split(STUB, 1)[1][1:] for line in lines if line.lstrip().startswith(STUB)]
    if written:
        return [indent + line for line in written]
    if indent:
        return [f"{indent}...  # your code here"]
    names = _bound_names("\n".join(lines))
    if not names:
        raise page.error(next((x for x in lines if x.strip()), BEGIN),
                         f"this solution binds no name: say with '{STUB} …' what its stub is")
    return [f"{name} = ...  # your answer" for name in names]


def student(source: str, page: Page) -> str:
    """The cell as the student gets it. Raises SourceError for unbalanced markers.

    A name that a `### STUB:` line mentions need not be the solution's own.
    """
    out: list[str] = []
    inside: list[str] | None = None
    indent = ""
    for line in source.splitlines():
        mark = line.strip()
        if mark == BEGIN:
            if inside is not None:
                raise page.error(line, f"{BEGIN} inside a solution: close the first one")
            inside, indent = [], line[: len(line) - len(line.lstrip())]
        elif mark == END:
            if inside is None:
                raise page.error(line, f"{END} without {BEGIN} in the same cell")
            out += _stub(inside, indent, page)
            inside = None
        elif inside is not None:
            inside.append(line)
        elif _NEAR_MARKER.search(line):
            raise page.error(line, f"not a marker: write exactly {BEGIN}, {END} or, between them, "
                             f"{STUB} …")
        else:
            out.append(line)
    if inside is not None:
        raise page.error(BEGIN, f"{BEGIN} without {END} in the same cell")
    return "\n".join(out)


def solved(source: str) -> str:
    """The cell with its solution and without the markers."""
    keep = [x for x in source.splitlines()
            if x.strip() not in (BEGIN, END) and not x.lstrip().startswith(STUB)]
    return "\n".join(keep)
