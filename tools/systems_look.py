"""What the probes of `tools.systems` share: the two documents, a tiny model, and ways to look."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.metadata import version
from typing import Any

import tokenizers
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from course_lib import LossSum, pack_lengths, token_losses
from course_lib.packing import STRATEGIES
from course_lib.systems import COLUMNS, Cell, System
from course_lib.vocabulary import EOS, IGNORE_INDEX, PAD, TOKENS

FIRST, SECOND = [1, 2, 3, EOS], [1, 1, EOS]
DOCUMENTS = [FIRST, SECOND]
ROW = [*FIRST, *SECOND]
SEPARATING = (
    ([11, 3, 14, 2, 6, 2, 12, 6, 2, 13, 3], 15),
    ([7, 6, 4, 4, 2, 7], 15),
    ([6, 5, 2, 9, 8], 15),
    ([4, 4, 7, 7, 9, 9], 20),
)
"""Lengths and capacities on which packing strategies differ."""


def tokenizer(pad: str = "<pad>") -> PreTrainedTokenizerFast:
    """The toy vocabulary as a tokenizer of transformers."""
    words = tokenizers.models.WordLevel({t: i for i, t in enumerate(TOKENS)}, unk_token="<pad>")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(words), pad_token=pad, eos_token="<eos>"
    )


def llama(attention: str = "sdpa") -> LlamaForCausalLM:
    """A model of the toy vocabulary, always the same."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(TOKENS), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
        attn_implementation=attention, pad_token_id=PAD, eos_token_id=EOS, bos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config)


@torch.no_grad()
def isolated(fields: Mapping[str, Any], attention: str = "sdpa", **how: Any) -> str:
    """Are the logits of the second document, behind the first, those of the document alone?"""
    model = llama(attention)
    given = {k: v for k, v in fields.items() if k != "labels"}
    packed = model(**given, **how).logits[0, len(FIRST) : len(ROW)]
    alone = model(input_ids=torch.tensor([SECOND]), use_cache=False).logits[0]
    return "apart" if torch.allclose(packed, alone, atol=1e-5) else "NOT apart"


def packs_like(rows_of: Callable[[list[int], int], list[list[int]]]) -> list[str]:
    """Return our strategies that make the same rows of lengths as `rows_of(lengths, capacity)`."""
    def same(rows: list[list[int]]) -> list[list[int]]:
        return sorted(sorted(row) for row in rows)

    found = []
    for strategy in STRATEGIES:
        ours = (
            [[n[i] for i in row] for row in pack_lengths(n, capacity, strategy).to_lists()]
            for n, capacity in SEPARATING
        )
        theirs = (rows_of(n, capacity) for n, capacity in SEPARATING)
        if all(same(a) == same(b) for a, b in zip(ours, theirs, strict=True)):
            found.append(strategy)
    return found


@torch.no_grad()
def two_means(model: torch.nn.Module) -> tuple[float, float]:
    """The token mean over both documents as micro-batches, and the mean of their means."""
    parts = []
    for document in DOCUMENTS:
        ids = torch.tensor([document])
        losses = token_losses(model(input_ids=ids, use_cache=False).logits, ids)
        parts.append(LossSum.of(losses, ids[:, 1:] != IGNORE_INDEX))
    return (parts[0] + parts[1]).mean, (parts[0].mean + parts[1].mean) / 2


def which_mean(reported: float, model: torch.nn.Module) -> str:
    """Name the mean that was reported for the two documents as micro-batches."""
    token, means = two_means(model)
    assert abs(token - means) > 1e-3, "the two means must differ, or nothing is shown"
    if abs(reported - token) < 1e-4:
        return "global token mean"
    return "mean of means" if abs(reported - means) < 1e-4 else "neither mean"


def show(**values: Any) -> str:
    """Return `name [..]` lines of tensors, lists and numbers."""
    lines = []
    for name, value in values.items():
        if isinstance(value, Tensor):
            kind = "" if value.dtype == torch.int64 else f", {value.dtype}".replace("torch.", "")
            value = f"{value.tolist()}{kind}"
        lines.append(f"{name} {value}")
    return "\n".join(lines)


def system(
    name: str, what: str, package: str, source: str, conventions: Sequence[str], **cells: Cell
) -> System:
    """Return a row that was run, its cells in the order of the columns."""
    ordered = {column: cells[column] for column in COLUMNS}
    release = f"{package} {version(package).split('+')[0]}"
    return System(name, what, release, "run", source, tuple(conventions), ordered)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep a library's progress bars, prints and warnings off the screen."""
    logging.disable(logging.WARNING)
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
