"""The decoder itself, in any size: embeddings, blocks, and the way from bad input to one error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from course_lib.attention import DocumentAttention, check_mask
from course_lib.decoder.blocks import Block, Rotation, rotation
from course_lib.decoder.checks import check_ids, head_width_of
from course_lib.decoder.parameters import ParameterRow, ParameterTable
from course_lib.inputs import as_document, as_int, choice

POSITIONS = ("learned", "rope")


@dataclass(frozen=True)
class Trace:
    """What happened inside: logits [B, T, V]; hidden states, one [B, T, D] after the embedding and
    one after each block; attention weights, one [B, H, T, T] for each block."""

    logits: Tensor
    hidden: tuple[Tensor, ...]
    attention: tuple[Tensor, ...]


class Decoder(nn.Module):
    """A decoder-only language model whose size is chosen by the caller.

    `positions` is "learned" (a vector for each of `max_positions` positions) or "rope" (no
    parameters, no limit). `seed` fixes the initial weights and leaves PyTorch's global random state
    as it was. Raises ValueError where the sizes do not fit together.

    >>> Decoder(vocab_size=7, width=4, heads=2, blocks=2, hidden=16).num_parameters
    711
    """

    def __init__(
        self,
        *,
        vocab_size: int,
        width: int,
        heads: int,
        blocks: int,
        hidden: int,
        positions: str = "learned",
        max_positions: int = 16,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.positions = choice(positions, "positions", POSITIONS)
        self.vocab_size = as_int(vocab_size, "vocab_size", at_least=1)
        self.max_positions = as_int(max_positions, "max_positions", at_least=1)
        self.head_width = head_width_of(width, heads, positions)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(as_int(seed, "seed"))
            self.token_embedding = _embedding(vocab_size, width)
            if positions == "learned":
                self.position_embedding = _embedding(max_positions, width)
            self.blocks = nn.ModuleList(Block(width, heads, hidden) for _ in range(blocks))
            self.final_norm = nn.LayerNorm(width)
            self.output = nn.Linear(width, vocab_size)

    @property
    def num_parameters(self) -> int:
        """How many numbers training can change."""
        return sum(parameter.numel() for parameter in self.parameters())

    def parameter_table(self) -> ParameterTable:
        """Return one row for each part, counted from the tensors themselves.

        >>> from course_lib.decoder import TinyDecoder
        >>> TinyDecoder().parameter_table()[0]
        ParameterRow(part='token_embedding', shape='7×4', count=28)
        """
        rows = []
        for name, module in self.named_modules():
            tensors = list(module.parameters(recurse=False))
            if tensors:
                shape = " + ".join("×".join(map(str, t.shape)) for t in tensors)
                part = name.removeprefix("blocks.0.") if len(self.blocks) == 1 else name
                rows.append(ParameterRow(part, shape, sum(t.numel() for t in tensors)))
        return ParameterTable(rows)

    def forward(
        self, input_ids: Tensor, *, mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        """Return logits [B, T, V]; slot t holds the scores of the token at t + 1.

        `input_ids` is [B, T]; `mask` is a boolean [T, T] or [B, T, T], True = may attend, or a
        `DocumentAttention`, None = causal; `position_ids` is [T] or [B, T], None = 0 … T-1, and a
        negative one (padding) is taken as 0. Raises ValueError for ids, positions or masks that the
        model cannot take.

        >>> from course_lib.decoder import TinyDecoder
        >>> TinyDecoder()(torch.tensor([[1, 2, 3]])).shape
        torch.Size([1, 3, 7])
        """
        x, turn = self._embed(input_ids, mask, position_ids)
        for block in self.blocks:
            x = block(x, mask, turn)
        return self.output(self.final_norm(x))

    @torch.no_grad()
    def look(
        self, input_ids: Tensor, *, mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Trace:
        """Return the `Trace` of a forward pass: logits, hidden states and attention weights.

        The arguments are those of `forward`, and so are the logits. The weights are computed beside
        it, because the fast attention call never forms them.

        >>> from course_lib.decoder import TinyDecoder
        >>> TinyDecoder().look(torch.tensor([[1, 2, 3]])).attention[0].shape
        torch.Size([1, 2, 3, 3])
        """
        x, turn = self._embed(input_ids, mask, position_ids)
        hidden, attention = [x], []
        for block in self.blocks:
            attention.append(block.weights(x, mask, turn))
            x = block(x, mask, turn)
            hidden.append(x)
        return Trace(self.output(self.final_norm(x)), tuple(hidden), tuple(attention))

    @torch.no_grad()
    def generate(
        self, prompt: Sequence[int], *, max_new_tokens: int = 8, eos_id: int | None = None
    ) -> list[int]:
        """Return the prompt and the tokens that follow it, each the most likely one (greedy).

        Stops after `eos_id` or after `max_new_tokens`. Raises ValueError before the first step when
        learned positions cannot reach that far.

        >>> from course_lib.decoder import TinyDecoder
        >>> len(TinyDecoder().generate([1, 2], max_new_tokens=3))
        5
        """
        ids = as_document(prompt, "prompt").tolist()
        steps = as_int(max_new_tokens, "max_new_tokens", at_least=1)
        self._check_reach(len(ids) + steps - 1)
        for _ in range(steps):
            logits = self(torch.tensor([ids], device=self.output.weight.device))
            ids.append(int(logits[0, -1].argmax()))
            if ids[-1] == eos_id:
                break
        return ids

    def _embed(
        self, input_ids: Tensor, mask: Tensor | None, position_ids: Tensor | None
    ) -> tuple[Tensor, Rotation | None]:
        """Check the arguments; return the stream [B, T, D] and, for RoPE, the rotation."""
        check_ids(input_ids, "input_ids", ndim=2)
        rows, length = input_ids.shape
        if mask is not None and not isinstance(mask, DocumentAttention):
            check_mask(mask, rows, length)
        position_ids = self._positions(position_ids, input_ids)
        x = self._embed_tokens(input_ids)
        if self.positions == "learned":
            return x + self._embed_positions(position_ids), None
        return x, rotation(position_ids, self.head_width, dtype=x.dtype)

    def _positions(self, position_ids: Tensor | None, input_ids: Tensor) -> Tensor:
        """Return positions [B, T] from 0 upwards."""
        rows, length = input_ids.shape
        if position_ids is None:
            self._check_reach(length)
            return torch.arange(length, device=input_ids.device).expand(rows, length)
        check_ids(position_ids, "position_ids")
        if position_ids.shape not in ((length,), (rows, length)):
            raise ValueError(
                f"position_ids has shape {tuple(position_ids.shape)}, but needs [T] = {(length,)} "
                f"or [B, T] = {(rows, length)}, one position for each slot of input_ids."
            )
        return position_ids.clamp(min=0).expand(rows, length)

    # The two look-ups find bad ids only after the fact, so that a good batch pays nothing.

    def _embed_tokens(self, input_ids: Tensor) -> Tensor:
        try:
            return self.token_embedding(input_ids)
        except IndexError:
            odd = input_ids[(input_ids < 0) | (input_ids >= self.vocab_size)]
        raise ValueError(
            f"input_ids holds {int(odd[0])}, but this model knows the ids 0 to "
            f"{self.vocab_size - 1}. Pass input_ids, not labels, and the right vocabulary."
        )

    def _embed_positions(self, position_ids: Tensor) -> Tensor:
        try:
            return self.position_embedding(position_ids)
        except IndexError:
            needed = int(position_ids.max()) + 1
        raise self._too_long(needed)

    def _check_reach(self, length: int) -> None:
        if self.positions == "learned" and length > self.max_positions:
            raise self._too_long(length)

    def _too_long(self, length: int) -> ValueError:
        return ValueError(
            f"{length} positions are needed, but this model has learned vectors for "
            f"{self.max_positions} (0 to {self.max_positions - 1}). Pack shorter documents and "
            'pass position_ids that restart in each one, or use positions="rope".'
        )


def _embedding(rows: int, width: int) -> nn.Embedding:
    """Draw normal values and keep four decimals: the last bits differ between processors."""
    table = nn.Embedding(rows, width)
    with torch.no_grad():
        table.weight.round_(decimals=4)
    return table
