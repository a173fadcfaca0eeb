"""The parts of `tools.bench`: collating, masks, the decoder's step, the loss, audit, import, pages.

Each part takes `quick` and returns comparisons; it asserts first that both sides give the same.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F

from course_lib import (
    FlatDocuments,
    TinyDecoder,
    document_block_mask,
    document_ids_from_lengths,
    head_loss,
    pack_lengths,
    position_ids_from_document_ids,
    token_losses,
)
from course_lib.attention import DocumentAttention
from course_lib.bench import Comparison
from tools.bench_packing import draw

CAPACITY = 2048
Call = Callable[[], object]


def beside(
    what: str, theirs_is: str, ours: Call, theirs: Call, *, pairs: int = 7,
    goal: float | None = None, sense: str = "faster", repeat: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> Comparison:  # fmt: skip
    """Time both in turn, `repeat` calls at a time; the first pair warms up."""
    times: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs + 1):
        for call, kept in zip((theirs, ours), times, strict=True):
            start = clock()
            for _ in range(repeat):
                call()
            if pair:
                kept.append((clock() - start) / repeat * 1e3)
    other, mine = times
    ratios = [t / o if sense == "faster" else o / t for t, o in zip(other, mine, strict=True)]
    return Comparison(
        what, theirs_is, statistics.median(mine), statistics.median(other),
        statistics.median(ratios), goal, sense,
    )  # fmt: skip


def collating(quick: bool) -> list[Comparison]:
    """32 documents into one row without padding."""
    from transformers import DataCollatorWithFlattening

    lengths = np.random.default_rng(3).lognormal(np.log(512) - 0.18, 0.6, 32)
    flat = _flat(np.clip(lengths, 1, CAPACITY).astype(int))
    numbers = np.arange(32)
    collator = DataCollatorWithFlattening(return_flash_attn_kwargs=True)
    lists = [{"input_ids": d.tolist()} for d in flat._views(numbers)]
    ours, theirs = flat.flatten(numbers), collator(lists)
    for name, value in ours.items():
        assert torch.equal(torch.as_tensor(value), torch.as_tensor(theirs[name])), name
    tokens = int(flat.lengths[:32].sum())
    return [
        beside(f"collate 32 documents, {tokens:,} tokens", "transformers flattening",
               lambda: flat.flatten(numbers), lambda: collator(lists), pairs=11,
               goal=25, repeat=10),
    ]  # fmt: skip


def streaming(quick: bool) -> list[Comparison]:
    """An epoch of 10,000 documents: pack, then every batch of 8 rows."""
    from datasets import Dataset, disable_progress_bars
    from trl import pack_dataset
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    disable_progress_bars()
    flat = _corpus(10_000)
    data = Dataset.from_dict({"input_ids": [d.tolist() for d in flat._views(np.arange(len(flat)))]})
    collator = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)

    def ours() -> int:
        packing = pack_lengths(flat.lengths, CAPACITY)
        return sum(batch.num_slots for batch in flat.batches(packing, 8))

    def trl() -> int:
        rows = pack_dataset(data, CAPACITY, "bfd", {"load_from_cache_file": False})
        return sum(
            collator(list(_rows(rows, at)))["input_ids"].numel() for at in range(0, len(rows), 8)
        )

    whole = list(flat.batches(pack_lengths(flat.lengths, CAPACITY), 10**9))[0]
    arrays = [whole.input_ids, whole.labels, whole.position_ids, whole.document_ids]

    def at_once() -> list[torch.Tensor]:
        return [array.clone() for array in arrays]

    def by_batch() -> None:
        for at in range(0, len(whole), 8):
            for array in arrays:
                array[at : at + 8].clone()

    what = "an epoch of 10,000 documents, packed and batched"
    return [
        beside(what, "TRL bfd, padding-free", ours, trl, pairs=3 if quick else 5, goal=40),
        beside(what, "copying four arrays", ours, at_once, pairs=9, goal=2, sense="share"),
        beside(what, "the same batch by batch, memory reused", ours, by_batch, pairs=9,
               sense="share"),
    ]  # fmt: skip


def masks(quick: bool) -> list[Comparison]:
    """The dense document mask of one row."""
    from transformers import LlamaConfig
    from transformers.masking_utils import create_causal_mask

    found = []
    config = LlamaConfig(attn_implementation="sdpa", hidden_size=8, num_attention_heads=1)
    for size in (2048, 4096):
        ids = _row(size)
        positions = position_ids_from_document_ids(ids).clamp(min=0)
        embeds = torch.zeros(1, size, 8)

        def ours(ids: torch.Tensor = ids) -> torch.Tensor:
            return DocumentAttention(ids).mask

        def theirs(embeds: torch.Tensor = embeds, at: torch.Tensor = positions) -> torch.Tensor:
            return create_causal_mask(config, embeds, None, None, at)

        def written(size: int = size) -> torch.Tensor:
            return torch.ones(1, size, size, dtype=torch.bool)

        assert torch.equal(ours(), theirs()[:, 0]), "the masks differ"
        what = f"dense document mask, T = {size:,}"
        found += [
            beside(what, "writing T² bytes", ours, written, goal=2, sense="share", repeat=10),
            beside(what, "transformers", ours, theirs, goal=10, repeat=10),
        ]
    return found


def block_tables(quick: bool) -> list[Comparison]:
    """FlexAttention's tables from boundaries."""
    from torch.nn.attention.flex_attention import create_block_mask

    found = []
    goals = {2048: 10, 4096: 30, 8192: 100, 16384: 300}
    for size in (2048, 4096, 8192) if quick else goals:
        ids = _row(size)

        def rule(b, h, q, k, ids=ids):
            return (q >= k) & (ids[b, q] == ids[b, k]) & (ids[b, q] >= 0)

        def ours(ids: torch.Tensor = ids):
            return document_block_mask(ids)

        def theirs(rule=rule, size: int = size):
            return create_block_mask(rule, 1, None, size, size, device="cpu")

        assert torch.equal(ours().kv_num_blocks, theirs().kv_num_blocks)
        found.append(
            beside(f"BlockMask, T = {size:,}", "create_block_mask", ours, theirs,
                   pairs=5 if size < 8192 else 3, repeat=3, goal=goals[size])
        )  # fmt: skip
    return found


