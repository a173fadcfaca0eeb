"""The Triton kernel gives what SDPA gives for each document alone. `make test-triton`.

Collected only with TRITON_INTERPRET=1, in an environment that has Triton.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from course_lib.attention.triton_packed import packed_attention


def inputs(tokens: int, heads: int, width: int, dtype: torch.dtype) -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    return [torch.randn(tokens, heads, width, generator=rng).to(dtype) for _ in range(3)]


def alone(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """SDPA on each document by itself."""
    parts = zip(*(x.transpose(0, 1).split(sizes, 1) for x in (q, k, v)), strict=True)
    each = [F.scaled_dot_product_attention(*part, is_causal=True) for part in parts]
    return torch.cat(each, 1).transpose(0, 1)


def marks(sizes: list[int]) -> torch.Tensor:
    return torch.tensor([0, *sizes]).cumsum(0).to(torch.int32)


@pytest.mark.parametrize("sizes", [[1], [16], [17], [40], [3, 1, 20], [33, 16, 1, 7]], ids=str)
@pytest.mark.parametrize("width", [16, 24, 8])
def test_equals_sdpa_for_each_document(sizes: list[int], width: int) -> None:
    q, k, v = inputs(sum(sizes), 2, width, torch.float32)
    torch.testing.assert_close(
        packed_attention(q, k, v, marks(sizes)), alone(q, k, v, sizes), rtol=1e-5, atol=1e-6
    )


def test_tile_of_32_and_half_precision() -> None:
    sizes = [50, 14]
    q, k, v = inputs(64, 1, 16, torch.float16)
    exact = alone(*(x.double() for x in (q, k, v)), sizes)
    ours = packed_attention(q, k, v, marks(sizes), tile=32)
    assert ours.dtype == torch.float16
    torch.testing.assert_close(ours.double(), exact, rtol=2e-3, atol=2e-3)


def test_no_token_of_another_document_is_read() -> None:
    sizes = [20, 20]
    q, k, v = inputs(40, 1, 16, torch.float32)
    before = packed_attention(q, k, v, marks(sizes))
    for x in (q, k, v):
        x[:20] = float("nan")
    assert torch.equal(packed_attention(q, k, v, marks(sizes))[20:], before[20:])
    assert not torch.equal(packed_attention(*inputs(40, 1, 16, torch.float32), marks([40])), before)


def test_what_is_refused() -> None:
    q, k, v = inputs(4, 1, 16, torch.float32)
    with pytest.raises(ValueError, match="must rise from 0 to N = 4"):
        packed_attention(q, k, v, marks([3]))
    with pytest.raises(ValueError, match="share one shape"):
        packed_attention(q, k[:3], v, marks([4]))
    with pytest.raises(ValueError, match="contiguous"):
        packed_attention(q, k, v.transpose(0, 2).contiguous().transpose(0, 2), marks([4]))


def test_the_attention_room_does_not_import_triton() -> None:
    code = "import sys, course_lib.attention; print('triton' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
