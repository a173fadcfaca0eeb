"""How a probe asks its subject: any module or callable that maps ids to logits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.batch import Batch
from course_lib.inputs import as_int, as_rows

Ask = Callable[[Tensor], Tensor]
"""ids [B, T] → logits [B, T, V], float64, without a graph."""


def as_batch(
    batch: Batch | Mapping[str, Any] | Tensor | list, document_ids: Any = None
) -> tuple[Batch, dict[str, Any]]:
    """Return the batch, and the keyword arguments beside `input_ids` that a model gets with it.

    A `Batch` brings its position ids; a mapping brings all it has except labels; bare ids bring
    nothing and count as one document a row. `document_ids` [B, T] go before what the batch says.
    """
    said = {} if document_ids is None else {"document_ids": document_ids}
    if isinstance(batch, Batch) and said:
        return Batch.from_dict({"input_ids": batch.input_ids, **said}), as_batch(batch)[1]
    if isinstance(batch, Batch):
        return batch, {"position_ids": batch.model_position_ids}
    if isinstance(batch, Mapping):
        rest = {k: v for k, v in batch.items() if k not in ("input_ids", "labels")}
        named = {k: v for k, v in batch.items() if k == "input_ids"} | said if said else batch
        return Batch.from_dict(named), rest
    return Batch.from_dict({"input_ids": as_rows(batch, "batch", ndim=(1, 2)), **said}), {}


def asker(model: Callable[..., Any], arguments: Mapping[str, Any], given: Mapping[str, Any]) -> Ask:
    """Return a function from ids to logits that calls `model` with what it accepts.

    `arguments` come with the batch and are passed as far as the signature knows them; `given` is
    what the caller of the probe asked for, and is always passed. A plain function of ids alone gets
    ids alone.
    """
    known, anything = accepted(model)
    passed = {k: v for k, v in arguments.items() if anything or k in known} | dict(given)

    def ask(ids: Tensor) -> Tensor:
        with torch.no_grad():
            out = model(ids, **passed)
        logits = out if isinstance(out, Tensor) else getattr(out, "logits", None)
        if logits is None and isinstance(out, Mapping):
            logits = out.get("logits")
        good = isinstance(logits, Tensor) and logits.ndim == 3 and logits.shape[:2] == ids.shape
        if not good:
            shape = tuple(logits.shape) if isinstance(logits, Tensor) else type(out).__name__
            raise TypeError(
                f"the model must return logits [B, T, V] for ids {tuple(ids.shape)}, got {shape}. "
                "Wrap it: probe(lambda ids: …, batch)."
            )
        return logits.detach().to("cpu", torch.float64)

    return ask


def quiet(model: Callable[..., Any]) -> Callable[[], None]:
    """Switch dropout off; return what switches it on again."""
    if not isinstance(model, nn.Module):
        return lambda: None
    training = {module: module.training for module in model.modules()}
    model.eval()

    def restore() -> None:
        for module, flag in training.items():
            module.training = flag

    return restore


def moved(after: Tensor, before: Tensor) -> Tensor:
    """Return the largest change of each position's logits [B, T]; a new NaN counts as infinite.

    >>> moved(torch.tensor([[[1.0, -torch.inf]]]), torch.tensor([[[3.0, -torch.inf]]])).tolist()
    [[2.0]]
    """
    change = (after - before).abs().masked_fill(after == before, 0.0)  # -inf stays where it was
    return change.nan_to_num(nan=float("inf")).amax(-1)


def other_ids(ids: Tensor, vocab_size: int | None, rng: torch.Generator) -> Tensor:
    """Return ids of the same shape, each different from the one in its place.

    `vocab_size` None means: the largest id in the batch is the last of the vocabulary.
    """
    size = int(ids.max()) + 1 if vocab_size is None else as_int(vocab_size, "vocab_size")
    if size < 2:
        raise ValueError(
            f"with {size} token in the vocabulary no token can be changed. "
            "Pass vocab_size, the number of ids that the model knows."
        )
    steps = torch.randint(1, size, ids.shape, generator=rng)
    return (ids.cpu() + steps).remainder(size).to(ids.device)


def accepted(model: Callable[..., Any]) -> tuple[set[str], bool]:
    """Return the names of the arguments that `model` knows, and whether it takes any others too."""
    call = model.forward if isinstance(model, nn.Module) else model
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return set(), False
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = {p.name for p in parameters if p.kind in kinds}
    return names, any(p.kind is p.VAR_KEYWORD for p in parameters)
