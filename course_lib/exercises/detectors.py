"""What the detectors of chapter 7 have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from course_lib.exercises.exercise import Exercise

SLOTS = ("row", "slot")


def where(mask: Tensor) -> list[tuple[int, ...]]:
    return [tuple(place) for place in mask.nonzero().tolist()]


def nothing(*args: Any) -> list[tuple[int, ...]]:
    return []


def detector(number: int, misconceptions: dict[str, Callable], **fields: Any) -> Exercise:
    """An exercise of this chapter; whoever always answers [] is told so in each of them."""
    known = {"always_fine": nothing, **misconceptions}
    return Exercise(id=f"7.{number}", chapter=7, misconceptions=known, **fields)

