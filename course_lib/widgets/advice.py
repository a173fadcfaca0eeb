"""What the calculator of `calculator.py` says: fields, names of the ways, and sentences.

A group is a list of (a, b, sentence): the first sentence whose value a is at most its value b is
said, and an empty one is not. No threshold stands here: numbers are compared with numbers of the
same documents. In a sentence `{a}` is a number, `{a/b}` a ratio and `{a%b}` a share.
"""

from __future__ import annotations

LONGEST = 999_999_999

COMMA = (
    "“{one}” can be one length or several. Write {plain} if it is one; put a space behind each "
    "comma if it separates lengths."
)
"""Said where a comma stands between digits as between thousands."""

FIELDS = (
    ("capacity", "Slots of a row, and fixed length", 2048, 131_072),
    ("batch_size", "Documents padded together", 8, 1_024),
    ("multiple_of", "Padded to a multiple of", 1, 4_096),
)
"""Key, label, start and largest value of each number field."""

WAYS = (
    ("fixed", "padding, fixed length", "one document a row"),
    ("batch", "padding, longest of batch", "batches in the order given"),
    ("sorted", "padding, sorted by length", "longest first, then batches"),
    ("next_fit", "packing, next fit", "in the order given"),
    ("first_fit", "packing, first fit", "in the order given"),
    ("first_fit_decreasing", "packing, first fit decreasing", "longest first"),
    ("best_fit_decreasing", "packing, best fit decreasing", "longest first"),
)

PAPER = (
    "{documents} documents, {entered} tokens; rows of {capacity} slots,",
    "batches of {batch_size}, padded to a multiple of {multiple_of}. pairs ×: full",
    "squares of the rows / squares of the documents.",
)
"""The lines above the table on paper."""

_BEST = "best_fit_decreasing"

GROUPS = (
    (  # nothing else counts before this is settled
        ("cut_documents", "zero", ""),
        ("zero", "zero",
         "Longer than {capacity} slots: {cut_documents} of {documents} documents. Settle that "
         "first: split them, or make the rows longer. All that follows cuts them: {cut_tokens} of "
         "the {entered} tokens are lost, and {tokens} are counted."),
    ),
    (  # the verdict; what follows are its reasons
        ("batch_slots", f"{_BEST}_slots",
         "Pad: packing saves no slot over padding to the longest of each batch."),
        ("sorted_slots", f"{_BEST}_slots",
         "Sort by length and pad: packing saves no slot over sorted batches."),
        ("zero", "zero",
         f"Packing would hold these tokens in fewer slots: {{{_BEST}_slots}} where sorted padding "
         "has {sorted_slots} and padding in your order {batch_slots}. Whether the difference pays "
         "for the code is what the reasons below weigh."),
    ),
    (
        ("zero", "zero",
         "Padding wastes {fixed_waste%fixed_slots} of the slots at a fixed length, "
         "{batch_waste%batch_slots} to the longest of each batch, {sorted_waste%sorted_slots} in "
         f"sorted batches; best fit decreasing wastes {{{_BEST}_waste%{_BEST}_slots}}."),
    ),
    (
        ("zero", "zero",
         "Where a step costs the same for each slot, the best packing is at most "
         f"{{fixed_slots/{_BEST}_slots}} times as fast as a fixed length, "
         f"{{batch_slots/{_BEST}_slots}} times as fast as batches in your order and "
         f"{{sorted_slots/{_BEST}_slots}} times as fast as sorted ones. Less than 1 means slower."),
    ),
    (
        (f"{_BEST}_dense", "batch_dense",
         "Attention over full rows costs packing "
         f"{{{_BEST}_dense/within}} times the pairs inside documents and padded batches "
         "{batch_dense/within} times: packing does not make it dearer, even behind a dense mask."),
        ("zero", "zero",
         "Attention over full rows costs packing "
         f"{{{_BEST}_dense/within}} times the pairs inside documents and padded batches "
         "{batch_dense/within} times: behind a dense mask packing makes attention dearer. It needs "
         "a call that reads the boundaries."),
    ),
    (
        ("next_fit_rows", f"{_BEST}_rows", ""),
        ("zero", "zero",
         "The packer matters: next fit needs {next_fit_rows} rows, best fit decreasing "
         f"{{{_BEST}_rows}}; no packing of whole documents needs fewer than {{bound}}."),
    ),
    (
        ("zero", "zero",
         "No length tells whether this is a first run, whether your document mask and positions "
         "are tested, and how fast your kernels are."),
    ),
)  # fmt: skip
