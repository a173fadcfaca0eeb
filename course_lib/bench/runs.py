"""Run a plan: check every way against separate documents, then time all of them in turn.

A step is what a training loop does: make the mask or the tables, forward, loss, backward. Ways
take turns, so that a machine that slows down slows all of them. Two steps of each come first, to
warm up: one alone, one while its memory is counted.
"""

from __future__ import annotations

import platform
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_lib.attention import why_not
from course_lib.bench.clock import CLOCK, milliseconds, peak_bytes
from course_lib.bench.equal import Check, check_way
from course_lib.bench.plan import Plan, queries_like
from course_lib.bench.record import FIRST, Measurement, Report
from course_lib.bench.ways import BACKEND, WAYS, Feed, draw_documents, make_feed
from course_lib.decoder import Decoder
from course_lib.loss import token_losses


def measure(plan: Plan, say: Callable[[str], None] = lambda line: None) -> Report:
    """Check and time every way of `plan`; `say` gets a line of progress now and then.

    A way that fails on this machine is left out from there on, with the error as its reason. Where
    `padded` fails for want of memory, the run ends with the contexts before.
    """
    model = build_model(plan)
    left_out, notes = dict(plan.left_out), list(plan.notes)
    say("checking every way against separate documents")
    checks = check_all(plan, model, left_out)
    measured: list[Measurement] = []
    for context in plan.contexts:
        say(f"timing rows of {context} slots")
        try:
            measured += _at(plan, model, context, left_out)
        except torch.OutOfMemoryError:
            if not measured:
                raise
            notes.append(f"rows of {context:,} slots, {FIRST}, do not fit: stopped before them.")
            break
    return Report(
        machine=machine(plan.device),
        device=plan.device,
        dtype=str(plan.dtype).removeprefix("torch."),
        clock=f"{CLOCK[plan.device]}, median of {plan.rounds} rounds"
        + (f", {torch.get_num_threads()} thread(s)" if plan.device == "cpu" else ""),
        versions={
            "Python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
        },
        parameters=model.num_parameters,
        measurements=tuple(measured),
        checks=tuple(checks),
        left_out=left_out,
        notes=tuple(notes),
        sizes=vars(plan.model),
    )


def build_model(plan: Plan) -> Decoder:
    """Return the decoder of `plan` on its device, in its dtype."""
    return Decoder(**vars(plan.model), positions="rope").to(plan.device, plan.dtype)


def check_all(plan: Plan, model: Decoder, left_out: dict[str, str] | None = None) -> list[Check]:
    """Compare every way that can run forward with separate documents; failures go to `left_out`.

    FlexAttention on a CPU has no backward pass: its gradient stays unchecked.
    """
    left_out = {} if left_out is None else left_out
    context = plan.contexts[0]
    documents = draw_documents(plan.documents, context, plan.model.vocab_size)
    checks = []
    for way in WAYS:
        backward = way not in plan.left_out
        forward_only = queries_like(plan, requires_grad=False)
        if not backward and why_not(BACKEND[way], forward_only):
            continue
        try:
            feed = make_feed(way, documents, context, plan.device)
            checks.append(check_way(model, feed, documents, backward=backward))
        except Exception as error:  # whatever a compiler or a driver may raise
            _give_up(way, error, left_out)
    return checks


def training_step(model: Decoder, feed: Feed) -> Callable[[], Tensor]:
    """Return one step, forward and backward, as a function that returns the loss."""
    targets = feed.batch.num_targets
    positions = feed.batch.model_position_ids

    def step() -> Tensor:
        model.zero_grad(set_to_none=True)
        logits = model(feed.batch.input_ids, mask=feed.mask, position_ids=positions)
        loss = token_losses(logits, feed.batch.labels).sum() / targets
        loss.backward()
        return loss.detach()

    return step


def machine(device: str) -> str:
    """Return what the measurement ran on, without the name of the computer."""
    if device == "cuda":
        card = torch.cuda.get_device_properties(0)
        return f"{card.name}, {card.major}.{card.minor}, {card.total_memory / 2**30:.0f} GiB"
    return f"{platform.system()} {platform.machine()}, one core"


def _at(plan: Plan, model: Decoder, context: int, left_out: dict[str, str]) -> list[Measurement]:
    documents = draw_documents(plan.documents, context, plan.model.vocab_size)
    feeds = {w: make_feed(w, documents, context, plan.device) for w in plan.ways}
    steps, losses, peaks = {}, {}, {}
    for way, feed in feeds.items():
        if way in left_out:
            continue
        steps[way] = training_step(model, feed)
        try:
            losses[way] = float(steps[way]())
            peaks[way] = peak_bytes(steps[way], plan.device) / 2**20
        except Exception as error:  # whatever a compiler or a driver may raise
            del steps[way]
            _give_up(way, error, left_out, f" with rows of {context:,} slots")
    times: dict[str, list[float]] = {way: [] for way in steps}
    for _ in range(plan.rounds):
        for way, step in steps.items():
            times[way].append(milliseconds(step, plan.device))
    real = sum(map(len, documents))
    return [
        Measurement(
            way=way,
            context=context,
            real_tokens=real,
            slots=feeds[way].batch.num_slots,
            area=feeds[way].area,
            ms=tuple(times[way]),
            peak_mib=peaks[way],
            loss=losses[way],
        )
        for way in steps
    ]


def _give_up(way: str, error: Exception, left_out: dict[str, str], where: str = "") -> None:
    """Leave a way out; without the one that all are compared with there is nothing to report."""
    if way == FIRST:
        raise error
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    left_out[way] = f"failed here{where}: {first}"
