"""What a submission may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits for one submission.

    - seconds       wall time of everything, restarts included; also its processor time
    - cell_seconds  wall time of one cell
    - call_seconds  wall time of one call of an answer
    - memory_mb     memory of all its processes together, beyond that of Python and torch
    - disk_mb       what it may write into its folder
    - processes     processes and threads at a time, where it has a user of its own
    """

    seconds: float = 120.0
    cell_seconds: float = 40.0
    call_seconds: float = 5.0
    memory_mb: int = 1024
    disk_mb: int = 64
    processes: int = 64

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"{name} = {value}: a limit must be greater than 0.")
