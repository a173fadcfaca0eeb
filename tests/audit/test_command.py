"""`python -m course_lib audit FILE`: four kinds of files, three exit codes."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch

from course_lib.__main__ import main

FAULTY = {
    "input_ids": [[5, 6, 2, 0, 0], [7, 8, 9, 10, 2]],
    "labels": [[5, 6, 2, 0, 0], [7, 8, 9, 10, 2]],
    "attention_mask": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]],
}
CLEAN = {**FAULTY, "labels": [[5, 6, 2, -100, -100], [7, 8, 9, 10, 2]]}


def save(path, batch):
    tensors = {k: torch.tensor(v) for k, v in batch.items()}
    if path.suffix == ".json":
        path.write_text(json.dumps(batch))
    elif path.suffix == ".npz":
        np.savez(path, **{k: np.array(v) for k, v in batch.items()})
    elif path.suffix == ".pt":
        torch.save(tensors, path)
    else:
        from safetensors.torch import save_file

        save_file(tensors, path)
    return str(path)


@pytest.mark.parametrize("suffix", [".json", ".npz", ".pt", ".safetensors"])
def test_a_file_of_each_kind(tmp_path, capsys, suffix):
    assert main(["audit", save(tmp_path / f"faulty{suffix}", FAULTY), "--eos", "2"]) == 1
    assert "pad_target (0, 3) (0, 4)" in capsys.readouterr().out
    clean = save(tmp_path / f"clean{suffix}", CLEAN)
    assert main(["audit", clean, "--eos", "2", "--pad", "0"]) == 0
    assert "nothing found" in capsys.readouterr().out


def test_json_out_and_options_in_the_file(tmp_path, capsys):
    path = save(tmp_path / "b.json", {**CLEAN, "eos_token_id": 99, "ignore_index": -100})
    assert main(["audit", path, "--json"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert [f["code"] for f in plain["findings"]] == ["eos_missing"] and plain["ok"]


def test_no_shift(tmp_path, capsys):
    path = save(tmp_path / "b.json", {"input_ids": [[5, 6, 7]], "labels": [[5, 6, 7]]})
    assert main(["audit", path]) == 0
    assert main(["audit", path, "--no-shift"]) == 1
    assert "missing_shift" in capsys.readouterr().out


def test_explain(capsys):
    assert main(["audit", "--explain", "double_shift"]) == 0
    assert capsys.readouterr().out.startswith("double_shift (error)")


class Evil:
    def __reduce__(self):
        return (print, ("a pickle ran code",))


def unusable(tmp_path) -> dict[str, tuple[str, str]]:
    """Name → (file, what the one line must say)."""
    made = {name: tmp_path / name for name in (
        "evil.pt", "evil.pkl", "evil.npz", "cut.json", "list.json", "text.json", "none.json",
        "cut.npz", "cut.safetensors", "ragged.json", "options.json")}  # fmt: skip
    torch.save({"input_ids": Evil()}, made["evil.pt"])
    made["evil.pkl"].write_bytes(pickle.dumps(Evil()))
    np.savez(made["evil.npz"], input_ids=np.array([Evil()], dtype=object))
    made["cut.json"].write_text('{"input_ids": [[1')
    made["list.json"].write_text("[1, 2]")
    made["text.json"].write_text('{"input_ids": [["a"]]}')
    made["none.json"].write_text("{}")
    made["cut.npz"].write_bytes(b"PK\x03\x04nothing")
    made["cut.safetensors"].write_bytes(b"\x00" * 9)
    made["ragged.json"].write_text('{"input_ids": "abc"}')
    made["options.json"].write_text('{"pad_token_id": 0}')
    said = {"evil.pt": "pickle can run code", "evil.pkl": "pickle can run code",
            "evil.npz": "pickled objects", "cut.json": "no JSON", "list.json": "not a mapping",
            "text.json": "must hold numbers", "none.json": "no field", "cut.npz": "refused",
            "cut.safetensors": "no safetensors file", "ragged.json": "must hold numbers",
            "options.json": "no field"}  # fmt: skip
    return {name: (str(path), said[name]) for name, path in made.items()}


def test_unusable_input_is_refused_in_one_line(tmp_path, capsys):
    missing = (str(tmp_path / "nil.json"), "no such file")
    for path, wanted in [*unusable(tmp_path).values(), missing]:
        assert main(["audit", path]) == 2, path
        out, err = capsys.readouterr()
        assert out == "" and wanted in err and len(err.splitlines()) == 1, err
        assert "ran code" not in out


def test_nothing_given(capsys):
    assert main(["audit"]) == 2
    assert "FILE" in capsys.readouterr().err


def test_help_shows_an_example_and_the_exit_codes():
    for command in (["--help"], ["audit", "--help"]):
        run = subprocess.run([sys.executable, "-m", "course_lib", *command], capture_output=True,
                             text=True, check=True)  # fmt: skip
        assert "audit" in run.stdout
    assert "example:" in run.stdout and "exit code: 0 nothing found" in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 100
