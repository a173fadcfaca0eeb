"""Time and memory of one call, as each device can tell them.

On a GPU: CUDA events and the allocator's own peak. On a CPU: processor time, which another
program on the same machine does not lengthen, and the peak of the tensors that operations return
(what an operation needs only inside itself is not seen).
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

CLOCK = {
    "cuda": "CUDA events",
    "cpu": "processor time",
}


def milliseconds(call: Callable[[], object], device: str) -> float:
    """Return how long `call` takes on `device`.

    >>> milliseconds(lambda: torch.ones(2), "cpu") >= 0
    True
    """
    if device == "cuda":
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        call()
        last.record()
        torch.cuda.synchronize()
        return first.elapsed_time(last)
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3


def peak_bytes(call: Callable[[], object], device: str) -> int:
    """Return the most memory that `call` holds at once, beyond what is held before it.

    >>> peak_bytes(lambda: torch.ones(4) + torch.ones(4), "cpu")
    48
    """
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    with _Alive() as alive:
        call()
    return alive.peak


class _Alive(TorchDispatchMode):
    """Counts the bytes of storages that operations return, until they are freed."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.seen: dict[int, weakref.ref] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        held = {x.untyped_storage()._cdata for x in tree_leaves((args, kwargs)) if _real(x)}
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if _real(tensor):
                self._add(tensor.untyped_storage(), held)
        return out

    def _add(self, storage: torch.UntypedStorage, held: set[int]) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in held or key in self.seen:  # a view, or an operation in place
            return

        def freed(_: object) -> None:
            self.now -= size
            del self.seen[key]

        self.seen[key] = weakref.ref(storage, freed)
        self.now += size
        self.peak = max(self.peak, self.now)


def _real(x: object) -> bool:
    return isinstance(x, torch.Tensor) and x.layout == torch.strided
