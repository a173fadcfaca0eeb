"""A small lab and submissions of it, as the tests of the grader need them."""

from __future__ import annotations

import json
from pathlib import Path

SETUP = "import torch\nfrom course_lib import check"
STUBS = {
    "1.1": "targets = ...",
    "2.1": "pairs = ...",
    "2.2": 'def shift(logits, labels):\n    """[B, T, V], [B, T]"""\n    ...',
    "5.1": "def position_ids(lengths, total):\n    ...",
}
NAMES = {"1.1": "targets", "2.1": "pairs", "2.2": "shift", "5.1": "position_ids"}
RIGHT = {
    "1.1": "targets = 3",
    "2.1": "pairs = [(0, 3), (1, 2), (2, 1), (3, 4)]",
    "2.2": "def shift(logits, labels):\n    return logits[:, :-1], labels[:, 1:]",
    "5.1": "def position_ids(lengths, total):\n    out = [t for n in lengths for t in range(n)]\n"
    "    return out + [-1] * (total - len(out))",
}
WRONG = {
    "1.1": "targets = 5",
    "2.1": "pairs = [(0, 1), (1, 3), (2, 2), (3, 1), (4, 4)]",
    "2.2": "def shift(logits, labels):\n    return logits[:, 1:], labels[:, :-1]",
    "5.1": "def position_ids(lengths, total):\n    n = sum(lengths)\n"
    "    return list(range(n)) + [-1] * (total - n)",
}


def notebook(cells, **more):
    """The bytes of a notebook with these code cells."""
    made = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [],
         "execution_count": None}
        for source in cells
    ]  # fmt: skip
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | more)


def with_check(exercise, source):
    return f'{source}\ncheck("{exercise}", {NAMES[exercise]})'


def answers(given=None, before=(), after=()):
    """The cells of a submission: `given` answers, stubs for the rest, other cells around."""
    texts = STUBS | dict(given or {})
    return [SETUP, *before, *(with_check(e, texts[e]) for e in STUBS), *after]


def write_lab(folder: Path) -> Path:
    path = folder / "01_small.ipynb"
    path.write_text(notebook(answers()))
    return path
