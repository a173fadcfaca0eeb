"""Packing: several documents in one row, so that fewer slots are padding."""

from course_lib.packing.bounds import lower_bound, optimal_rows
from course_lib.packing.costs import Cost, Costs, compare_costs
from course_lib.packing.documents import OVERLONG, pack_documents
from course_lib.packing.flat import FlatDocuments
from course_lib.packing.lengths import STRATEGIES, Packing, pack_lengths
from course_lib.packing.preshift import ShiftedBatch, per_document_shift
from course_lib.packing.stream import PackStream, pack_stream

__all__ = [
    "Cost",
    "Costs",
    "OVERLONG",
    "FlatDocuments",
    "PackStream",
    "STRATEGIES",
    "Packing",
    "ShiftedBatch",
    "compare_costs",
    "lower_bound",
    "optimal_rows",
    "pack_documents",
    "pack_lengths",
    "pack_stream",
    "per_document_shift",
]
