"""How the answers files write down a wrong answer."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wrong:
    """A wrong answer, the misconception that it must be told, and a text its message must hold."""

    answer: Any
    misconception: str | None = None
    says: str = ""
