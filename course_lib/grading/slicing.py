"""Leaves out the cells of the lab's own that no answer depends on, such as long trainings.

A cell is run if a student wrote or changed it, if it hands something to `check`, or if it may
affect a name that a cell to be run uses after it (a function may use its names at any time). Only a
cell that is word for word the released one can be left out. When in doubt, a cell is run: passing a
name to a function, or calling a method of it, counts as affecting it.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from course_lib.grading.inside.cells import python_of

_ANYTHING = {"exec", "eval", "globals", "locals", "vars", "get_ipython", "__import__", "importlib"}
_AT_ONCE = {"listcomp", "setcomp", "dictcomp", "genexpr"}
_SETTER = re.compile(r"set_|manual_seed|seed|use_|enable|disable|register|default")
_READS_ONLY = frozenset(
    "print len range list sorted str repr sum max min zip enumerate isinstance float int tuple set "
    "abs all any bool type id map filter iter next reversed round".split()
)


@dataclass(frozen=True)
class Facts:
    """Global names that a cell uses as it runs, uses in its functions, and affects.

    `opaque` where that cannot be said.
    """

    uses: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    affects: frozenset[str] = frozenset()
    opaque: bool = False


def needed(cells: Sequence[str], released: Iterable[str]) -> list[bool]:
    """Return for each cell whether it must be run.

    >>> lab = ["x = 1", "y = long()", "check('1.1', x)"]
    >>> needed(lab, lab)
    [True, False, True]
    """
    known = {_normal(source) for source in released}
    modules = {name for source in released for name in _modules(source)}
    facts = [_facts(source, modules) for source in cells]
    own = [_normal(source) not in known for source in cells]
    if any(mine and fact.opaque for mine, fact in zip(own, facts, strict=True)):
        return [True] * len(cells)
    run = [mine or "check" in fact.uses for mine, fact in zip(own, facts, strict=True)]
    while True:
        until = _last_uses(facts, run)
        more = [
            go or any(until.get(name, -1) > i for name in fact.affects)
            for i, (fact, go) in enumerate(zip(facts, run, strict=True))
        ]
        if more == run:
            return run
        run = more


def _last_uses(facts: Sequence[Facts], run: Sequence[bool]) -> dict[str, float]:
    """Return for each name the number of the last cell to be run that uses it."""
    until: dict[str, float] = {}
    for i, fact in enumerate(facts):
        if run[i]:
            until |= {name: max(i, until.get(name, 0)) for name in fact.uses}
            until |= dict.fromkeys(fact.later, float("inf"))
    return until


def _normal(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _modules(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(python_of(source))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)


def _facts(source: str, modules: set[str]) -> Facts:
    text = python_of(source)
    try:
        tree = ast.parse(text)
        top = symtable.symtable(text, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Facts()
    uses, later, binds = set(), set(), set()
    for scope in _scopes(top):
        for symbol in scope.get_symbols():
            if scope is not top and not symbol.is_global():
                continue
            if symbol.is_referenced():
                at_once = scope is top or scope.get_name() in _AT_ONCE
                (uses if at_once else later).add(symbol.get_name())
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                binds.add(symbol.get_name())
    touched = {name for name, how in _touched(tree) if name in uses | later | binds
               and (name not in modules or _SETTER.match(how))}  # fmt: skip
    star = any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(tree))
    calls = {attr.attr for attr in ast.walk(tree) if isinstance(attr, ast.Attribute)}
    uses = (uses & _used_before_bound(tree)) | ({"check"} & (uses | calls))
    opaque = star or bool(_ANYTHING & (uses | later))
    known = set(dir(builtins))
    return Facts(
        frozenset(uses - known), frozenset(later - known), frozenset(binds | touched), opaque
    )


def _used_before_bound(tree: ast.Module) -> set[str]:
    """Names that a statement at the top reads before the cell itself has bound them."""
    used: set[str] = set()
    bound: set[str] = set()
    for statement in tree.body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        used |= {node.id for node in names if isinstance(node.ctx, ast.Load)} - bound
        if isinstance(statement, ast.AugAssign):
            used |= {node.id for node in names} - bound
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
            bound.add(statement.name)
    return used


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _scopes(inner)


def _touched(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names whose object may change, each with what is called or set on it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript):
            if not isinstance(node.ctx, ast.Load):
                yield _base(node), "set_"
        elif isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                yield _base(function), function.attr
            elif getattr(function, "id", "") in _READS_ONLY:
                continue
            for given in [*node.args, *(keyword.value for keyword in node.keywords)]:
                yield _base(given), ""
    for loop in (n for n in ast.walk(tree) if isinstance(n, ast.For)):
        yield _base(loop.iter), ""


def _base(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
