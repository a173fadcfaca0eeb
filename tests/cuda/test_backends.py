"""What only a GPU can show: FlexAttention backward, varlen, equality by dtype. `pytest tests/cuda`.

Without a GPU every test here is skipped by name, with the reason.
"""

from __future__ import annotations

import pytest
import torch

from course_lib import DocumentAttention, attend, document_ids_from_lengths, document_mask
from course_lib.attention import why_not
from course_lib.bench import TOLERANCE, WAYS, build_model, check_way, make_plan
from course_lib.bench.ways import BACKEND, draw_documents, make_feed

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a GPU, and torch finds none"
)
DTYPES = [torch.float32, torch.bfloat16, torch.float16]
SHAPES = {"even": [128, 256, 128], "ragged": [1, 77, 300, 5], "one": [512]}
PADDING = 37


def queries(ids: torch.Tensor, dtype: torch.dtype) -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    shape = (len(ids), 2, ids.shape[1], 64)
    return [
        torch.randn(shape, generator=rng).to("cuda", dtype).requires_grad_() for _ in range(3)
    ]


def serve_or_skip(backend: str, dtype: torch.dtype) -> None:
    like = torch.zeros(1, 1, 2, 64, device="cuda", dtype=dtype, requires_grad=True)
    reason = why_not(backend, like)
    if reason:
        pytest.skip(reason)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("lengths", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("backend", ["dense", "per_document", "flex", "varlen"])
def test_forward_and_backward_equal_float64(
    backend: str, lengths: list[int], dtype: torch.dtype
) -> None:
    serve_or_skip(backend, dtype)
    ids = torch.stack([
        document_ids_from_lengths(order, sum(lengths) + PADDING)
        for order in (lengths, lengths[::-1])
    ]).cuda()  # fmt: skip
    inputs = queries(ids, dtype)
    exact = [x.detach().double().requires_grad_() for x in inputs]
    results = []
    for (q, k, v), mask in (
        (inputs, DocumentAttention(ids, backend)), (exact, document_mask(ids)),
    ):  # fmt: skip
        out = attend(q, k, v, mask=mask)
        results.append((out, *torch.autograd.grad(out.square().sum(), (q, k, v))))
    step = torch.finfo(dtype).eps
    for ours, theirs in zip(*results, strict=True):
        gap = (ours.double() - theirs).abs().max() / theirs.abs().max()
        assert gap < (20 if dtype == torch.float32 else 8) * step, f"{gap:.1e}"
    assert not results[0][0].transpose(1, 2)[ids < 0].any(), "padding queries get zeros"


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_a_decoder_equals_separate_documents(way: str, dtype: torch.dtype) -> None:
    if BACKEND[way]:
        serve_or_skip(BACKEND[way], dtype)
    plan = make_plan("cuda", "small")
    model = build_model(plan).to(dtype)
    documents = draw_documents(8, 512, plan.model.vocab_size)
    check = check_way(model, make_feed(way, documents, 512, "cuda"), documents)
    assert check.equal, check