def decoder_step(quick: bool) -> list[Comparison]:
    """A training step of the 423-parameter decoder, four rows of 16."""
    ids = torch.randint(0, 7, (4, 16), generator=torch.Generator().manual_seed(0))

    def loop(fused: bool) -> Call:
        model = TinyDecoder()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, fused=fused or None)

        def step() -> None:
            optimizer.zero_grad(set_to_none=True)
            token_losses(model(ids), ids).mean().backward()
            optimizer.step()

        return step

    return [
        beside("a step of the 423-parameter decoder, fused AdamW", "default AdamW", loop(True),
               loop(False), goal=1.3, repeat=60),
    ]  # fmt: skip


def losses(quick: bool) -> list[Comparison]:
    """Labels moved instead of logits, V = 8,192; forward and backward."""
    logits = torch.randn(2, 512, 8192, generator=torch.Generator().manual_seed(0))
    logits.requires_grad_()
    labels = torch.randint(0, 8192, (2, 512))

    def ours() -> torch.Tensor:
        loss = token_losses(logits, labels).sum()
        loss.backward()
        return loss.detach()

    def sliced() -> torch.Tensor:
        moved = logits[:, :-1].contiguous().view(-1, 8192)
        loss = F.cross_entropy(moved, labels[:, 1:].reshape(-1), reduction="sum")
        loss.backward()
        return loss.detach()

    torch.testing.assert_close(ours(), sliced())
    return [beside("token losses, V = 8,192", "slicing the logits", ours, sliced)]


HEAD = """
import sys, torch, torch.nn.functional as F
from course_lib import head_loss
torch.manual_seed(0)
chunked, tokens, vocab, wide = sys.argv[1] == "chunked", int(sys.argv[2]), 50257, 64
hidden = torch.randn(1, tokens, wide, requires_grad=True)
weight = (torch.randn(vocab, wide) / 16).requires_grad_()
labels = torch.randint(0, vocab, (1, tokens))
hidden.grad, weight.grad = torch.zeros_like(hidden), torch.zeros_like(weight)  # neither's cost

def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))

open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here
before = status("VmRSS")
if chunked:
    loss = head_loss(hidden, weight, labels, chunk=96).total
else:
    moved = (hidden[:, :-1] @ weight.T).view(-1, vocab)
    loss = F.cross_entropy(moved, labels[:, 1:].reshape(-1), reduction="sum")
loss.backward()
print(loss.item(), status("VmHWM") - before)
"""


