"""Every control of the labs moved through every value, its result compared with `course_lib`."""

import re
from itertools import product

import ipywidgets
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from course_lib.decoder import TinyDecoder
from course_lib.exercises.hunt import COLLATORS, SETS
from course_lib.loss import LossSum
from course_lib.masks import causal_mask, document_mask, padding_mask
from course_lib.packing import lower_bound, pack_documents, pack_lengths
from course_lib.padding import pad_documents
from course_lib.setups import prepare
from course_lib.widgets import live
from course_lib.widgets.live.denominators import DOCUMENTS, drift
from course_lib.widgets.live.packing import draw_lengths

BUILDERS = {
    "masks": live.mask_explorer,
    "packing": live.packing_playground,
    "denominators": live.denominator_explorer,
    "collators": lambda: live.collator_bench(COLLATORS, SETS),
}
SUBSET = {"VBox", "Box", "HBox", "HTML", "IntSlider", "Dropdown", "Text", "KeysStayHere"}
"""What ipywidgets 7.7 in Colab shows without trouble."""


def values(control):
    """Every value that a control can take."""
    if isinstance(control, ipywidgets.IntSlider):
        return range(control.min, control.max + 1, control.step)
    if isinstance(control, ipywidgets.Dropdown):
        return [o[1] if isinstance(o, tuple) else o for o in control.options]
    return ["", "0", "1, 2", "2 1 0", "x", "-1"]


def text(panel):
    """What a reader sees, without tags."""
    return re.sub(r"<[^>]+>", " ", panel.view.value)


@pytest.fixture(params=BUILDERS)
def panel(request):
    return BUILDERS[request.param]()


def test_only_the_subset_is_used(panel):
    seen, todo = set(), [panel]
    while todo:
        widget = todo.pop()
        todo += getattr(widget, "children", ())
        seen.add("VBox" if widget is panel else type(widget).__name__)
    assert seen <= SUBSET and all(c.description for c in panel.controls.values())


def test_repr_is_stable_short_and_says_the_values(panel):
    other = next(make() for name, make in BUILDERS.items() if f"'{name}'" in repr(panel))
    assert repr(panel) == repr(other) and "0x" not in repr(panel)
    assert len(repr(panel)) <= 110, "ipywidgets cuts a longer one"
    for control in panel.controls.values():
        start = control.value
        control.value = next(v for v in values(control) if v != start)
        assert repr(panel) != repr(other)
        control.value = start


def test_every_value_of_every_control_gives_a_result_or_a_sentence(panel):
    for name, control in panel.controls.items():
        start, seen = control.value, set()
        for value in values(control):
            control.value = value
            assert panel.state[name] == value
            if panel.result is None:
                assert "Not possible: " in text(panel)
            else:
                assert "<table" in panel.view.value and "Not possible" not in panel.view.value
            seen.add(panel.view.value)
        assert len(seen) > 1, f"{name} changes nothing"
        control.value = start
        assert panel.result is not None


def test_after_a_refusal_the_controls_go_on():
    panel = live.mask_explorer()
    panel.controls["prompts"].value = "two"
    assert panel.result is None and "'two' is something else" in text(panel).replace("&#x27;", "'")
    panel.controls["prompts"].value = "2"
    assert panel.result.batch.ledger().prompts == 1


# --- masks


def test_masks_are_those_of_the_library():
    panel = live.mask_explorer()
    for boundary, mask, capacity, last in product("AB", live.masks.KINDS, (7, 8, 11), (0, 3)):
        panel.controls["boundary"].value = boundary
        panel.controls["mask"].value = mask
        panel.controls["capacity"].value = capacity
        panel.controls["length_2"].value = last
        documents = [[1, 2, 3, 4], [2, 3, 4], [3, 1, 4]][: 2 + bool(last)]
        batch = pack_documents(documents, capacity, boundary=boundary, strategy="next_fit")
        found = panel.result
        assert torch.equal(found.batch.input_ids, batch.input_ids)
        assert torch.equal(found.batch.labels, batch.labels)
        right = {"causal": causal_mask(capacity), "padding": padding_mask(batch)[0],
                 "document": document_mask(batch)[0]}[mask]  # fmt: skip
        assert torch.equal(found.mask, right)
        seen = found.weights
        assert bool((seen[~right] == 0).all())
        torch.testing.assert_close(seen.sum(-1), right.any(-1).double())
        ledger = batch.ledger()
        assert f"targets {ledger.targets}, row starts {ledger.row_starts}" in text(panel)
        assert f"mask: {int(right.sum())} of {capacity**2} pairs" in text(panel)


def test_prompts_become_no_targets():
    panel = live.mask_explorer(prompts="2, 1", boundary="B")
    assert panel.result.batch.labels[0].tolist() == [-100, -100, 3, 4, -100, 3, 4, -100]
    assert "attention, head 0" in text(panel)


def test_a_document_that_does_not_fit_is_told():
    panel = live.mask_explorer()
    panel.controls["length_0"].value = 8
    panel.controls["capacity"].value = 6
    assert panel.result is None and "more than capacity=6" in text(panel)


# --- packing


