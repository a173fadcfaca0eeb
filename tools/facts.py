"""The claims of the course, written once in `book/facts.yml`, each with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tools.sources import Course


@dataclass(frozen=True)
class Facts:
    course: Course = Course()
    page: ClassVar[str] = "book/21_facts"

    @property
    def cites(self) -> set[str]:
        return set()
