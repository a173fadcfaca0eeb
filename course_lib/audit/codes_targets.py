"""Codes on targets: the shift, padding, ends of documents, completions, ids, truncation."""

from __future__ import annotations

# code, severity, chapter, title, explanation, way out
ENTRIES = (
    (
        "double_shift", "error", "shift",
        "targets are two tokens ahead",
        "The labels are shifted once before the loss and once more inside it, so each position "
        "learns the token after the next. On predictable text the loss still falls.",
        "shift in one place: leave the labels a copy of the inputs if the loss shifts, or give "
        "shifted labels to a loss that does not",
    ),
    (
        "missing_shift", "error", "shift",
        "each position is scored on its own token",
        "Nobody shifts: the target of a position is the token that it reads. The loss falls to "
        "zero and the model learns to copy. The number of targets does not show it.",
        "move the labels one to the left, or use a loss that shifts",
    ),
    (
        "wrong_shift", "error", "shift",
        "targets are off by a constant number of tokens",
        "The targets follow the inputs at a distance that is neither 1 (right), 0 (missing shift) "
        "nor 2 (double shift).",
        "build labels as a copy of input_ids and let the loss shift once",
    ),
    (
        "label_mismatch", "error", "shift",
        "a target is not the next token of its row",
        "A label differs from the token that it labels. Either labels and inputs come from "
        "different rows, or something wrote into one of them.",
        "rebuild labels from the same input_ids that the model reads",
    ),
    (
        "separator_used_as_target", "error", "boundary",
        "a separator stands in the labels but not in the ids",
        "At a document boundary the label is a value that the input does not hold there. The end "
        "of one document is trained to predict a token that never follows it.",
        "use -100 between documents (separator_id=-100), or put the separator into the inputs too",
    ),
    (
        "pad_target", "error", "padding",
        "padding is trained on",
        "Slots that hold padding are targets. The model learns to write padding, and the mean "
        "moves with the amount of padding in the batch.",
        "set labels to -100 wherever attention_mask is 0",
    ),
    (
        "target_predicted_from_pad", "error", "side",
        "a real token is predicted from padding",
        "Behind left padding the first real token has only padding before it, yet it is scored. "
        "Masking the pad's own label changes nothing: the first slot is never a target.",
        "set the label of the first real token of a left-padded row to -100",
    ),
    (
        "positions_count_padding", "warn", "pad_positions",
        "positions count the padding",
        "The first real token of a left-padded row does not have position 0. With learned "
        "positions the same text then gives different logits for different padding.",
        "count positions over real tokens: (attention_mask.cumsum(-1) - 1).clamp(min=0)",
    ),
    (
        "left_padding_unmasked", "error", "side",
        "left padding without an attention mask",
        "Padding on the right is harmless under a causal mask, on the left it is not: every real "
        "token sees it.",
        "pass attention_mask, or pad on the right",
    ),
    (
        "mask_hole", "warn", "padding",
        "attention_mask has a hole inside a row",
        "Slots between real tokens are marked as padding. Their tokens are hidden from later ones "
        "and positions counted from the mask skip them.",
        "pad at one end only; mask targets in labels, not in attention_mask",
    ),
    (
        "real_token_masked_as_pad", "warn", "by_id",
        "a real token was masked because its id is the pad id",
        "The label of a real token inside scored text is -100 and its id equals pad_token_id: the "
        "mask was made by id, not by length.",
        "mask by length: labels[attention_mask == 0] = -100",
    ),
    (
        "eos_never_target", "error", "end",
        "the end of a document is never a target",
        "A real EOS that closes scored text has the label -100, mostly because pad and EOS share "
        "an id and labels were masked by id. The model does not learn to stop.",
        "mask padding by length, or give the tokenizer a pad token of its own",
    ),
    (
        "eos_missing", "error", "end",
        "no document ends with EOS",
        "No real token of the batch is EOS. If the id is also the pad id, it may seem to be there: "
        "all of them are padding. Truncated documents and rows cut from a stream lose their ends, "
        "too.",
        "append EOS to every document before padding, and look at what max_length cuts off",
    ),
    (
        "boundary_target", "error", "boundary",
        "a document's end is trained to predict the next document",
        "Convention A keeps the first token of the next document as a target, B masks it. Both "
        "are in use; under isolated documents the target cannot be known, and labels made by "
        "rolling a flat row do it without asking, even from the last token to the first.",
        "mask the target at each boundary (convention B), or declare boundary='A'",
    ),
    (
        "boundary_target_missing", "error", "boundary",
        "convention A was declared, and first tokens of documents are no targets",
        "Convention A keeps the first token of the next document as a target. Here it is masked "
        "while the token behind it is scored: convention B. Prompts of one token look the same, "
        "unless prompt_lengths or another option says that they are prompts.",
        "keep the label of each first token, or declare boundary='B'",
    ),
    (
        "mask_offset", "error", "reasons",
        "the prompt mask is shifted against the prompt",
        "Part of the prompt is trained on, or the first tokens of the answer are not: the mask was "
        "counted from the wrong place (a header, padding on the left).",
        "count from the first real token of the document, header included",
    ),
    (
        "prompt_target", "error", "reasons",
        "the prompt is trained on",
        "Tokens that were declared to be prompt are targets.",
        "set labels of prompt tokens to -100, or declare no prompt",
    ),
    (
        "loss_mask_off_by_one", "error", "reasons",
        "the loss mask is off by one against shifted labels",
        "With labels that are already shifted, the position that predicts the first answer token "
        "stands one slot before it. A mask made for unshifted labels misses that token.",
        "shift the mask together with the labels",
    ),
    (
        "span_too_long", "error", "reasons",
        "scored text runs on behind the end of an answer",
        "A response ended, but targets go on: into role headers, tool output or the next sample's "
        "system prompt.",
        "end a response at its EOS as well as at the next role marker",
    ),
    (
        "span_too_short", "error", "reasons",
        "the end of an answer is not trained on",
        "The last tokens of a response are masked although they belong to it.",
        "end the mask behind the last token of the answer, EOS included",
    ),
    (
        "span_missing", "warn", "reasons",
        "a whole answer is not trained on",
        "One of several responses of a row has no target. Training on the last turn only is a "
        "choice; a marker that was not recognised is a fault.",
        "check the template against the token ids, or declare only the spans that are meant",
    ),
    (
        "row_without_targets", "error", "reasons",
        "a row has no target",
        "Every label of the row is -100. It costs compute, teaches nothing, and a mean over this "
        "row alone is 0/0. Often the prompt filled the row, or a span was lost in truncation.",
        "drop such rows, cut the prompt instead of the answer, and mark what is left of a span",
    ),
    (
        "row_too_short", "info", "reasons",
        "a row is too short to have a target",
        "With a single token in each document there is nothing to predict.",
        "leave documents of one token out, or append EOS",
    ),
    (
        "ignore_index_mismatch", "error", "reasons",
        "labels are ignored with another value than the loss's",
        "A label is neither an id nor the value that the loss ignores. The loss raises an index "
        "error, or on some devices reads memory that is not its own.",
        "use one value, -100, in data and loss",
    ),
    (
        "ignore_index_as_input", "error", "reasons",
        "a negative id is read by the model",
        "Model inputs hold a negative number, mostly -100 from labels that were shifted into "
        "decoder inputs. The embedding table has no such row.",
        "replace negative ids by the pad id before they reach the model",
    ),
    (
        "id_out_of_range", "error", "reasons",
        "an id is not in the vocabulary",
        "An input id or a label is vocab_size or more: tokens were added without resizing.",
        "resize the embedding table, or pass the right vocab_size",
    ),
    (
        "float_ids", "error", "padding",
        "ids are stored as floating-point numbers",
        "Embedding tables refuse floats, and half precision rounds large ids to others.",
        "keep ids as int64 from the tokenizer on",
    ),
    (
        "id_overflow", "error", "reasons",
        "an id does not fit in its storage type",
        "The width was chosen from the base vocabulary; an added token is larger and wraps round "
        "to another, valid id.",
        "choose the type by the largest id that the tokenizer can give",
    ),
    (
        "empty_completion", "error", "overlong",
        "truncation left no completion",
        "A completion has no token left, so its mean is 0/0. A negative slice bound cuts from the "
        "wrong end without an error.",
        "cut the prompt first, clamp bounds at 0, and drop examples without a completion",
    ),
    (
        "over_length", "error", "overlong",
        "prompt and completion exceed max_length",
        "What was kept is longer than the row that it should fit in.",
        "cut each completion to max_length minus the length of the prompt",
    ),
    (
        "not_a_prefix", "error", "overlong",
        "what was kept is not the beginning of the completion",
        "Truncation should keep the first tokens of a completion; other tokens were kept.",
        "cut completions at their end, by a bound that is not negative",
    ),
    (
        "completion_cut", "info", "overlong",
        "a completion lost its end",
        "The completion was cut, so its end (and its EOS) is no target.",
        "raise max_length, or cut the prompt instead",
    ),
)
