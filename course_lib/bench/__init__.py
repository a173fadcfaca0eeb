"""How fast the ways of feeding a decoder are on this machine: `python -m course_lib.bench`.

Needs torch and numpy only. `make_plan` chooses sizes, dtype and ways by what the device can do,
`measure` checks each way against separate documents and times it, `Report` holds the result. What
is not measured here: packers, collators and masks beside other libraries.
"""

from __future__ import annotations

from course_lib.bench.equal import TOLERANCE, Check, check_way
from course_lib.bench.peers import Comparison, Comparisons, stored
from course_lib.bench.plan import SIZES, ModelSize, Plan, make_plan
from course_lib.bench.record import Measurement, Report, Row
from course_lib.bench.runs import build_model, check_all, measure
from course_lib.bench.ways import WAYS, Feed, attention_area, draw_documents, make_feed

__all__ = [
    "SIZES",
    "TOLERANCE",
    "WAYS",
    "Check",
    "Comparison",
    "Comparisons",
    "Feed",
    "Measurement",
    "ModelSize",
    "Plan",
    "Report",
    "Row",
    "attention_area",
    "build_model",
    "check_all",
    "check_way",
    "draw_documents",
    "make_feed",
    "make_plan",
    "measure",
    "stored",
]
