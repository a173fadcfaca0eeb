"""What a wrong cell means: (on but should be off, off but should be on), and the hints."""

from __future__ import annotations

STARTS = {
    "start": ("", "missing: a document begins here, behind the EOS of the one before or at slot 0"),
    "inside": ("inside a document: this token continues the one before it", ""),
    "pad": ("padding: it belongs to no document, so none begins here", ""),
}
STARTS_HINTS = [
    "A row always begins with a document.",
    "EOS ends a document. What stands behind it begins the next one, unless it is padding.",
]

POSITION = "count from 0 at the first token of this document"
POSITION_RUNS = (
    "this counts on from the document before; positions start again from 0 in each document"
)
POSITION_ONE = "one too many: the first token of a document has position 0, not 1"
POSITION_PAD = "padding: it belongs to no document; write -1 or leave it empty"
POSITION_ZERO = "padding: a 0 here reads as the beginning of one more document; write -1"
POSITION_HINTS = [
    "The position of a token is the number of tokens before it in its own document.",
    "Where you marked a beginning, the position is 0. From there it rises by 1.",
]

MASK = {
    "own": ("", "missing: the key is in the same document and not in the future"),
    "future": ("future: the key stands after the query", ""),
    "document": ("other document: the key belongs to a document that must not be seen", ""),
    "padding": ("padding: a padding slot neither attends nor is attended to here", ""),
}
MASK_HINTS = [
    "Causal first: a query sees itself and keys to its left, nothing to its right.",
    "Then documents: of those keys, only the ones of the query's own document remain.",
    "Each document is a triangle on the diagonal. A padding slot has no mark at all.",
]

TARGETS = {
    "targets": ("", "missing: the token before it predicts it, so it is scored"),
    "boundary_kept": (
        "",
        "missing: under A the first token of a later document is scored, predicted from the EOS "
        "before it",
    ),
    "row_starts": ("first slot of the row: no prediction stands before it", ""),
    "boundaries": (
        "boundary: under B the first token of a later document is not scored; nothing in its own "
        "document stands before it",
        "",
    ),
    "prompts": ("prompt: the model is given it and not asked for it", ""),
    "padding": ("padding: scoring it would teach the model to write padding", ""),
}
TARGETS_HINTS = [
    "A token is a target if a prediction stands one slot to its left. Which slot has none?",
    "EOS is a real token: the model has to learn when to stop. Padding is none.",
    "What remains is the first token of a later document. A keeps it, B does not.",
]

SUM = "add the losses of the targets that you marked, and only those"
SUM_ALL = "this adds every loss, also where no target is"
SUM_MEAN = "this is the mean already; the sum comes first"
COUNT = "count the targets that you marked"
COUNT_SLOTS = "this counts all slots; padding and the first slot are no targets"
COUNT_PREDICTIONS = "this counts every prediction, also those without a target"
COUNT_REAL = "this counts tokens by being real, not by being scored: look at the targets again"
COUNT_DOCUMENTS = "this counts documents; that would be the mean of a mean for each document"
MEAN_HINTS = [
    "The sum runs over the targets of the step before.",
    "The count is the number of targets, whatever the number of slots or documents.",
]
