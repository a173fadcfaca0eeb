"""The block to paste: read from the page, run on recorded faults and on each fault of the page."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from course_lib import document_ids_from_position_ids, document_mask, token_losses

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book/15_five_minutes.md").read_text("utf8")
CELLS = [
    "\n".join(line for line in cell.splitlines() if not line.startswith(":tags:"))
    for cell in re.findall(r"```\{code-cell\}[^\n]*\n(.*?)```", PAGE, re.S)
]
(BLOCK,) = (cell for cell in CELLS if "def check_step" in cell)
MESSAGES = [
    node.msg.value  # type: ignore[union-attr]
    for node in ast.walk(ast.parse(BLOCK))
    if isinstance(node, ast.Assert)
]
CASES = {
    case["id"]: case
    for case in json.loads((ROOT / "tests/cases/faults_open.json").read_text("utf8"))
}
RECORDED = {
    "B02": "labels moved",
    "B07": "padding scored",
    "B08": "padding scored",
    "B12": "end not trained",
    "B14": "end not trained",
    "B19": "boundary scored",
    "B43": "labels moved",
}


@pytest.fixture(scope="module")
def check_step() -> Callable[..., None]:
    names: dict[str, Any] = {}
    exec(BLOCK, names)
    return names["check_step"]


def step(fields: dict[str, Any]) -> dict[str, Any]:
    """What a loop would hand over: everything but the case's own fields is right."""
    ids, labels = (torch.tensor(fields[name]) for name in ("input_ids", "labels"))
    real = torch.tensor(fields.get("attention_mask") or torch.ones_like(ids).tolist())
    docs = real - 1
    if "attention_mask" not in fields and "position_ids" in fields:
        docs = document_ids_from_position_ids(torch.tensor(fields["position_ids"]))
    spots = torch.arange(ids.shape[1]) - (docs < 0).cumsum(1)
    positions = torch.tensor(fields.get("position_ids", spots.tolist()))
    logits = torch.randn(*ids.shape, 64, generator=torch.Generator().manual_seed(0))
    count = int((labels[:, 1:] != -100).sum())
    return {
        "ids": ids, "labels": labels, "real": real, "docs": docs, "positions": positions,
        "mask": document_mask(docs), "logits": logits, "count": count,
        "loss": token_losses(logits, labels).sum() / count,
        "eos_id": fields.get("eos_id", int(ids[0, -1])),
    }  # fmt: skip


def test_the_block_is_short_and_needs_nothing_but_torch():
    assert len(BLOCK.splitlines()) <= 25
    imported = [n for n in ast.walk(ast.parse(BLOCK)) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert {ast.unparse(n).split()[1].split(".")[0] for n in imported} == {"torch"}
    assert all(MESSAGES) and len(set(MESSAGES)) == len(MESSAGES) >= 10


@pytest.mark.parametrize("case", RECORDED)
def test_a_recorded_fault_trips_its_line_and_its_repair_is_silent(check_step, case):
    fields, right = CASES[case]["input"], CASES[case]["right_values"]
    with pytest.raises(AssertionError) as caught:
        check_step(**step(fields))
    assert str(caught.value) == RECORDED[case]
    check_step(**step(fields | {k: v for k, v in right.items() if k in fields}))


@pytest.mark.parametrize("case", ["B101", "B103"])
def test_what_only_looks_like_a_fault_is_silent(check_step, case):
    fields = dict(CASES[case]["input"])
    if fields["attention_mask"] is None:  # the case's point: right padding needs no mask
        fields["attention_mask"] = [[int(y != -100) for y in row] for row in fields["labels"]]
    check_step(**step(fields))


def test_each_line_of_the_block_has_its_own_fault_on_the_page():
    names: dict[str, Any] = {}
    last = next(i for i, cell in enumerate(CELLS) if "faults = {" in cell)
    exec("\n".join(CELLS[: last + 1]), names)
    tripped = {name: names["tripped"](**change) for name, change in names["faults"].items()}
    assert tripped.pop("nothing") == "silent"
    assert sorted(tripped.values()) == sorted(MESSAGES)
