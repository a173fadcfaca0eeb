"""Whatever comes in, out comes a report or one clear error: never a traceback of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.audit import Report, audit, audit_attention, audit_loss, audit_packing

ROBUST = settings(max_examples=200, deadline=None, derandomize=True,
                  suppress_health_check=list(HealthCheck))  # fmt: skip
NUMBERS = st.integers(-2, 6) | st.just(-100)


@st.composite
def mappings(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of one shape or of another, as lists, arrays or tensors, of any dtype."""
    B, T = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    names = ("input_ids", "labels", "attention_mask", "position_ids", "document_ids", "loss_mask",
             "seq_idx", "shift_labels", "assistant_masks", "decoder_input_ids")  # fmt: skip
    wrap = st.sampled_from([
        lambda v: v, np.array, torch.tensor, lambda v: torch.tensor(v).float(),
        lambda v: np.array(v, dtype=np.int16), lambda v: torch.tensor(v) > 0,
    ])  # fmt: skip
    fields: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(names), unique=True, max_size=6)):
        width = T if draw(st.integers(0, 9)) else draw(st.integers(1, 5))
        row = st.lists(NUMBERS, min_size=width, max_size=width)
        fields[name] = draw(wrap)(draw(st.lists(row, min_size=B, max_size=B)))
    if draw(st.booleans()):
        fields["cu_seqlens"] = draw(st.lists(st.integers(-1, 9), max_size=5))
    if draw(st.booleans()):
        fields["seq_lengths"] = draw(st.lists(st.lists(st.integers(0, 4), max_size=3), max_size=3))
    options = {"loss_shifts": draw(st.sampled_from([True, False, 2]))}
    for name in ("pad_token_id", "eos_token_id", "vocab_size", "denominator"):
        if draw(st.booleans()):
            options[name] = draw(st.integers(0, 6))
    return fields, options


def answered(call: Any) -> None:
    try:
        report = call()
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 15
        return
    assert isinstance(report, Report) and str(report) and report.to_json()
    assert report._repr_html_().startswith("<div")


@ROBUST
@given(mappings())
def test_any_mapping(made):
    fields, options = made
    answered(lambda: audit(fields, **options))


@ROBUST
@given(st.integers(1, 3), st.integers(1, 4), st.booleans(), st.data())
def test_any_pattern(B, T, causal, data):
    pattern = np.array(data.draw(st.lists(NUMBERS, min_size=B * T * T, max_size=B * T * T)))
    fields, _ = data.draw(mappings())
    batch = fields if data.draw(st.booleans()) else None
    window = data.draw(st.sampled_from([None, 0, 1, 2]))
    answered(lambda: audit_attention(pattern.reshape(B, T, T), batch, window=window, causal=causal))


@ROBUST
@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=4),
       st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=4), st.integers(1, 5))
def test_any_packs(documents, packs, capacity):
    answered(lambda: audit_packing(documents, packs, capacity, eos_token_id=1))


@ROBUST
@given(st.lists(st.tuples(st.floats(0, 9), st.integers(0, 4)), max_size=4),
       st.floats(0, 99), st.sampled_from(["microbatches", "ranks", "sequences"]))  # fmt: skip
def test_any_parts(parts, reported, over):
    answered(lambda: audit_loss(reported, parts, over=over, batch_size=2))
    answered(lambda: audit_loss({"perplexity": reported, "loss_sum": 1.0}, parts, over=over))
