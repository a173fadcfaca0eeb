"""Figures of the objects themselves, each with a text twin.

A drawing function draws on a given matplotlib `Axes` (or on a new one that fits) and returns it;
its sibling `<name>_text` takes the same arguments and says the same. `picture(draw, …)` joins the
two for the end of a notebook cell.
"""

from __future__ import annotations

from course_lib.figures.alignment import shift_alignment, shift_alignment_text
from course_lib.figures.grids import (
    attention_mask,
    attention_mask_text,
    attention_weights,
    attention_weights_text,
)
from course_lib.figures.picture import Picture, picture
from course_lib.figures.rows import packed_row, packed_row_text
from course_lib.figures.style import palette_css

__all__ = [
    "Picture",
    "attention_mask",
    "attention_mask_text",
    "attention_weights",
    "attention_weights_text",
    "packed_row",
    "packed_row_text",
    "palette_css",
    "picture",
    "shift_alignment",
    "shift_alignment_text",
]
