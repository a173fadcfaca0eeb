"""The processes below this one: found, measured and ended, also those that tried to get away."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from pathlib import Path

_PAGE = resource.getpagesize()


def below(root: int) -> list[int]:
    """Return the numbers of all processes below `root`; [] where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = [], [root]
    while todo:
        mine = children.get(todo.pop(), [])
        found += mine
        todo += mine
    return found


def own_memory(processes: list[int]) -> int:
    """Return the bytes that these processes do not share with files."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError, ValueError, IndexError):
            _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_text().split()
            total += (int(resident) - int(shared)) * _PAGE
    return total


def end_all_below(root: int, seconds: float = 5.0) -> bool:
    """Kill every process below `root`, which is this process, and reap them; True if all are gone.

    They are stopped before they are killed, so that none can start another in between.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        left = below(root)
        for order in (signal.SIGSTOP, signal.SIGKILL):
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, order)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not left:
            return True
        time.sleep(0.002)
    return False


def folder_bytes(folder: str) -> int:
    """Return the bytes of the files below a folder."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total
