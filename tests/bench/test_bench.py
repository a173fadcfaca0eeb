"""The measurements measure what they say: equal results, right areas, right ratios."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from course_lib import Decoder, TinyDecoder, document_ids_from_lengths, document_mask
from course_lib.attention import backends
from course_lib.bench import (
    TOLERANCE,
    WAYS,
    Measurement,
    ModelSize,
    Plan,
    Report,
    attention_area,
    check_way,
    draw_documents,
    make_feed,
    make_plan,
    measure,
    plan,
    runs,
)
from course_lib.bench import __main__ as command
from course_lib.bench import ways as ways_module
from course_lib.bench.clock import peak_bytes
from course_lib.bench.runs import training_step

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
SMALL = ModelSize(vocab_size=32, width=32, heads=2, blocks=2, hidden=64)
ON_CPU = WAYS[:4]


def small_plan(**change: object) -> Plan:
    given = dict(
        device="cpu", dtype=torch.float32, model=SMALL, contexts=(32, 48), documents=8, rounds=3,
        ways=ON_CPU, left_out={"packed, flex": "no", "packed, varlen": "no"},
    )  # fmt: skip
    return Plan(**given | change)


def decoder(dtype: torch.dtype = torch.float32) -> nn.Module:
    return Decoder(**vars(SMALL), positions="rope").to(dtype)


@pytest.mark.parametrize("context", [48, 64, 1000])
def test_documents_fit_a_quarter_of_as_many_rows(context: int) -> None:
    documents = draw_documents(8, context, 32)
    assert make_feed("padded", documents, context).batch.input_ids.shape == (8, context)
    packed = make_feed("packed, dense mask", documents, context).batch
    assert packed.input_ids.shape == (2, context)
    assert packed.utilization > 0.9
    assert [d.tolist() for d in documents] == [d.tolist() for d in draw_documents(8, context, 32)]


def test_every_way_has_the_same_targets() -> None:
    documents = draw_documents(8, 40, 32)
    feeds = [make_feed(way, documents, 40) for way in WAYS]
    assert {f.batch.num_targets for f in feeds} == {sum(len(d) - 1 for d in documents)}
    for feed in feeds:
        real = feed.batch.input_ids[feed.batch.attention_mask.bool()]
        assert torch.equal(real, torch.cat([documents[i] for i in feed.order]))


@given(st.lists(st.integers(1, 200), min_size=1, max_size=5), st.integers(0, 100))
def test_areas_are_counts_of_pairs(lengths: list[int], padding: int) -> None:
    ids = document_ids_from_lengths(lengths, sum(lengths) + padding)[None]
    allowed = int(document_mask(ids).sum())
    area = {way: attention_area(way, ids) for way in WAYS}
    assert area["packed, per document"] == area["packed, varlen"] == allowed
    assert area["packed, dense mask"] == ids.shape[1] ** 2
    tiles = -(-ids.shape[1] // 128)
    padded = torch.zeros(tiles * 128, tiles * 128, dtype=torch.bool)
    padded[: ids.shape[1], : ids.shape[1]] = document_mask(ids)[0]
    hit = padded.view(tiles, 128, tiles, 128).any(3).any(1)
    assert area["packed, flex"] >= int(hit.sum()) * 128 * 128
    if lengths == [ids.shape[1]]:
        assert area["padded"] == allowed


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("way", ON_CPU)
def test_each_way_equals_separate_documents(way: str, dtype: torch.dtype) -> None:
    documents = draw_documents(8, 40, 32)
    check = check_way(decoder(dtype), make_feed(way, documents, 40), documents)
    assert check.equal, check
    assert check.gradient is not None


def test_flex_equals_separate_documents_forward() -> None:
    documents = draw_documents(8, 40, 32)
    check = check_way(
        decoder(), make_feed("packed, flex", documents, 40), documents, backward=False
    )
    assert check.equal and check.gradient is None


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_the_causal_mask_alone_is_noticed(dtype: torch.dtype, monkeypatch) -> None:
    monkeypatch.setitem(ways_module.BACKEND, "packed, dense mask", None)
    documents = draw_documents(8, 40, 32)
    check = check_way(decoder(dtype), make_feed("packed, dense mask", documents, 40), documents)
    limit = TOLERANCE[dtype]
    assert not check.equal
    assert check.logits > 3 * limit.logits and check.gradient > 2 * limit.gradient


def test_a_report_of_a_small_run() -> None:
    lines: list[str] = []
    report = measure(small_plan(), lines.append)
    assert report.contexts == [32, 48] and len(lines) == 3
    assert [m.way for m in report.measurements] == [*ON_CPU, *ON_CPU]
    assert all(len(m.ms) == 3 and min(m.ms) > 0 and m.peak_mib > 0 for m in report.measurements)
    for context in report.contexts:
        losses = [m.loss for m in report.measurements if m.context == context]
        assert max(losses) - min(losses) < 1e-5
    assert [c.way for c in report.checks] == [*ON_CPU, "packed, flex"]
    assert Report.from_dict(json.loads(report.to_json())) == report
    assert "packed, varlen: no" in str(report)


def test_ratios_are_taken_round_by_round() -> None:
    def made(way: str, slots: int, area: int, ms: tuple[float, ...]) -> Measurement:
        return Measurement(way, 8, 16, slots, area, ms, 1.0, 2.0)

    report = Report(
        "m", "cpu", "float32", "c", {}, 1,
        (made("padded", 64, 100, (10.0, 40.0, 30.0)), made("packed, flex", 16, 10, (5, 10, 10))),
        (), {},
    )  # fmt: skip
    row = list(report.rows())[1]
    assert (row.speedup, row.slot_bound, row.area_bound) == (3.0, 4.0, 10.0)
    assert row.tokens_per_second == 1600


def test_a_way_that_fails_is_left_out_and_padded_is_not(monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of resource: shared memory\nand more")

    monkeypatch.setitem(backends._RUN, "per_document", broken)
    report = measure(small_plan(contexts=(32,)))
    assert report.left_out["packed, per document"] == "failed here: out of resource: shared memory"
    assert [m.way for m in report.measurements] == list(ON_CPU[:3])
    monkeypatch.setattr("course_lib.bench.runs.check_way", broken)
    with pytest.raises(RuntimeError, match="out of resource"):
        measure(small_plan(contexts=(32,)))


def test_memory_that_ends_keeps_what_was_measured(monkeypatch) -> None:
    whole = runs._at

    def full(plan: Plan, model: nn.Module, context: int, left_out: dict) -> list:
        if context > 32:
            raise torch.OutOfMemoryError("no more")
        return whole(plan, model, context, left_out)

    monkeypatch.setattr(runs, "_at", full)
    report = measure(small_plan())
    assert report.contexts == [32]
    assert report.notes == ("rows of 48 slots, padded, do not fit: stopped before them.",)


def test_peak_of_tensors_alive() -> None:
    def chain() -> torch.Tensor:
        x = torch.ones(100)  # 400 bytes
        x = x + 1  # 800 for a moment
        x = x.view(10, 10).T  # a view
        return x.add_(1)  # in place

    assert peak_bytes(chain, "cpu") == 800
    held = torch.ones(1000)
    assert peak_bytes(lambda: held.view(10, 100), "cpu") == 0
    model, documents = TinyDecoder(), draw_documents(8, 16, 7)
    peaks = [
        peak_bytes(training_step(model, make_feed(way, documents, 16)), "cpu")
        for way in ("padded", "padded to longest")
    ]
    assert peaks[0] > peaks[1] > 0


def fake_card(monkeypatch, capability: tuple[int, int], gib: int) -> None:
    """A machine with a card, as far as making a plan can see."""
    card = SimpleNamespace(total_memory=gib * 2**30)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: capability)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda *_: card)

    def queries(made: Plan, requires_grad: bool) -> SimpleNamespace:
        head = made.model.width // made.model.heads
        return SimpleNamespace(
            is_cuda=True, device="cuda", dtype=made.dtype, shape=(1, 1, 2, head),
            requires_grad=requires_grad,
        )  # fmt: skip

    monkeypatch.setattr(plan, "queries_like", queries)


def test_plan_for_a_t4(monkeypatch) -> None:
    fake_card(monkeypatch, (7, 5), 15)
    made = make_plan("cuda", "full")
    assert made.dtype == torch.float32
    assert made.ways == tuple(w for w in WAYS if w != "packed, varlen")
    assert "compute capability 8.0, this GPU has 7.5" in made.left_out["packed, varlen"]
    assert "no bfloat16 units" in made.notes[0] and "15 GiB hold no more" in made.notes[1]
    assert made.contexts[-1] < 16384


def test_plan_for_a_large_card(monkeypatch) -> None:
    fake_card(monkeypatch, (9, 0), 139)
    made = make_plan("cuda", "full")
    assert (made.dtype, made.ways, made.left_out) == (torch.bfloat16, WAYS, {})
    assert made.contexts[-1] == 16384 and made.notes == ()


def test_plan_on_a_cpu_says_why_two_are_left_out() -> None:
    made = make_plan("cpu", "small")
    assert made.ways == ON_CPU
    assert "no backward pass on a CPU" in made.left_out["packed, flex"]
    assert "needs a GPU" in made.left_out["packed, varlen"]
    with pytest.raises(ValueError, match="size must be one of"):
        make_plan("cpu", "huge")


def test_the_command(monkeypatch, capsys) -> None:
    monkeypatch.setattr(command, "make_plan", lambda *_: small_plan(contexts=(32,)))
    assert command.main(["--device", "cpu", "--json"]) == 0
    out = capsys.readouterr()
    assert Report.from_dict(json.loads(out.out)).contexts == [32]
    assert "timing rows of 32 slots" in out.err
    assert command.main(["--device", "cpu"]) == 0
    assert "real tokens/s" in capsys.readouterr().out


def test_torch_and_numpy_are_enough() -> None:
    code = (
        "import sys\n"
        "others = 'matplotlib ipywidgets anywidget tqdm nbformat nbclient IPython'.split()\n"
        "sys.modules |= dict.fromkeys(others)\n"  # importing one of them now fails
        "import course_lib.bench.__main__ as command\n"
        "print(len(command.make_plan('cpu', 'small').ways))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "4"), done.stderr


def test_the_command_without_a_gpu(monkeypatch, capsys) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert command.main(["--device", "cuda"]) == 2
    assert "no GPU here" in capsys.readouterr().err


def test_the_command_fails_where_a_way_differs(monkeypatch) -> None:
    monkeypatch.setattr(command, "make_plan", lambda *_: small_plan(contexts=(32,)))
    monkeypatch.setitem(ways_module.BACKEND, "packed, dense mask", None)
    assert command.main(["--device", "cpu"]) == 1
