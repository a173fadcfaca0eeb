"""The parameters of a model, counted by part."""

from __future__ import annotations

from typing import NamedTuple


class ParameterRow(NamedTuple):
    """One part of a model: its name, the shapes of its tensors, and how many numbers they hold."""

    part: str
    shape: str
    count: int


class ParameterTable(tuple[ParameterRow, ...]):
    """The parts of a model as rows, with the `total` computed from them."""

    @property
    def total(self) -> int:
        return sum(row.count for row in self)

    def _rows(self) -> list[tuple[str, str, str]]:
        body = [(row.part, row.shape, f"{row.count:,}") for row in self]
        return [*body, ("total", "", f"{self.total:,}")]

    def __repr__(self) -> str:
        rows = [("part", "shape", "count"), *self._rows()]
        part, shape, count = (max(map(len, column)) for column in zip(*rows, strict=True))
        return "\n".join(f"{p:<{part}}  {s:<{shape}}  {c:>{count}}" for p, s, c in rows)

    def _repr_html_(self) -> str:
        body = "".join(f"<tr><td>{p}</td><td>{s}</td><td>{c}</td></tr>" for p, s, c in self._rows())
        head = "<tr><th>part</th><th>shape</th><th>count</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
