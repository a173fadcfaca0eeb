"""What is wrong with a batch, an attention pattern, a packing, a reported loss.

The package is callable, so that both of these work:

>>> import course_lib
>>> from course_lib.audit import audit, explain
>>> course_lib.audit({"labels": [[1, -1]]}).codes
['ignore_index_mismatch']
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from course_lib.audit import (  # noqa: F401  (importing a file registers its rules)
    rules_attention,
    rules_boundaries,
    rules_completion,
    rules_denominator,
    rules_eos,
    rules_ids,
    rules_isolation,
    rules_loss,
    rules_packing,
    rules_padding,
    rules_shift,
)
from course_lib.audit.attention import audit_attention
from course_lib.audit.batches import audit
from course_lib.audit.codes import CODES
from course_lib.audit.denominators import Denominators, identify_denominator
from course_lib.audit.loader import audit_dataloader
from course_lib.audit.losses import audit_loss
from course_lib.audit.packing import audit_packing
from course_lib.audit.registry import explain
from course_lib.audit.report import AuditError, Finding, NotChecked, Report
from course_lib.audit.schedule import audit_schedule
from course_lib.audit.shards import audit_shards
from course_lib.audit.states import audit_states
from course_lib.audit.storage import audit_ids
from course_lib.audit.truncation import audit_truncation

__all__ = [
    "CODES",
    "AuditError",
    "Denominators",
    "Finding",
    "NotChecked",
    "Report",
    "audit",
    "audit_attention",
    "audit_dataloader",
    "audit_ids",
    "audit_loss",
    "audit_packing",
    "audit_schedule",
    "audit_shards",
    "audit_states",
    "audit_truncation",
    "explain",
    "identify_denominator",
]


class _CallableModule(ModuleType):
    """A module that is also the function of its name."""

    def __call__(self, batch: Any, **options: Any) -> Report:
        return audit(batch, **options)


_CallableModule.__call__.__doc__ = audit.__doc__
sys.modules[__name__].__class__ = _CallableModule
