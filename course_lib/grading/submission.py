"""One submission, from its code cells to a record of plain data.

If its process ends early, it is started again without the cell that ended it, or past the exercise
that did, so that a fault costs what it touches and nothing else. The time limit holds for all
attempts together.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any

from course_lib.exercises.exercise import Exercise, Failure
from course_lib.exercises.verdicts import NOT_ATTEMPTED, WRONG, Verdict
from course_lib.grading import wire
from course_lib.grading.belonging import checked, looks_like
from course_lib.grading.judging import judge
from course_lib.grading.labs import Lab
from course_lib.grading.records import CUT_SHORT, GRADED, OTHER_LAB, record, result
from course_lib.grading.sandbox import Ended, Sandbox, Session
from course_lib.grading.slicing import needed

MOST_STARTS = 6


def grade_cells(lab: Lab, cells: list[str], sandbox: Sandbox, seed: int = 0) -> dict[str, Any]:
    """Return the record of a submission with these code cells."""
    start = time.monotonic()
    attempt = _Attempt(lab, cells, sandbox, seed, start + sandbox.limits.seconds)
    for _ in range(MOST_STARTS):
        if attempt.once() or time.monotonic() >= attempt.until:
            break
    if not attempt.finished:
        attempt.give_up()
    status = CUT_SHORT if attempt.faults else GRADED
    notes = [*attempt.faults, *attempt.errors.values()]
    seconds = time.monotonic() - start
    other = _other_lab(lab, cells, attempt.judged)
    if other is None:
        return record(lab, status, notes, attempt.judged, seconds)
    name, why = other
    none = {e.id: result(e, Verdict(NOT_ATTEMPTED), why) for e in lab.exercises}
    return record(lab, OTHER_LAB, [why, *notes], none, seconds, name)


def _other_lab(
    lab: Lab, cells: list[str], judged: dict[str, dict[str, Any]]
) -> tuple[str, str] | None:
    """What a notebook looks like in which nothing answers this lab, by name or by `check`."""
    attempted = any(one["status"] != NOT_ATTEMPTED for one in judged.values())
    if any(one["points"] for one in judged.values()) or (attempted and not checked(cells)):
        return None
    return looks_like(lab, cells)


@dataclass
class _Attempt:
    """What is known of a submission so far, over all starts of its process."""

    lab: Lab
    cells: list[str]
    sandbox: Sandbox
    seed: int
    until: float
    faults: list[str] = field(default_factory=list)
    errors: dict[int, str] = field(default_factory=dict)
    judged: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)
    place: str = "starting"

    @property
    def finished(self) -> bool:
        return len(self.judged) == len(self.lab.answers)

    def once(self) -> bool:
        """Run the cells and judge what is not judged yet; True if the process lived to the end."""
        session = self.sandbox.open()
        self.errors, cell, exercise = {}, None, None
        try:
            data = wire.encode(self.lab.data())
            self._ask(session)("given", 60, data=data)
            for cell in self._to_run():
                self._run(session, cell)
            cell = None
            for exercise in self.lab.exercises:
                if exercise.id not in self.judged:
                    self._judge(session, exercise)
            return True
        except Ended as ended:
            self._blame(cell, exercise, str(ended))
            return False
        finally:
            session.close()

    def _to_run(self) -> list[int]:
        run = needed(self.cells, self.lab.cells)
        return [i for i, go in enumerate(run) if go and i not in self.left_out]

    def _run(self, session: Session, cell: int) -> None:
        seconds = self.sandbox.limits.cell_seconds
        name = f"code cell {cell + 1}"
        said = self._ask(session)(
            "cell", seconds + 2, source=self.cells[cell], name=name, seconds=seconds
        )
        if not isinstance(said, str):
            session.close()
            raise Ended("it sent something that is no answer")
        if said:
            self.errors[cell] = f"{name} {wire.clean(said)}"

    def _ask(self, session: Session) -> Any:
        def ask(op: str, wait: float, **fields: Any) -> Any:
            left = self.until - time.monotonic()
            if left <= 0:
                session.close()
                raise Ended(f"its {self.sandbox.limits.seconds:g} seconds were over")
            return session.ask(op, min(wait, left), **fields)

        return ask

    def _judge(self, session: Session, exercise: Exercise) -> None:
        name = self.lab.answers[exercise.id]
        seconds = self.sandbox.limits.call_seconds
        try:
            judged, note = judge(exercise, name, self._ask(session), seconds, self.seed)
            if note and judged.status == NOT_ATTEMPTED:
                note += self._where_it_was(name)
            self.judged[exercise.id] = result(exercise, judged, note)
        except Ended:
            raise
        except Exception as error:  # a value so odd that the comparison trips over it is wrong
            odd = f"your answer cannot be compared ({type(error).__name__})"
            failed = Verdict(WRONG, failure=Failure(odd))
            self.judged[exercise.id] = result(exercise, failed, "")

    def _where_it_was(self, name: str) -> str:
        """Tell what became of a cell that names an answer which is not there."""
        left_out = {cell: f"code cell {cell + 1} was left out" for cell in self.left_out}
        for cell, said in sorted((left_out | self.errors).items()):
            if re.search(rf"\b{re.escape(name)}\b", self.cells[cell]):
                return f": {said}"
        return ""

    def _blame(self, cell: int | None, exercise: Exercise | None, why: str) -> None:
        """Note what ended the process, so that the next start goes past it."""
        if cell is not None:
            self.left_out.add(cell)
            self.faults.append(f"code cell {cell + 1}: {why}; the rest was run without it")
        elif exercise is not None:
            self.faults.append(f"exercise {exercise.id}: {why}")
            failed = Verdict(WRONG, failure=Failure(f"while your answer was asked, {why}"))
            self.judged[exercise.id] = result(exercise, failed, "")
        else:
            self.faults.append(f"before its first cell: {why}")

    def give_up(self) -> None:
        """Mark what could not be judged."""
        why = "not graded, because the submission ended too often or too late"
        for exercise in self.lab.exercises:
            if exercise.id not in self.judged:
                failed = Verdict(WRONG, failure=Failure(why))
                self.judged[exercise.id] = result(exercise, failed, "")
