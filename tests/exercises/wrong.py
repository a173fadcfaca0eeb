"""How the answers files write down a wrong answer."""

from collections.abc import Callable
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
        says, message = self.says.lower(), result.message.lower()
        said = says in message or says in " ".join(message.split())
        return result.status == "not yet" and result.misconception == self.misconception and said


def up_to(limit: int, size: Callable[..., int], right: Callable, wrong: Callable) -> Callable:
    """An answer that is right as long as `size` of its arguments is at most `limit`."""

    def answer(*args: Any) -> Any:
        return (right if size(*args) <= limit else wrong)(*args)

    answer.__wrapped__ = right  # so that its parameters are those of the right one
    return answer
