"""What a model, a loss function or a collator really does, found by asking it.

A probe treats its subject as a black box: it changes something that must not matter and looks at
what moves. No knowledge of the code is needed, no right answer, no second run. Every result states
its tolerance, its seed and how many trials it made; a probe that finds nothing has shown that these
trials found nothing.
"""

from course_lib.probes.causality import probe_causality
from course_lib.probes.collator import probe_collator
from course_lib.probes.isolation import Leak, probe_isolation
from course_lib.probes.padding import probe_padding
from course_lib.probes.result import Probe
from course_lib.probes.shift import probe_shift

__all__ = [
    "Leak",
    "Probe",
    "probe_causality",
    "probe_collator",
    "probe_isolation",
    "probe_padding",
    "probe_shift",
]
