"""Submissions that try to get points, or to harm others: none succeeds, each is told in a line.

The attacks lie in `attacks/` as text, so that nothing here can run them by accident. A line
`# says: …` is what the notes must hold. Each holds one honest answer, which must keep its point; a
line `# at most: 1` says that this attack may cost itself even that.
"""

from __future__ import annotations

import os
import re
import socket
import threading
from pathlib import Path

import pytest

import course_lib
from course_lib.grading.sandbox import FIRST_USER
from tests.grading.conftest import grade
from tests.grading.notebooks import RIGHT, SETUP, answers, notebook, with_check

ATTACKS = sorted((Path(__file__).parent / "attacks").glob("*.txt"))
LIMITS = ("--timeout", "9", "--memory", "300")
BROKEN = {
    "broken_empty": (b"", "the file is empty"),
    "broken_image": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "no text"),
    "broken_truncated": (notebook(answers(RIGHT)).encode()[:400], "cut off"),
    "broken_no_cells": (b'{"score": 4}', "has no cells"),
    "broken_deep": (b"[" * 100_000, "nested too deeply"),
    "broken_number": (b'{"cells": ' + b"9" * 10_000 + b"}", "number too large"),
    "broken_text": (b"score: 4", "not JSON"),
    "broken_cells": (b'{"cells": [7, null, {"cell_type": "code", "source": 5}]}', ""),
}


class Server(threading.Thread):
    """Somebody who listens on this machine, and keeps what is sent."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.got: list[bytes] = []
        self.start()

    def run(self) -> None:
        while True:
            self.got.append(self.socket.accept()[0].recv(100))


class Class:
    """The run, and what it might have harmed."""

    def __init__(self, folder: Path, lab: Path) -> None:
        self.canary = folder / "canary"
        self.canary.mkdir()
        self.canary.chmod(0o777)
        submissions, out = folder / "class", folder / "out"
        submissions.mkdir()
        self.server = Server()
        places = {
            "CANARY": self.canary,
            "SOURCE": Path(course_lib.__file__).parent,
            "RESULTS": out,
            "CLASS": submissions,
            "SERVER": "127.0.0.1",
            "PORT": self.server.socket.getsockname()[1],
        }
        for path in ATTACKS:
            attack = path.read_text("utf8")
            for name, place in places.items():
                attack = attack.replace(name, str(place))
            cells = [SETUP, attack, with_check("1.1", RIGHT["1.1"])]
            (submissions / f"{path.stem}.ipynb").write_text(notebook(cells))
            (submissions / f"{path.stem}_honest.ipynb").write_text(notebook(answers(RIGHT)))
        for name, (data, _) in BROKEN.items():
            (submissions / f"{name}.ipynb").write_bytes(data)
        (submissions / "broken_link.ipynb").symlink_to("/etc/passwd")
        (submissions / "essay.pdf").write_bytes(b"%PDF")
        self.graded = grade(submissions, lab, out, *LIMITS)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory, lab):
    return Class(tmp_path_factory.mktemp("attacks"), lab)


def told(path, word):
    found = re.search(rf"^# {word}: ?(.*)$", path.read_text("utf8"), re.M)
    return found[1] if found else None


@pytest.mark.parametrize("path", ATTACKS, ids=lambda p: p.stem)
def test_no_attack_gains_a_point_or_loses_an_earned_one(attacked, path):
    row = attacked.graded.rows[path.stem]
    assert row["score"] <= 1 and row["exercises"]["1.1"]["points"] == row["score"], row
    assert row["score"] == 1 or told(path, "at most"), row


@pytest.mark.parametrize("path", ATTACKS, ids=lambda p: p.stem)
def test_each_attack_gets_a_line_that_says_what_happened(attacked, path):
    row, says = attacked.graded.rows[path.stem], told(path, "says")
    notes = "; ".join(row["notes"])
    reasons = "; ".join(one["reason"] for one in row["exercises"].values())
    assert any(one in notes for one in (says or "").split(" | ")), row
    assert (says is None) <= ("code cell" not in notes), row
    assert reasons and "\n" not in reasons + notes


def test_there_are_enough_attacks():
    assert len(ATTACKS) + len(BROKEN) >= 30


def test_honest_submissions_in_between_are_graded_in_full(attacked):
    honest = {n: r for n, r in attacked.graded.rows.items() if n.endswith("_honest")}
    assert len(honest) == len(ATTACKS)
    assert {n: r["score"] for n, r in honest.items() if r["score"] != 4} == {}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_in_a_line(attacked, name):
    row = attacked.graded.rows[name]
    assert row["score"] == 0 and BROKEN[name][1] in "; ".join(row["notes"]), row


def test_links_and_other_files_are_no_submissions(attacked):
    assert "a link" in attacked.graded.rows["broken_link"]["notes"][0]
    assert "not a notebook" in attacked.graded.rows["essay.pdf"]["notes"][0]


def test_nothing_was_written_outside_and_nothing_was_sent(attacked):
    assert list(attacked.canary.iterdir()) == []
    assert attacked.server.got == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a submission a user of its own")
def test_no_process_of_a_submission_is_left(attacked):
    users = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            users.append(entry.stat().st_uid)
        except OSError:
            continue
    assert [user for user in users if FIRST_USER <= user < FIRST_USER + 16] == []


def test_pages_hold_no_markup_of_a_submission(attacked):
    for page in attacked.graded.out.rglob("*.html"):
        assert "<script" not in page.read_text("utf8"), page.name
    table = (attacked.graded.out / "gradebook.csv").read_text("utf8")
    assert not re.search(r'(^|,)"?[=+@-]\w', table, re.M)


def test_attacks_make_the_exit_code_1(attacked):
    assert attacked.graded.code == 1
