"""The interactive parts: one ES module each, alive in a notebook and on a page without a kernel.

Python computes what is right when a widget is made and ships it as data; the module in `esm/` only
shows, compares and explains. In JupyterLab and Colab the widget is an anywidget whose `answer` the
kernel sees; on a page `esm/_host.js` plays the kernel's part and remembers the answer in the
browser. `repr(widget)` is the text twin, the question on paper. What is not here: labs with sliders
that need a kernel (they live in `labs/`).

>>> QuickCheck("shift").result().ok
False
"""

from __future__ import annotations

from course_lib.widgets.assets import MODULES, bundle, styles
from course_lib.widgets.base import CourseWidget
from course_lib.widgets.bugs import SpotTheBug
from course_lib.widgets.calculator import Calculator
from course_lib.widgets.denominators import Denominators
from course_lib.widgets.frames import StepThrough
from course_lib.widgets.parts import Verdict
from course_lib.widgets.quick import QuickCheck
from course_lib.widgets.strip import TargetStrip
from course_lib.widgets.workbench import Workbench

__all__ = [
    "MODULES",
    "Calculator",
    "CourseWidget",
    "Denominators",
    "QuickCheck",
    "SpotTheBug",
    "StepThrough",
    "TargetStrip",
    "Verdict",
    "Workbench",
    "bundle",
    "styles",
]
