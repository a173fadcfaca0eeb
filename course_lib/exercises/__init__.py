"""The graded exercises and their checks: `check`, `hint`, `exercises`, `question`, `given`.

>>> from course_lib.exercises import check
>>> check("2.2", ...)
2.2 Write shift: not attempted yet
Result(2.2: not attempted yet)

An honest limit: the package is public, and it holds functions that do what some exercises ask for
(`document_mask`, say), because the course runs on them. A check recognises them when they are
handed in. The exercises themselves compare with these functions where they exist, so that no
further solution stands here; where there is none, the expected values are computed another way.
"""

from course_lib.exercises.checker import CheckFailed, Result, check, hint
from course_lib.exercises.listing import exercises, given, question, questions

__all__ = [
    "CheckFailed",
    "Result",
    "check",
    "exercises",
    "given",
    "hint",
    "question",
    "questions",
]
