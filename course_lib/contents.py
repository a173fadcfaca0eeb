"""What the package holds: every public name, its room, and the first sentence of its docstring.

>>> public_names("padding")
padding: 1 name
pad_documents  Return a Batch [B, T] with one document a row; B documents, T the padded
               length.

The pages of the course show the same docstrings in full. A room is a module or package of
`course_lib`; its names are those that `course_lib` offers itself and those of its `__all__`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from dataclasses import dataclass

import course_lib


@dataclass(frozen=True)
class PublicName:
    """One public name: where it is imported from, what kind of thing it is, what it says."""

    room: str
    address: str
    kind: str
    doc: str

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition(".")[2]

    @property
    def sentence(self) -> str:
        """The first sentence of the docstring, on one line."""
        return first_sentence(self.doc)


class PublicNames(tuple):
    """The public names of one room; in a notebook they show as a table."""

    def __repr__(self) -> str:
        if not self:
            return "no public name"
        width = max(len(n.name) for n in self) + 2
        lines = [f"{self[0].room}: {len(self)} name{'s' * (len(self) > 1)}"]
        for n in self:
            lines += textwrap.wrap(f"{n.name:<{width}}{n.sentence}", 88,
                                   subsequent_indent=" " * width)  # fmt: skip
        return "\n".join(lines)


def rooms() -> list[str]:
    """Return the rooms that have public names.

    >>> rooms()[:3]
    ['vocabulary', 'boundaries', 'masks']
    """
    return [room for room in dict.fromkeys([*course_lib._ROOMS, *course_lib._PACKAGES])
            if _addresses(room)]  # fmt: skip


def public_names(room: str) -> PublicNames:
    """Return the public names of one room, first those that `course_lib` itself offers.

    Raises ValueError for a room that does not exist.

    >>> [n.name for n in public_names("loss")]
    ['shift', 'token_losses', 'LossSum', 'reduce_losses']
    """
    if room not in rooms():
        raise ValueError(f"course_lib has no room {room!r}: {', '.join(rooms())}")
    return PublicNames(_look(room, address) for address in _addresses(room))


def first_sentence(doc: str) -> str:
    """Return a docstring up to the first full stop, on one line.

    >>> first_sentence("Return it. Raise nothing.")
    'Return it.'
    """
    paragraph = " ".join(inspect.cleandoc(doc).split("\n\n")[0].split())
    found = re.match(r".+?[.](?=\s|$)", paragraph)
    return found[0] if found else paragraph


def _addresses(room: str) -> list[str]:
    top = course_lib._ROOMS.get(room, "").split()
    own = getattr(importlib.import_module(f"course_lib.{room}"), "__all__", [])
    siblings = [f"course_lib.{room}.{name}" for name in own if name not in top]
    return [*(f"course_lib.{name}" for name in top), *siblings]


def _look(room: str, address: str) -> PublicName:
    module, _, name = address.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        kind = "class" if inspect.isclass(thing) else "function"
        return PublicName(room, address, kind, inspect.getdoc(thing) or "")
    return PublicName(room, address, "data", _text_after(f"course_lib.{room}", name))


def _text_after(module: str, name: str) -> str:
    """The string that follows the assignment of a constant, found where it is assigned."""
    body = ast.parse(inspect.getsource(importlib.import_module(module))).body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ImportFrom) and name in [a.asname or a.name for a in node.names]:
            return _text_after(node.module, name)
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        assigned = {n.id for t in targets if t is not None for n in ast.walk(t)
                    if isinstance(n, ast.Name)}  # fmt: skip
        is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and name in assigned:
            return inspect.cleandoc(following.value.value) if is_text else ""
    return ""
