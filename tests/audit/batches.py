"""Correct batches of every kind, for hypothesis: nothing here may be called an error."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from course_lib import Batch, pack_documents, pad_documents

VOCAB, EOS = 7, 4


def documents(longest: int = 8) -> st.SearchStrategy[list[list[int]]]:
    """A few documents of a small vocabulary: the pad's id and EOS occur inside them, too."""
    ids = st.integers(0, VOCAB - 1)
    return st.lists(st.lists(ids, min_size=1, max_size=longest), min_size=1, max_size=6)


@st.composite
def correct(draw: st.DrawFn) -> tuple[Batch, dict[str, Any]]:
    """A batch made right, and what is said beside it."""
    docs, pad = draw(documents()), draw(st.sampled_from([0, EOS]))
    prompts = [draw(st.integers(0, len(d) - 1)) for d in docs] if draw(st.booleans()) else None
    options: dict[str, Any] = {"pad_token_id": pad}
    if draw(st.booleans()):
        closed = draw(st.booleans())
        docs = [d + [EOS] for d in docs] if closed else docs
        options |= {"eos_token_id": EOS} if closed else {}
        side = draw(st.sampled_from(["right", "left"]))
        extra = draw(st.integers(0, 4))
        batch = pad_documents(
            docs, pad_id=pad, side=side, prompt_lengths=prompts,
            length=max(map(len, docs)) + extra,
        )  # fmt: skip
    else:
        eos = draw(st.sampled_from([None, EOS]))
        options |= {"eos_token_id": EOS} if eos is not None else {}
        boundary = draw(st.sampled_from("AB"))
        if boundary == "B" or 1 not in (prompts or ()):  # a prompt of one token looks like B
            options |= {"boundary": boundary}
        batch = pack_documents(
            docs, draw(st.integers(9, 20)), eos_id=eos, pad_id=pad,
            boundary=boundary, prompt_lengths=prompts,
            strategy=draw(st.sampled_from(["next_fit", "best_fit_decreasing", "concatenate"])),
        )  # fmt: skip
    return batch, options
