"""Name what is wrong with a training batch that was saved to a file.

FILE is .json, .npz, .safetensors or .pt (tensors only; a pickle is refused) with the usual fields:
input_ids, labels, attention_mask, position_ids, cu_seqlens, … A .json may hold options, too
(pad_token_id, eos_token_id, prompt_lengths, documents, loss_shifts, …).

example:
  python -m course_lib audit batch.json --eos 2 --pad 0
  python -m course_lib audit batch.safetensors --no-shift --json
  python -m course_lib audit --explain pad_target

exit code: 0 nothing found (notes do not count), 1 errors or warnings, 2 the file cannot be used
"""

from __future__ import annotations

import argparse
from dataclasses import fields

from course_lib.audit.batches import audit
from course_lib.audit.files import read_batch
from course_lib.audit.options import Options
from course_lib.audit.registry import explain

FLAGS = {
    "--pad": ("pad_token_id", int, "id of the pad token"),
    "--eos": ("eos_token_id", int, "id of the EOS token"),
    "--vocab": ("vocab_size", int, "number of ids of the model"),
    "--ignore": ("ignore_index", int, "label that the loss ignores (default -100)"),
    "--boundary": ("boundary", str, "A or B, if that was decided"),
    "--window": ("window", int, "sliding window of the attention layers"),
    "--attention": ("attn_implementation", str, "eager, sdpa, flash_attention_2"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="the batch")
    parser.add_argument("--no-shift", action="store_true", help="labels are shifted already")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--explain", metavar="CODE", help="say what a code means, and stop")
    for flag, (name, kind, said) in FLAGS.items():
        parser.add_argument(flag, dest=name, type=kind, help=said)


def run(given: argparse.Namespace) -> int:
    """Print the report and return the exit code."""
    if given.explain:
        print(explain(given.explain))
        return 0
    if not given.file:
        raise ValueError("give the FILE that holds the batch, or --explain CODE")
    batch = dict(read_batch(given.file))
    options = {f.name: batch.pop(f.name) for f in fields(Options) if f.name in batch}
    said = {name: getattr(given, name) for name, _, _ in FLAGS.values()}
    options |= {name: value for name, value in said.items() if value is not None}
    if given.no_shift:
        options["loss_shifts"] = False
    if not batch:
        raise ValueError(f"{given.file} has no field of a batch, such as input_ids or labels.")
    report = audit(batch, **options)
    print(report.to_json(indent=2) if given.json else report)
    return 1 if report.of("error") or report.of("warn") else 0
