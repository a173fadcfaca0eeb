"""The sandbox on systems that allow less, and the data that crosses its border."""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct

import numpy as np
import pytest
import torch

from course_lib.exercises.plain import Array, Opaque, plain
from course_lib.grading import wire
from course_lib.grading.labs import read_lab
from course_lib.grading.limits import Limits
from course_lib.grading.sandbox import Ended, Sandbox
from course_lib.grading.slicing import needed
from course_lib.grading.submission import grade_cells
from course_lib.grading.surroundings import make_folder
from tests.grading.notebooks import RIGHT, answers

LIMITS = Limits(seconds=20, cell_seconds=4, call_seconds=2, memory_mb=200, disk_mb=8)
ALONE = """\
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()"""
FULL = "for i in range(40):\n    open(f'f{i}', 'wb').write(bytes(1_000_000))\nimport time\n"


@pytest.fixture(scope="module", params=["all", "refused"])
def sandbox(request, lab):
    """The sandbox as it is here, and as it is where no name space may be made."""
    refused = ["no network", "no other processes", "mounts"] if request.param == "refused" else []
    folder = make_folder()
    with Sandbox(folder, 9, LIMITS, read_lab(lab).modules, refused=refused) as made:
        yield made
    shutil.rmtree(folder)


def score(sandbox, lab, *before):
    record = grade_cells(read_lab(lab), answers(RIGHT, before), sandbox)
    return record["score"], "; ".join(record["notes"])


def test_a_right_notebook_gets_full_marks(sandbox, lab):
    assert score(sandbox, lab) == (4, "")


def test_what_got_away_is_ended(sandbox, lab):
    assert score(sandbox, lab, ALONE) == (4, "")
    assert sandbox._process is not None and sandbox._process.poll() is None


def test_a_full_disk_stops_the_cell_only(sandbox, lab):
    points, notes = score(sandbox, lab, FULL + "time.sleep(2)")
    assert points == 4 and notes.startswith("code cell 2"), notes


def test_the_protections_in_effect_are_known(sandbox):
    got = set(sandbox.protections)
    if sandbox._refused:
        assert got <= {"own user"}
    elif os.geteuid() == 0:
        assert "own user" in got


def test_a_session_that_was_closed_asks_no_more(sandbox):
    session = sandbox.open()
    session.close()
    with pytest.raises((Ended, OSError)):
        session.ask("cell", 1, source="", name="", seconds=1)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -0.5, "text", ..., [1, [2]], (1, "a"), {1: [2.0], "b": (None,)}, Opaque("X"),
     10**30, float("inf")],
)  # fmt: skip
def test_plain_data_crosses_unchanged(value):
    assert wire.decode(json.loads(json.dumps(wire.encode(value)))) == value


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.float32, torch.int32])
def test_tensors_cross_unchanged(dtype):
    tensor = torch.tensor([[0, 1], [1, 0]]).to(dtype)
    there = wire.decode(wire.encode(tensor))
    assert there.dtype == dtype and torch.equal(there, tensor)
    array = wire.decode(wire.encode(plain(tensor)))
    assert isinstance(array, Array) and array.source == str(dtype)
    assert np.array_equal(array.values, tensor.numpy())


@pytest.mark.parametrize(
    "data",
    [
        {"pickle": "x"}, {"tuple": 1}, {"dict": [[1]]}, {"dict": [[[1], 2]]}, {"a": 1, "b": 2},
        {"array": ["t", "object", [1], ""]}, {"array": ["t", "int64", [2], "AAAA"]},
        {"array": ["t", "int64", [-1], ""]}, {"array": ["t", "int64", [10**9, 10**9], ""]},
        {"array": ["t", "bool", [1], "Ag=="]}, {"numpy": ["int64", [1], "?"]}, {"opaque": 5},
        {"array": ["t", "int64", "2", ""]}, {"tensor": ["int64", [True], "AAAAAAAAAAA="]},
    ],
)  # fmt: skip
def test_what_is_no_plain_data_is_refused(data):
    with pytest.raises(wire.WireError):
        wire.decode(data)


def test_layers_without_end_are_refused():
    deep: list = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(wire.WireError, match="layers"):
        wire.decode(deep)


def received(data: bytes):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        return wire.receive(ours, 1.0, wire.MOST_BYTES)


def test_frames_are_read_with_care():
    assert received(struct.pack(">I", 1) + b"7") == 7
    for data, error in (
        (struct.pack(">I", 2**32 - 1), wire.WireError),
        (struct.pack(">I", 3) + b"{]}", wire.WireError),
        (struct.pack(">I", 9000) + b"[" * 9000, wire.WireError),
        (struct.pack(">I", 9) + b"[1", wire.Closed),
        (b"", wire.Closed),
    ):
        with pytest.raises(error):
            received(data)


def test_nobody_answers_in_time():
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(TimeoutError):
        wire.receive(ours, 0.05)


LAB = ["import torch\nfrom course_lib import check", "a = [1]", "b = train(a)", "def f(): return a",
       "c = ...\ncheck('1', c)"]  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "run"),
    [
        (LAB, [True, False, False, False, True]),
        ([*LAB[:4], "c = f()\ncheck('1', c)"], [True, True, True, True, True]),
        ([*LAB[:4], "c = b\ncheck('1', c)"], [True, True, True, False, True]),
        ([*LAB[:4], "b = 1\nc = b\ncheck('1', c)"], [True, False, False, False, True]),
        ([*LAB[:4], "c = a\ncheck('1', c)", LAB[2]], [True, True, True, False, True, False]),
        ([*LAB, "c = globals()"], [True] * 6),
        ([*LAB, "def broken(:"], [True, False, False, False, True, True]),
        ([*LAB[:2], "b = train(a)  # mine", *LAB[3:]], [True, True, True, False, True]),
        (["check = print", *LAB[1:]], [True, False, False, False, True]),
    ],
)
def test_cells_that_nothing_depends_on_are_left_out(cells, run):
    assert needed(cells, LAB) == run
