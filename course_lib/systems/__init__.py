"""What public systems do with the same two documents: where each shifts, marks, divides.

Two files hold it. `data/run.json` is computed from libraries that install beside the course
(`python -m tools.systems`), and a test recomputes it; `data/read.json` was read at a commit. Only
the record and its pictures live here: no other library is imported, so the pages show the same
numbers wherever they are built.
"""

from course_lib.systems.convention import boundary_convention
from course_lib.systems.record import COLUMNS, Cell, System, load, named
from course_lib.systems.show import cards, overview

__all__ = [
    "COLUMNS",
    "Cell",
    "System",
    "boundary_convention",
    "cards",
    "load",
    "named",
    "overview",
]
