"""The stored table: complete, each read row with its commit, each thing seen in its case."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from course_lib.systems import COLUMNS, System, boundary_convention, cards, load, named, overview

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[1] / "cases/systems_open.json").read_text())
}
ASKED = (
    "TRL", "transformers", "FlashAttention", "FlexAttention", "Axolotl", "LLaMA-Factory",
    "torchtune", "mistral-finetune", "DeepSpeed", "Megatron-LM", "NeMo", "Megatron-Bridge",
    "NeMo Automodel", "torchtitan", "llama-cookbook", "multipack", "Krell et al.",
)  # fmt: skip
READ = load("read")
SEEN = [(s, c) for s in READ for c in s.cells.values() if c.case]


@pytest.mark.parametrize("name", ASKED)
def test_every_system_has_a_row(name: str) -> None:
    assert [s for s in load() if name in s.key]


def test_keys_are_unique_and_every_cell_says_something() -> None:
    keys = [s.key for s in load()]
    assert len(set(keys)) == len(keys)
    for s in load():
        for column, cell in s.cells.items():
            assert cell.short and cell.text.endswith((".", ")")), (s.key, column)
            assert len(cell.short) <= 26, (s.key, column, cell.short)


def test_a_row_that_was_run_has_a_release_and_one_that_was_read_a_commit() -> None:
    for s in load("run"):
        assert re.fullmatch(r"[a-z-]+ \d+(\.\d+)+", s.version), s.version
        assert s.observed >= 3, f"{s.key}: only {s.observed} cells were observed"
    for s in READ:
        repository, commit = s.version.split("@")
        assert re.match(rf"https://github.com/{repository}/blob/{commit}[0-9a-f]{{31}}/", s.source)


@pytest.mark.parametrize(("system", "cell"), SEEN, ids=[f"{s.key}-{c.case}" for s, c in SEEN])
def test_what_a_read_row_shows_stands_in_its_case(system: System, cell: Any) -> None:
    case = CASES[cell.case]
    assert cell.seen
    for line in cell.seen.splitlines():
        given = line.startswith("given ")
        name, _, text = line.removeprefix("given ").partition(" ")
        side = case["input" if given else "expected"]
        if given and text == "" or (given and name.startswith(("[", "{"))):
            name, text = "", line.removeprefix("given ")
        values = [side] if name in ("", "returned") else list(named_values(side, name))
        assert json.loads(text) in values, line


def named_values(data: Any, name: str) -> Any:
    if isinstance(data, dict):
        for key, value in data.items():
            if key == name:
                yield value
            yield from named_values(value, name)
    elif isinstance(data, list):
        for value in data:
            yield from named_values(value, name)


def shifted(row: dict[str, Any]) -> list[int]:
    return [*row["labels"][0][1:], -100]


def mistral(case: dict[str, Any]) -> tuple:
    return case["input"], case["expected"][0]["x"], case["expected"][0]["y"]


def cut_by_starts(case: dict[str, Any]) -> tuple:
    (row,), out = case["input"], case["expected"]
    ends = [*row["seq_start_id"][1:], len(row["input_ids"])]
    docs = [row["input_ids"][a:b] for a, b in zip(row["seq_start_id"], ends, strict=True)]
    return docs, out["tokens"][0], out["labels"][0]


def titan(case: dict[str, Any]) -> tuple:
    return case["input"][:2], case["expected"][0]["input_ids"], case["expected"][0]["labels"]


def axolotl(case: dict[str, Any]) -> tuple:
    docs = [d["input_ids"] for d in case["input"][0]]
    return docs, case["expected"]["input_ids"][0], shifted(case["expected"])


def cookbook(case: dict[str, Any]) -> tuple:
    first = case["expected"][0]
    return case["input"][:2], first["input_ids"], [*first["labels"][1:], -100]


def in_batch(case: dict[str, Any]) -> tuple:
    rows, labels, marks = case["input"]["tokens"], case["input"]["labels"], case["expected"]
    sizes = [b - a for a, b in zip(marks["cu_seqlens_q"], marks["cu_seqlens_q"][1:], strict=False)]
    docs = [row[:n] for row, n in zip(rows, sizes, strict=True)]
    under = [t for row, n in zip(labels, sizes, strict=True) for t in row[:n]]
    return docs, [t for d in docs for t in d], under


def between_documents(case: dict[str, Any]) -> tuple:
    text, sizes = case["input"]["text"], case["input"]["document_lengths"]
    docs = [text[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]
    return docs, case["expected"]["tokens"], case["expected"]["labels"]


def tune(case: dict[str, Any]) -> tuple:
    row = case["expected"][0]
    return case["input"][:2], row["tokens"], row["labels"]


CONVENTIONS = {
    "mistral-finetune": mistral,
    "NeMo: GPTSFTPackedDataset": cut_by_starts,
    "Megatron-Bridge: offline packing": cut_by_starts,
    "Megatron-Bridge: in-batch packing": in_batch,
    "torchtitan": titan,
    "Axolotl: sample_packing": axolotl,
    "llama-cookbook: ConcatDataset": cookbook,
    "Megatron-LM: inter-document masking (main)": between_documents,
    "torchtune: development version; Llama 4 recipe": tune,
}


@pytest.mark.parametrize("key", CONVENTIONS)
def test_the_letter_of_a_read_row_is_that_of_its_case(key: str) -> None:
    (system,) = [s for s in READ if s.key == key]
    case = CASES[system.cells["boundary"].case]
    letter = boundary_convention(*CONVENTIONS[key](case))
    assert system.conventions == (letter,) and system.cells["boundary"].short == letter


def test_every_boundary_with_a_case_is_looked_at() -> None:
    assert {s.key for s in READ if s.cells["boundary"].case} == set(CONVENTIONS)


def test_a_record_is_checked() -> None:
    one = load()[0]
    with pytest.raises(ValueError, match="how must be one of"):
        replace(one, how="typed")
    with pytest.raises(ValueError, match="conventions must be one of"):
        replace(one, conventions=("C",))
    with pytest.raises(ValueError, match="must answer shift, marks"):
        replace(one, cells={})
    with pytest.raises(ValueError, match="0 systems are called 'pytorch lightning'"):
        named("pytorch lightning")
    with pytest.raises(ValueError, match="2 systems are called 'bfd'|systems are called 'TRL'"):
        named("TRL")


def test_the_table_and_its_text_name_every_system() -> None:
    assert repr(overview([])) == repr(cards([])) == ""
    table = overview()
    html, text = table._repr_html_(), repr(table)
    assert html.count("<tr") == 1 + len(load()) and len(text.splitlines()) == len(load())
    for s in load():
        assert s.key in text
    for letter in ("A", "B", "B′"):
        count = sum(letter in s.conventions for s in load())
        number = 1 + ("A", "B", "B′").index(letter)
        assert len(re.findall(rf'<tr class="[^"]*sys-{number}\b', html)) == count


def test_a_card_holds_every_answer_and_what_was_seen() -> None:
    one = named("flattening")
    html, text = cards([one])._repr_html_(), repr(cards([one]))
    for column, cell in one.cells.items():
        assert COLUMNS[column] in html and cell.text in text
        assert all(line in text for line in cell.seen.splitlines())
    assert one.source in html and "<details" in html and " open>" not in html
    assert " open>" in cards([one], opened=True)._repr_html_()