def head(quick: bool) -> list[Comparison]:
    """Head and loss in chunks, V = 50,257, forward and backward: time, and peak memory on top."""
    tokens, vocab, wide = 1024 if quick else 2048, 50257, 64
    torch.manual_seed(0)
    hidden = torch.randn(1, tokens, wide, requires_grad=True)
    weight = (torch.randn(vocab, wide) / 16).requires_grad_()
    labels = torch.randint(0, vocab, (1, tokens))

    def ours() -> torch.Tensor:
        hidden.grad = weight.grad = None
        loss = head_loss(hidden, weight, labels, chunk=96).total
        loss.backward()
        return loss.detach()

    def whole() -> torch.Tensor:
        hidden.grad = weight.grad = None
        moved = (hidden[:, :-1] @ weight.T).view(-1, vocab)
        loss = F.cross_entropy(moved, labels[:, 1:].reshape(-1), reduction="sum")
        loss.backward()
        return loss.detach()

    def peak(way: str) -> float:
        command = [sys.executable, "-c", HEAD, way, str(tokens)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(done.stdout.split()[1]) / 1024

    torch.testing.assert_close(ours(), whole().double(), rtol=1e-5, atol=0)
    what = f"head and loss in chunks, V = {vocab:,}, d = {wide}, {tokens:,} targets"
    mine, theirs = peak("chunked"), peak("whole")
    return [
        beside(what, "head, then cross_entropy", ours, whole, pairs=3 if quick else 5, goal=1.5),
        Comparison(f"{what}: peak memory", "head, then cross_entropy", mine, theirs,
                   mine / theirs, 0.1, "share", "MB"),
    ]  # fmt: skip


def auditing(quick: bool) -> list[Comparison]:
    """An audit of 8 × 2,048 tokens beside collating them."""
    from transformers import DataCollatorForSeq2Seq

    from course_lib.audit import speed

    class Pads:
        padding_side, pad_token_id = "right", 0

        def pad(self, rows, **_):
            return {n: torch.tensor([row[n] for row in rows]) for n in rows[0]}

    def collate(rows: list) -> dict:
        return DataCollatorForSeq2Seq(Pads())([r | {"labels": list(r["input_ids"])} for r in rows])

    found = speed.measure(collate)
    return [
        Comparison("audit 8 × 2,048 tokens (clock on the wall)", "transformers collating them",
                   found["audit"] * 1e3, found["collate"] * 1e3, found["ratio"], 1.0, "share"),
    ]  # fmt: skip


def importing(quick: bool) -> list[Comparison]:
    """`import course_lib` beside `import torch`, then with the first use of a tensor."""

    def start(code: str) -> Call:
        timed = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
        return lambda: float(
            subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True,
                           check=True).stdout
        )  # fmt: skip

    bare, torch_ = start("import course_lib"), start("import torch")
    used = start("import course_lib; course_lib.pad_documents([[1, 2]])")
    rounds = [(bare(), used(), torch_()) for _ in range(3 if quick else 5)]
    mine, after, theirs = (statistics.median(column) * 1e3 for column in zip(*rounds, strict=True))
    return [
        Comparison("import course_lib", "import torch", mine, theirs,
                   statistics.median(b / t for b, _, t in rounds), 0.10, "share"),
        Comparison("import course_lib and first use", "import torch", after, theirs,
                   statistics.median(u / t for _, u, t in rounds), 1.05, "share"),
    ]  # fmt: skip


def grading(quick: bool) -> list[Comparison]:
    """Grading six submissions of lab 1 one by one, beside executing the released notebook."""
    if quick:
        raise NotImplementedError("left out of the quick form: make bench-grading")
    from tools import bench_grading

    found = bench_grading.measure("labs/01_decoder", 6, 1)
    mine = found["seconds a submission, wall"]
    theirs = found["bare notebook with nbclient, seconds"]
    return [
        Comparison("grade a submission of lab 1 (clock on the wall)", "executing the notebook",
                   mine, theirs, mine / theirs, 1.5, "share", "s"),
    ]  # fmt: skip


def pages(quick: bool) -> list[Comparison]:
    """Our bytes on a page with an exercise (times: tools.bench_pages, which needs a browser)."""
    from course_lib.widgets import bundle, styles

    weight = len(bundle().encode()) + len(styles().encode())
    return [
        Comparison("script and style on a page with exercises", "60 kB", weight / 1e3, 60.0,
                   weight / 60e3, 1.0, "share", "kB"),
    ]  # fmt: skip


PARTS: dict[str, Callable[[bool], list[Comparison]]] = {
    part.__name__: part
    for part in (
        collating, streaming, masks, block_tables, decoder_step, losses, head, auditing,
        importing, grading, pages,
    )
}  # fmt: skip


def _corpus(documents: int) -> FlatDocuments:
    """Documents of lognormal lengths, mean 512, up to the capacity."""
    return _flat(draw("lognormal", documents))


def _flat(lengths: np.ndarray) -> FlatDocuments:
    rng = np.random.default_rng(1)
    return FlatDocuments(rng.integers(1, 1000, int(lengths.sum())), np.cumsum([0, *lengths]))


def _row(size: int) -> torch.Tensor:
    """Document ids [1, T] of one row filled with documents of mean 512."""
    lengths, left = [], size
    for n in draw("lognormal", size).tolist():
        lengths.append(min(n, left))
        left -= lengths[-1]
        if not left:
            break
    return document_ids_from_lengths(lengths, size)[None]


def _rows(rows, at: int) -> Iterator[dict]:
    part = rows[at : at + 8]
    names = list(part)
    for values in zip(*part.values(), strict=True):
        yield dict(zip(names, values, strict=True))
