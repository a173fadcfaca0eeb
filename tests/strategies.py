"""What hypothesis draws for several rooms: documents of the toy vocabulary."""

from __future__ import annotations

from hypothesis import strategies as st

from course_lib.vocabulary import EOS

LETTERS = st.integers(1, 3)


def documents(
    min_documents: int = 1, max_documents: int = 6, max_length: int = 8, min_length: int = 1
) -> st.SearchStrategy[list[list[int]]]:
    """Lists of documents over a, b, c."""
    one = st.lists(LETTERS, min_size=min_length, max_size=max_length)
    return st.lists(one, min_size=min_documents, max_size=max_documents)


with_any_id = st.lists(
    st.lists(st.integers(0, 6), min_size=1, max_size=8), min_size=1, max_size=6
)
"""Documents that may hold any id, the pad id and EOS among them."""

eos_ids = st.sampled_from([None, EOS])
