"""What the widgets ship to the page is what `course_lib` says, whatever the documents."""

from __future__ import annotations

import json
import re

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from course_lib import widgets
from course_lib.loss import LossSum, reduce_losses
from course_lib.masks import document_mask
from course_lib.packing import pack_documents
from course_lib.vocabulary import EOS, IGNORE_INDEX
from course_lib.widgets.denominators import MEANS, means
from course_lib.widgets.questions import QUESTIONS
from course_lib.widgets.setups import SETUPS
from tests.strategies import documents
from tests.widgets.pages import EXERCISES

ROWS = documents(max_documents=4, max_length=4)
SOME = settings(max_examples=25)


def right(widget, part: str) -> list:
    return next(p["right"] for p in widget.data["parts"] if p["id"] == part)


@SOME
@given(ROWS, st.sampled_from("AB"), st.integers(0, 3))
def test_the_workbench_ships_what_the_packer_makes(docs, boundary, spare):
    capacity = sum(len(d) + 1 for d in docs) + spare
    assume(2 <= capacity <= 12)
    losses = [0.25 * (t + 1) for t in range(capacity - 1)]
    widget = widgets.Workbench(docs, capacity, boundary=boundary, losses=losses)
    batch = pack_documents(docs, capacity, eos_id=EOS, boundary=boundary)
    assert right(widget, "mask") == document_mask(batch)[0].int().flatten().tolist()
    assert right(widget, "positions") == batch.position_ids[0].tolist()
    assert right(widget, "targets")[1:] == batch.target_mask[0].int().tolist()
    assert sum(right(widget, "starts")) == len(docs)
    total, count = right(widget, "loss")
    values = torch.tensor([losses], dtype=torch.float64)
    assert total / count == pytest.approx(reduce_losses(values, batch.target_mask).item())
    # the right answer is right, and every single flipped cell is refused with a sentence
    answer = {p["id"]: [str(r) if p["kind"] == "number" else r for r in p["right"]]
              for p in widget.data["parts"]}  # fmt: skip
    widget.answer = answer
    assert widget.result().ok
    for part in ("starts", "mask", "targets"):
        flipped = list(answer[part])
        flipped[-1] = 1 - flipped[-1]
        widget.answer = {**answer, part: flipped}
        (cell, reason), *others = widget.result().parts[part]
        assert cell == len(flipped) - 1 and reason and not others


@SOME
@given(st.data())
def test_the_strip_ships_the_labels(data):
    docs = data.draw(documents(max_documents=3, max_length=3))
    prompts = [data.draw(st.integers(0, len(d))) for d in docs]
    capacity = sum(len(d) + 1 for d in docs) + 1
    boundary = data.draw(st.sampled_from("AB"))
    widget = widgets.TargetStrip(docs, capacity, prompt_lengths=prompts, boundary=boundary)
    batch = pack_documents(docs, capacity, eos_id=EOS, boundary=boundary, prompt_lengths=prompts)
    assert right(widget, "ignored") == (batch.labels[0] == IGNORE_INDEX).int().tolist()
    assert sum(widget.data["scored"]) == batch.num_targets
    flipped = [1 - r for r in right(widget, "ignored")]
    widget.answer = {"ignored": flipped}
    wrong = widget.result().parts["ignored"]
    assert [cell for cell, _ in wrong] == list(range(1, capacity)), "slot 0 is free"
    assert all(reason for _, reason in wrong)


LOSSES = st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=4), min_size=2, max_size=3)


@SOME
@given(LOSSES, st.data())
def test_the_token_mean_moves_nowhere(losses, data):
    rows = [data.draw(st.integers(0, len(losses) - 1)) for _ in losses]
    pad, split = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 1))
    flat = [float(v) for d in losses for v in d]
    shown = dict(zip([name for name, _ in MEANS], means(losses, rows, pad, split), strict=True))
    assert shown["token mean"][1] == f"{LossSum(sum(flat), len(flat)).mean:.3f}"
    each = [sum(d) / len(d) for d in losses]
    assert float(shown["document mean"][1]) == pytest.approx(sum(each) / len(each), abs=6e-4)


def test_the_first_seeds_numbers():
    together = means([[1, 3], [1] * 5], [0, 0], 0, 0)
    apart = means([[1, 3], [1] * 5], [0, 1], 0, 1)
    assert [v for _, v in together] == ["1.286", "1.500", "1.286", "1.125", "1.286"]
    assert [v for _, v in apart] == ["1.286", "1.500", "1.500", "0.900", "1.500"]


def test_which_mean_an_action_can_move():
    table = torch.tensor(right(widgets.Denominators(), "moves")).reshape(5, 3).tolist()
    assert dict(zip([name for name, _ in MEANS], table, strict=True)) == {
        "token mean": [0, 0, 0],
        "document mean": [0, 0, 0],
        "row mean": [1, 0, 0],
        "slot mean": [1, 1, 0],
        "mean of micro-batch means": [1, 0, 1],
    }


