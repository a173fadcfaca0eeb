"""Controls for the labs: sliders and menus that ask `course_lib` and show its answer at once.

Plain ipywidgets of the 7.7 subset (`VBox`, `observe`, `HTML.value`), so they run in JupyterLab and
in Colab, and rest on a page without a kernel. Each builder returns a `Live`.
"""

from __future__ import annotations

from course_lib.widgets.live.collators import collator_bench
from course_lib.widgets.live.denominators import denominator_explorer
from course_lib.widgets.live.masks import mask_explorer
from course_lib.widgets.live.packing import packing_playground
from course_lib.widgets.live.panel import Live

__all__ = [
    "Live",
    "collator_bench",
    "denominator_explorer",
    "mask_explorer",
    "packing_playground",
]
