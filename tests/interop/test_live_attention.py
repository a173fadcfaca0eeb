"""transformers, packed rows: which inputs keep documents apart, in the release beside us.

Each line of `TODAY` is a measured fact. If a release changes one, the test names the place of the
book that says so.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM

import course_lib
from course_lib import document_mask, pack_documents, to_additive
from course_lib.audit import audit_attention

ROW = "the row 'HF transformers' of the table of systems, and the chapter on packing"
DOCUMENTS = [[5, 6, 7, 1], [8, 9, 10, 11, 1]]
BATCH = pack_documents(DOCUMENTS, 9)
MASK = document_mask(BATCH)[:, None]


def inputs() -> dict[str, dict[str, Any]]:
    ones, ids = torch.ones(1, 9, dtype=torch.long), BATCH.document_ids + 1
    positions = {"position_ids": BATCH.position_ids}
    return {
        "positions, no cache": {**positions, "use_cache": False},
        "positions, default cache": positions,
        "positions and a mask of ones": {**positions, "attention_mask": ones, "use_cache": False},
        "positions and a mask of ids": {**positions, "attention_mask": ids, "use_cache": False},
        "boolean 4-D mask": {"attention_mask": MASK, "use_cache": False},
        "additive 4-D mask": {"attention_mask": to_additive(MASK), "use_cache": False},
        "additive 4-D mask, positions": {
            **positions, "attention_mask": to_additive(MASK), "use_cache": False,
        },
    }  # fmt: skip


TODAY = {
    ("eager", "positions, no cache"): True,
    ("eager", "positions, default cache"): False,
    ("eager", "positions and a mask of ones"): False,
    ("eager", "positions and a mask of ids"): False,
    ("eager", "boolean 4-D mask"): False,
    ("eager", "additive 4-D mask"): True,
    ("eager", "additive 4-D mask, positions"): True,
    ("sdpa", "positions, no cache"): True,
    ("sdpa", "positions, default cache"): False,
    ("sdpa", "positions and a mask of ones"): False,
    ("sdpa", "positions and a mask of ids"): False,
    ("sdpa", "boolean 4-D mask"): True,
    ("sdpa", "additive 4-D mask"): True,
    ("sdpa", "additive 4-D mask, positions"): True,
}


@pytest.fixture(scope="module", params=["eager", "sdpa"])
def model(request: pytest.FixtureRequest) -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=16, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32,
        attn_implementation=request.param,
    )  # fmt: skip
    return LlamaForCausalLM(config).train()


@torch.no_grad()
def isolated(model: LlamaForCausalLM, given: dict[str, Any]) -> bool:
    """Do the logits of the second document equal those of the document alone?"""
    packed = model(input_ids=BATCH.input_ids, **given).logits[0, 4:]
    alone = model(input_ids=torch.tensor(DOCUMENTS[1:]), use_cache=False).logits[0]
    return torch.allclose(packed, alone, atol=1e-5)


@pytest.mark.parametrize("name", inputs())
def test_isolation_in_a_packed_row(model, name):
    kind = model.config._attn_implementation
    found = isolated(model, inputs()[name])
    assert found == TODAY[kind, name], (
        f"transformers {transformers.__version__}, {kind}, {name}: documents are "
        f"{'isolated' if found else 'not isolated'} now, which is new. Change {ROW}."
    )


def test_the_auditor_says_so_for_the_mask_of_ones():
    fields = {"input_ids": BATCH.input_ids, "labels": BATCH.labels,
              "position_ids": BATCH.position_ids}  # fmt: skip
    assert course_lib.audit(fields, boundary="A").codes == []
    hidden = course_lib.audit({**fields, "attention_mask": torch.ones(1, 9)}, boundary="A")
    assert hidden.codes == ["no_document_mask"] and hidden.findings[0].where == ((0, 4),)


def test_the_auditor_says_so_for_the_boolean_mask():
    fields = {"input_ids": BATCH.input_ids, "attention_mask": MASK}
    assert course_lib.audit(fields, attn_implementation="sdpa").ok
    report = course_lib.audit(fields, attn_implementation="eager")
    assert report.codes == ["bool_mask_in_eager"]


WEIGHTS = [
    ("positions, no cache", []),
    ("positions and a mask of ones", ["cross_document_attention"]),
]


@pytest.mark.parametrize("model", ["eager"], indirect=True)  # only eager returns its weights
@pytest.mark.parametrize(("name", "wanted"), WEIGHTS)
@torch.no_grad()
def test_the_auditor_says_so_for_weights_that_were_collected(model, name, wanted):
    seen = model(input_ids=BATCH.input_ids, output_attentions=True, **inputs()[name])
    assert audit_attention(seen.attentions[0], BATCH).codes == wanted
