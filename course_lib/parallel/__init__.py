"""Data parallel on real processes: sums and counts over ranks, and what a mean of means does.

`run_ranks` starts the processes (from a notebook, by fork), `reduce` adds (sum, count) pairs over
them, `shards` cuts sequences. Under `torchrun` the same workers run as a script:

    torchrun --standalone --nproc_per_node 2 -m course_lib.parallel

Left out: sharded optimizers, overlap of communication and computation.
"""

from course_lib.parallel.launch import RankError, run_ranks
from course_lib.parallel.reduce import (
    RULES,
    all_sum,
    average_gradients,
    backward,
    ddp_factor,
)
from course_lib.parallel.shards import shard_sequence

__all__ = [
    "RULES",
    "RankError",
    "all_sum",
    "average_gradients",
    "backward",
    "ddp_factor",
    "run_ranks",
    "shard_sequence",
]
