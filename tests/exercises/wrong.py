"""How the answers files write down a wrong answer."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wrong:
    """A wrong answer, the misconception that it must be told, and a text its message must hold."""

    answer: Any
    misconception: str | None = None
    says: str = ""

    def told(self, result: Any) -> bool:
        """Whether a result says to this answer what it should."""
        unwrapped = result.message.replace("\n  ", " ").replace("\n", " ")
        said = self.says in result.message or self.says in unwrapped
        return result.status == "not yet" and result.misconception == self.misconception and said
