"""What there is to do: the table of exercises, a question with its stub, and its data."""

from __future__ import annotations

from html import escape
from typing import Any

from course_lib.exercises import show
from course_lib.exercises.exercise import Exercise
from course_lib.exercises.questions import QUESTIONS
from course_lib.exercises.registry import all_exercises, find

COLUMNS = ("id", "title", "objective", "minutes", "difficulty", "chapter", "misconceptions")


class ExerciseTable(tuple[Exercise, ...]):
    """The exercises as rows of a table; a tuple otherwise."""

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows, `COLUMNS` in each."""
        return [
            (e.id, e.title, e.objective, str(e.minutes), e.difficulty, str(e.chapter),
             ", ".join(e.misconceptions))
            for e in self
        ]  # fmt: skip

    def __repr__(self) -> str:
        short = [(r[0], r[1], r[3] + " min", r[4], "chapter " + r[5]) for r in self.rows()]
        widths = [max(map(len, column)) for column in zip(*short, strict=True)]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(r, widths, strict=True)) for r in short]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def exercises(chapter: int | None = None) -> ExerciseTable:
    """Return the table of all exercises, or of one chapter.

    >>> exercises(2)[1].id
    '2.2'
    """
    return ExerciseTable(
        e for e in all_exercises().values() if chapter is None or e.chapter == chapter
    )


def question(exercise_id: str) -> None:
    """Print what an exercise asks, and the code to start from."""
    exercise = find(exercise_id)
    if isinstance(exercise, str):
        print(exercise)
        return
    head = f"{exercise.id} {exercise.title} ({exercise.minutes} minutes, {exercise.difficulty})"
    data = [f"  {name} = {show.text(value)}" for name, value in exercise.given().items()]
    print("\n".join([head, *show.wrap(exercise.prompt), *data, "", exercise.stub]))


def questions() -> None:
    """Print the exit questions with their options.

    >>> questions()  # doctest: +ELLIPSIS
    1. Two documents have 2 and 5 scored tokens and stand...
    """
    for number, one in enumerate(QUESTIONS, 1):
        lines = show.wrap(f"{number}. {one.text}", "   ")
        options = zip("abcd", one.options, strict=True)
        lines += [f"   {letter}) {option.text}" for letter, option in options]
        print("\n".join(lines))


def given(exercise_id: str) -> dict[str, Any]:
    """Return the data of an exercise, {} where it has none; made afresh on each call.

    Raises ValueError for an id that does not exist.

    >>> given("1.1")["documents"]
    [[1, 2, 3], [1, 1]]
    """
    exercise = find(exercise_id)
    if isinstance(exercise, str):
        raise ValueError(exercise)
    return exercise.given()