@pytest.mark.parametrize("name", SETUPS)
def test_every_setup_is_whole(name):
    setup = SETUPS[name]
    widget = widgets.SpotTheBug(name)
    assert set(widget.data["owner"]) >= {-1, *range(len(setup.errors))}
    assert min(widget.data["owner"]) == -1 - len(setup.fine)
    assert not re.search(r"[\[{]{2}|[\]}]{2}", " ".join(widget.data["words"]))
    assert re.search(r"\d", setup.evidence()) or name == "double-shift"
    for error in setup.errors:
        assert all(vars(error).values())
    widget.answer = {"words": [int(o >= 0) for o in widget.data["owner"]]}
    assert widget.result().ok
    widget.answer = {"words": [1] * len(widget.data["words"])}
    assert not widget.result().ok


def test_evidence_of_the_setups():
    assert "12 of the 28" in SETUPS["no-document-mask"].evidence()
    assert "2 targets are right. This set-up scores 7" in SETUPS["prompt-and-padding"].evidence()
    assert "scored on `b`. This set-up scores it on `c`" in SETUPS["double-shift"].evidence()
    assert "keeps 2 EOS targets of 4. Masking by id keeps 0" in SETUPS["eos-as-pad"].evidence()


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_has_one_right_option_and_names_the_others(name):
    options = QUESTIONS[name]().options
    assert sum(not o.misconception for o in options) == 1
    assert len({o.text for o in options}) == len(options) >= 3
    widget = widgets.QuickCheck(name)
    for i, option in enumerate(options):
        widget.answer = {"choice": i}
        assert widget.result().ok == (not option.misconception)


def test_the_preview_is_the_lessons():
    frames = {f["title"]: f["tables"] for f in widgets.StepThrough().data["frames"]}
    cells = {t: [r["cells"] for r in tables[0]["rows"]] for t, tables in frames.items()}
    assert cells["documents"] == [["a", "b", "c"], ["a", "a"]]
    assert cells["labels"] == [["1", "2", "3", "-100", "-100"], ["1", "1", "-100", "-100", "-100"]]
    assert cells["shifted pairs"][1] == ["2", "3", "-100", "-100"]
    total, count, mean = cells["mean"][0]
    assert count == "3" and float(mean) == pytest.approx(float(total) / 3, abs=0.01)


@pytest.mark.parametrize("make", EXERCISES.values(), ids=EXERCISES)
def test_repr_is_the_twin_and_stable(make):
    first, second = make(), make()
    assert repr(first) == repr(second) == first.twin()
    assert "object at 0x" not in repr(first)
    assert first.page_html() == second.page_html() and first.widget_id == second.widget_id
    assert max(map(len, repr(first).splitlines())) <= 72
    data, _ = first._repr_mimebundle_()
    assert data["text/plain"] == repr(first)
    assert data["text/html"] == first.page_html()
    assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.parametrize("make", EXERCISES.values(), ids=EXERCISES)
def test_the_page_carries_the_kernels_data_and_no_open_tag(make):
    widget = make()
    text = re.search(r'<script type="application/json">(.*?)</script>', widget.page_html())[1]
    assert json.loads(text) == {"data": widget.data}
    assert "<" not in text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: widgets.Workbench([[1] * 5, [1] * 5], 8), "fill 2 rows of 8 slots"),
        (lambda: widgets.Workbench([[1]], 13), "capacity=13 is too wide"),
        (lambda: widgets.Workbench([[1, 2]], 4, losses=[1, 2]), "losses has 2 numbers"),
        (lambda: widgets.Workbench([[1, 2]], 4, boundary="C"), "boundary must be one of"),
        (lambda: widgets.TargetStrip([[1, 2]], 4, prompt_lengths=[3]), r"prompt_lengths\[0\] is 3"),
        (lambda: widgets.Denominators([[1]]), "two or three documents"),
        (lambda: widgets.SpotTheBug("typo"), "setup must be one of 'no-document-mask'"),
        (lambda: widgets.QuickCheck("typo"), "question must be one of 'global-mean'"),
        (lambda: widgets.StepThrough([[1] * 9], length=9), "at most 3 rows of 8 slots"),
    ],
)
def test_bad_input_is_one_clear_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_ids_of_another_vocabulary_are_not_given_our_names():
    widget = widgets.Workbench([[1, 2], [3], [4, 5, 6]], 10, eos_id=7)
    assert widget.data["names"] == ["1", "2", "7", "3", "7", "4", "5", "6", "7", "0"]
    assert "eos" not in repr(widget).split("slot", 1)[1]
