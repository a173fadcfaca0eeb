"""Packing: several documents in one row, so that fewer slots are padding."""

from course_lib.packing.bounds import lower_bound, optimal_rows
from course_lib.packing.documents import OVERLONG, pack_documents
from course_lib.packing.lengths import STRATEGIES, Packing, pack_lengths
from course_lib.packing.preshift import ShiftedBatch, per_document_shift

__all__ = [
    "OVERLONG",
    "STRATEGIES",
    "Packing",
    "ShiftedBatch",
    "lower_bound",
    "optimal_rows",
    "pack_documents",
    "pack_lengths",
    "per_document_shift",
]
