"""Figures of the objects themselves, each with a text twin.

A drawing function draws on a given matplotlib `Axes` (or on a new one that fits) and returns it;
its sibling `<name>_text` takes the same arguments and says the same. `picture(draw, …)` joins the
two for the end of a notebook cell, `side_by_side` several of them.
"""

from __future__ import annotations

from course_lib.figures.alignment import shift_alignment, shift_alignment_text
from course_lib.figures.batches import batch_rows, batch_rows_text
from course_lib.figures.curves import loss_curves, loss_curves_text
from course_lib.figures.ledgers import ledger_bar, ledger_bar_text
from course_lib.figures.masks import (
    attention_mask,
    attention_mask_text,
    masks_side_by_side,
    masks_side_by_side_text,
)
from course_lib.figures.means import denominators, denominators_text
from course_lib.figures.packings import packing_rows, packing_rows_text
from course_lib.figures.parameters import parameter_blocks, parameter_blocks_text
from course_lib.figures.picture import Picture, picture, side_by_side
from course_lib.figures.ratios import goal_bars, goal_bars_text
from course_lib.figures.rows import packed_row, packed_row_text
from course_lib.figures.speeds import speed_bars, speed_bars_text
from course_lib.figures.style import palette_css
from course_lib.figures.tiles import attention_tiles, attention_tiles_text
from course_lib.figures.values import parameter_values, parameter_values_text
from course_lib.figures.ways import way_bars, way_bars_text
from course_lib.figures.weights import attention_weights, attention_weights_text

__all__ = [
    "Picture",
    "attention_mask",
    "attention_mask_text",
    "attention_tiles",
    "attention_tiles_text",
    "attention_weights",
    "attention_weights_text",
    "batch_rows",
    "batch_rows_text",
    "denominators",
    "denominators_text",
    "goal_bars",
    "goal_bars_text",
    "ledger_bar",
    "ledger_bar_text",
    "loss_curves",
    "loss_curves_text",
    "masks_side_by_side",
    "masks_side_by_side_text",
    "packed_row",
    "packed_row_text",
    "packing_rows",
    "packing_rows_text",
    "palette_css",
    "parameter_blocks",
    "parameter_blocks_text",
    "parameter_values",
    "parameter_values_text",
    "picture",
    "shift_alignment",
    "shift_alignment_text",
    "side_by_side",
    "speed_bars",
    "speed_bars_text",
    "way_bars",
    "way_bars_text",
]