@pytest.mark.parametrize("distribution", live.packing.DISTRIBUTIONS)
def test_packings_are_those_of_the_library(distribution):
    panel = live.packing_playground(distribution, documents=150)
    lengths = draw_lengths(distribution, 150)
    assert lengths.min() >= 1 and len(set(lengths.tolist())) > 1
    cases = product(values(panel.controls["strategy"]), (128, 512), (0, 32))
    for strategy, capacity, window in cases:
        for name, value in (("strategy", strategy), ("capacity", capacity), ("window", window)):
            panel.controls[name].value = value
        found, whole = panel.result, strategy != "concatenate"
        kept = np.minimum(lengths, capacity) if whole else lengths
        step = window or len(kept)
        parts = [pack_lengths(kept[s : s + step], capacity, strategy)
                 for s in range(0, len(kept), step)]  # fmt: skip
        assert found.rows == sum(map(len, parts))
        assert found.tokens + found.truncated == lengths.sum()
        assert found.utilization == pytest.approx(kept.sum() / (found.rows * capacity))
        assert found.curve[-1] == (150, pytest.approx(found.utilization))
        if whole:
            assert found.gap == found.rows - lower_bound(kept, capacity) >= 0
            assert found.cut_documents == found.cut_tokens == 0
        else:
            pieces = sum(len(part.order) for part in parts)
            assert found.truncated == 0 < found.cut_documents <= pieces - 150
        assert f"{found.utilization:.1%} used" in text(panel)


def test_a_wider_window_needs_no_more_rows_on_these_lengths():
    rows = [live.packing_playground(window=w).result.rows for w in (8, 32, 128, 0)]
    assert rows == sorted(rows, reverse=True) and rows[0] > rows[-1]


# --- denominators


def trained_as_a_loop_would(found, rule):
    """Value and gradient by backward passes: micro-batch by micro-batch, rank by rank."""
    model = TinyDecoder().double()
    count = sum(pair.count for rank in found.pairs for pair in rank)
    value, gradient = 0.0, 0.0
    for rank in found.parts:
        model.zero_grad()
        mine = sum(len(DOCUMENTS[d]) - 1 for micro in rank for d in micro)
        for micro in rank:
            loss = prepare(pad_documents([DOCUMENTS[d] for d in micro])).loss(model)
            scale = {
                "global": len(found.parts) / count,
                "micro": 1 / loss.count / len(rank),
                "rank": 1 / mine,
                "slots": len(found.parts) / (12 * 12),
            }[rule]
            (loss.total * scale).backward()
            value += float(loss.total.detach()) * scale / len(found.parts)
        parts = [p.grad.flatten() for p in model.parameters()]
        gradient += torch.cat(parts) / len(found.parts)  # what DDP does
    return value, gradient


def test_drift_is_that_of_a_training_loop():
    loss = prepare(pad_documents(DOCUMENTS)).loss(model := TinyDecoder().double())
    loss.mean.backward()
    full = torch.cat([p.grad.flatten() for p in model.parameters()])
    panel = live.denominator_explorer()
    ways = product(("global", "micro", "rank", "slots"), values(panel.controls["order"]),
                   ((1, 1), (2, 2), (3, 2), (4, 3)))  # fmt: skip
    for rule, order, (ranks, micros) in ways:
        for name, new in (("ranks", ranks), ("micro_batches", micros), ("rule", rule),
                          ("order", order)):  # fmt: skip
            panel.controls[name].value = new
        found = panel.result
        assert sorted(d for r in found.parts for m in r for d in m) == list(range(12))
        assert isinstance(found.pairs[0][0], LossSum)
        value, gradient = trained_as_a_loop_would(found, rule)
        assert found.full == pytest.approx(float(loss.mean.detach()))
        assert found.value == pytest.approx(value)
        assert found.cosine == pytest.approx(float(F.cosine_similarity(gradient, full, 0)))
        assert found.relative == pytest.approx(float((gradient - full).norm() / full.norm()))
        assert f"cosine {found.cosine:.4f}" in text(panel)


def test_only_the_global_sum_never_drifts():
    for ranks, micros, order in product((1, 2, 3, 4), (1, 2, 3), ("as they come", "by length")):
        assert drift(ranks, micros, order, "global").relative < 1e-12
    assert drift(2, 2, "by length", "micro").cosine < 0.9
    assert drift(1, 3, "by length", "rank").relative < 1e-12
    slots = drift(2, 2, "by length", "slots")
    assert slots.cosine == pytest.approx(1) and slots.relative > 0.5


# --- collators


def test_the_bench_shows_what_the_collator_returns():
    panel = live.collator_bench(COLLATORS, SETS)
    for letter, name, pad in product(COLLATORS, SETS, (0, 4)):
        for control, value in (("collator", letter), ("documents", name), ("pad_id", pad)):
            panel.controls[control].value = value
        batch = COLLATORS[letter](*SETS[name], pad)
        assert batch.keys() == panel.result.keys()
        assert all(torch.equal(torch.as_tensor(v), torch.as_tensor(panel.result[k]))
                   for k, v in batch.items())  # fmt: skip
        assert f"num_items_in_batch = {batch['num_items_in_batch']}" in text(panel)
        assert panel.view.value.count("<table") == len(batch["input_ids"])
