"""What to measure on which device: dtype, model, lengths and ways, chosen by what the card can do.

Nothing here is measured. A way that cannot be measured is listed in `left_out` with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from course_lib.attention import usable
from course_lib.bench.ways import BACKEND, WAYS
from course_lib.inputs import choice

SIZES = ("small", "quick", "full")
"""The sizes of a benchmark run."""


@dataclass(frozen=True)
class ModelSize:
    """The sizes of a `Decoder` with rotary positions."""

    vocab_size: int
    width: int
    heads: int
    blocks: int
    hidden: int


@dataclass(frozen=True)
class Plan:
    """A measurement before it runs.

    - device, dtype   where, and in which numbers
    - model           the sizes of the decoder
    - contexts        slots in a row, one set of measurements for each, growing
    - documents       documents in a batch; together they fill a quarter of as many rows
    - rounds          how often each way is timed; the median counts
    - ways            what is measured, in this order
    - left_out        way -> why it is not
    - notes           what else was decided by the device, in sentences
    """

    device: str
    dtype: torch.dtype
    model: ModelSize
    contexts: tuple[int, ...]
    documents: int
    rounds: int
    ways: tuple[str, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def make_plan(device: str = "cpu", size: str = "quick") -> Plan:
    """Return what to measure on `device` ("cpu" or "cuda"); `size` is one of `SIZES`.

    Raises ValueError for an unknown size, and where "cuda" is asked for and not there.

    >>> plan = make_plan("cpu", "small")
    >>> plan.contexts, plan.ways[0]
    ((64, 128, 256), 'padded')
    """
    choice(device, "device", ("cpu", "cuda"))
    choice(size, "size", SIZES)
    plan = _on_cuda(size) if device == "cuda" else _on_cpu(size)
    reasons = usable(queries_like(plan, requires_grad=True))
    left_out = {way: reasons[name] for way, name in BACKEND.items() if name and reasons[name]}
    ways = tuple(way for way in WAYS if way not in left_out)
    return Plan(**(vars(plan) | {"ways": ways, "left_out": left_out}))


def queries_like(plan: Plan, *, requires_grad: bool) -> Tensor:
    """Return queries [1, 1, 2, d] such as the decoder of `plan` makes, to ask what serves them."""
    head = plan.model.width // plan.model.heads
    return torch.zeros(
        1, 1, 2, head, dtype=plan.dtype, device=plan.device, requires_grad=requires_grad
    )


def _on_cpu(size: str) -> Plan:
    """One core: sizes that end while somebody waits."""
    model, contexts, rounds = {
        "small": (ModelSize(512, 64, 2, 2, 176), (64, 128, 256), 3),
        "quick": (ModelSize(512, 128, 4, 2, 344), (512, 1024), 5),
        "full": (ModelSize(1024, 256, 8, 4, 704), (256, 512, 1024, 2048), 5),
    }[size]
    return Plan("cpu", torch.float32, model, contexts, 8, rounds, ())


def _on_cuda(size: str) -> Plan:
    """bfloat16 from compute capability 8.0, float32 below; lengths by the memory of the card."""
    if not torch.cuda.is_available():
        raise ValueError(
            f"no GPU here: torch {torch.__version__} finds no CUDA device. Use --device cpu, or on "
            "Colab: Runtime, Change runtime type, a GPU."
        )
    major, minor = torch.cuda.get_device_capability()
    dtype = torch.bfloat16 if major >= 8 else torch.float32
    notes = []
    if major < 8:
        notes.append(
            f"float32, because compute capability {major}.{minor} has no bfloat16 units (8.0 has)."
        )
    wanted = {
        "small": (512, 1024, 2048),
        "quick": (1024, 2048, 4096),
        "full": (512, 1024, 2048, 4096, 8192, 16384),
    }[size]
    model = ModelSize(4096, 512, 8, 4, 1408)
    memory = torch.cuda.get_device_properties(0).total_memory
    contexts = tuple(c for c in wanted if 16 * c * _bytes_per_slot(model, dtype) < 0.7 * memory)
    if contexts != wanted:
        notes.append(
            f"rows of up to {contexts[-1]:,} slots, because {memory / 2**30:.0f} GiB hold no more."
        )
    return Plan("cuda", dtype, model, contexts, 16, 7, (), notes=tuple(notes))


def _bytes_per_slot(model: ModelSize, dtype: torch.dtype) -> int:
    """About what a padded slot costs in a training step: logits three times in float32, and in
    each block some twenty vectors of the width and six of the hidden width."""
    block = 20 * model.width + 6 * model.hidden
    return 12 * model.vocab_size + dtype.itemsize * (model.vocab_size + model.blocks * block)
