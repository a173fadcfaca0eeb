"""Every code that an audit can give: severity, title, explanation, way out, chapter.

The entries stand in `codes_*.py`, causes before effects: among equally grave findings a report
names the earlier code first. The rules that find these things are in `rules_*.py` and in the
auditor of each subject. The severity is the usual one; a rule may lower it where a choice was
declared.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from course_lib.audit import codes_numbers, codes_rows, codes_targets

_SHIFT, _PADDING = "book/02_shift.html#", "book/03_padding.html#"
_TARGETS, _PACKING = "book/04_targets.html#", "book/05_packing.html#"
_DENOMINATORS, _MODES = "book/06_denominators.html#", "book/07_failure_modes.html#"

CHAPTERS = {
    "shift": _SHIFT + "break-it-two-shifts-or-none",
    "padding": _PADDING + "break-it-padding-in-the-loss",
    "by_id": _PADDING + "break-it-again-padding-found-by-id",
    "side": _PADDING + "vary-one-thing-the-side",
    "reasons": _TARGETS + "twelve-slots-one-reason-each",
    "end": _TARGETS + "break-it-an-end-that-is-never-trained",
    "boundary": _TARGETS + "vary-one-thing-the-boundary",
    "mask": _PACKING + "break-it-the-forgotten-document-mask",
    "spellings": _PACKING + "one-boundary-four-spellings",
    "overlong": _PACKING + "documents-that-do-not-fit",
    "strategy": _PACKING + "vary-one-thing-the-strategy",
    "pair": _DENOMINATORS + "a-loss-is-a-pair-until-the-last-moment",
    "count": _DENOMINATORS + "break-it-a-count-of-the-wrong-labels",
    "future": _MODES + "the-future-leaks",
    "pad_keys": _MODES + "padding-keys-are-visible",
    "pad_positions": _MODES + "positions-count-the-padding",
    "empty_row": _MODES + "a-row-that-may-attend-to-nothing",
}
"""Where each thing is explained; a test holds the anchors to the headings of the book."""

NEEDS = {
    "labels": "labels (or shift_labels, or effective_targets)",
    "input_ids": "input_ids",
    "padding": "attention_mask (or another source that says which slots are padding)",
    "eos": "eos_token_id",
    "pad": "pad_token_id",
    "boundaries": "document boundaries (position_ids, cu_seqlens, seq_lengths, document_ids, "
    "documents)",
    "ends": "document boundaries (position_ids, cu_seqlens, seq_lengths, document_ids, documents) "
    "or eos_token_id",
    "attention": "attn_implementation: only a varlen kernel (flash_attention_2) reads cu_seqlens "
    "and the like, sdpa and eager do not",
    "position_ids": "position_ids",
    "spans": "where completions are (prompt_lengths, assistant_masks, completion_spans, role_ids "
    "or response_template)",
    "vocab_size": "vocab_size",
    "reported": "the number that was reported (denominator, or loss_sum and reported)",
    "documents": "documents",
    "packs": "packs",
    "prompts": "prompt_lengths",
    "rows": "tokens used in each row (row_tokens) and what was reported",
    "window": "window",
    "steps": "planned_steps or displayed_steps",
    "ranks": "seen_by_rank",
}


@dataclass(frozen=True)
class Code:
    """An entry of the registry."""

    code: str
    severity: str
    title: str
    explanation: str
    way_out: str
    chapter: str

    def __str__(self) -> str:
        body = textwrap.fill(self.explanation, 80)
        way_out = textwrap.fill(f"Way out: {self.way_out}", 80)
        head = textwrap.fill(f"{self.code} ({self.severity}): {self.title}", 80)
        return f"{head}\n{body}\n{way_out}\nSee {self.chapter}"


CODES: dict[str, Code] = {
    code: Code(code, severity, title, explanation, way_out, CHAPTERS[chapter])
    for table in (codes_targets.ENTRIES, codes_rows.ENTRIES, codes_numbers.ENTRIES)
    for code, severity, chapter, title, explanation, way_out in table
}
"""Every fault that the audit can name, by its stable code."""
