"""`audit_truncation`: a prompt, its completions, and what was kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from course_lib.audit.registry import finding, rule, run_rules
from course_lib.audit.report import Finding, Report


def audit_truncation(
    prompt: Sequence[int],
    completions: Mapping[str, Sequence[int]],
    kept: Mapping[str, Sequence[int]],
    max_length: int | None = None,
    *,
    prompt_kept: Sequence[int] | None = None,
) -> Report:
    """Return what truncation did to the completions of one prompt.

    `completions` and `kept` map a name ("chosen", "rejected", "completion") to token ids.

    >>> audit_truncation([1], {"completion": [2, 3]}, {"completion": []}).codes
    ['empty_completion']
    """
    run = Truncated(
        len(prompt if prompt_kept is None else prompt_kept),
        {name: list(ids) for name, ids in completions.items()},
        {name: list(ids) for name, ids in kept.items()},
        max_length,
    )
    return run_rules("truncation", run, Report(f"{len(run.kept)} completions"))


@dataclass
class Truncated:
    """Lengths and tokens before and after."""

    prompt: int
    before: dict[str, list[int]]
    kept: dict[str, list[int]]
    max_length: int | None

    def has(self, need: str) -> bool:
        """Every rule here has what it needs."""
        return True


@rule("empty_completion", "not_a_prefix", "over_length", "completion_cut", on="truncation")
def kept_completions(run: Truncated) -> Iterator[Finding]:
    """Something is left, from the beginning, and it fits."""
    room = None if run.max_length is None else max(run.max_length - run.prompt, 0)
    for name, kept in run.kept.items():
        whole = run.before.get(name, kept)
        right = whole if room is None else whole[:room]
        if whole and not kept:
            said = f"{name} has 0 tokens of {len(whole)}: 0/0 in a mean over its tokens."
            yield finding("empty_completion", name, said, expected=right, found=kept)
        elif kept != whole[: len(kept)]:
            said = f"{name} keeps tokens that are not the first {len(kept)} of the completion."
            yield finding("not_a_prefix", name, said, expected=whole[: len(kept)], found=kept)
        elif room is not None and len(kept) > room:
            said = f"{run.prompt} + {len(kept)} tokens of {name} exceed max_length."
            yield finding("over_length", name, said, expected=right, found=kept)
        elif len(kept) < len(whole):
            said = f"{name} lost its last {len(whole) - len(kept)} tokens."
            yield finding("completion_cut", name, said, expected=whole, found=kept)
