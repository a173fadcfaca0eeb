"""Every code that an audit can give: severity, title, explanation, way out, chapter.

A table and nothing else; the rules that find these things are in `rules_*.py` and in the auditor of
each subject. The severity here is the usual one; a rule may lower it where a choice was declared.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

CHAPTERS = {
    "shift": "book/02_shift.html",
    "padding": "book/03_padding.html",
    "targets": "book/04_targets.html",
    "packing": "book/05_packing.html",
    "denominators": "book/06_denominators.html",
}

NEEDS = {
    "labels": "labels (or shift_labels, or effective_targets)",
    "input_ids": "input_ids",
    "padding": "attention_mask (or another source that says which slots are padding)",
    "eos": "eos_token_id",
    "pad": "pad_token_id",
    "boundaries": "document boundaries (position_ids, cu_seqlens, seq_lengths, document_ids, "
    "documents)",
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


CODES: dict[str, Code] = {}


def _enter(chapter: str, *entries: tuple[str, str, str, str, str]) -> None:
    for code, severity, title, explanation, way_out in entries:
        CODES[code] = Code(code, severity, title, explanation, way_out, CHAPTERS[chapter])


_enter(
    "shift",
    (
        "double_shift", "error", "targets are two tokens ahead",
        "The labels are shifted once before the loss and once more inside it, so each position "
        "learns the token after the next. On predictable text the loss still falls.",
        "shift in one place: leave the labels a copy of the inputs if the loss shifts, or give "
        "shifted labels to a loss that does not",
    ),
    (
        "missing_shift", "error", "each position is scored on its own token",
        "Nobody shifts: the target of a position is the token that it reads. The loss falls to "
        "zero and the model learns to copy. The number of targets does not show it.",
        "move the labels one to the left, or use a loss that shifts",
    ),
    (
        "wrong_shift", "error", "targets are off by a constant number of tokens",
        "The targets follow the inputs at a distance that is neither 1 (right), 0 (missing shift) "
        "nor 2 (double shift).",
        "build labels as a copy of input_ids and let the loss shift once",
    ),
    (
        "label_mismatch", "error", "a target is not the next token of its row",
        "A label differs from the token that it labels. Either labels and inputs come from "
        "different rows, or something wrote into one of them.",
        "rebuild labels from the same input_ids that the model reads",
    ),
    (
        "separator_used_as_target", "error", "a separator stands in the labels but not in the ids",
        "At a document boundary the label is a value that the input does not hold there. The end "
        "of one document is trained to predict a token that never follows it.",
        "use -100 between documents (separator_id=-100), or put the separator into the inputs too",
    ),
)
_enter(
    "padding",
    (
        "pad_target", "error", "padding is trained on",
        "Slots that hold padding are targets. The model learns to write padding, and the mean "
        "moves with the amount of padding in the batch.",
        "set labels to -100 wherever attention_mask is 0",
    ),
    (
        "target_predicted_from_pad", "error", "a real token is predicted from padding",
        "Behind left padding the first real token has only padding before it, yet it is scored. "
        "Masking the pad's own label changes nothing: the first slot is never a target.",
        "set the label of the first real token of a left-padded row to -100",
    ),
    (
        "positions_count_padding", "warn", "positions count the padding",
        "The first real token of a left-padded row does not have position 0. With learned "
        "positions the same text then gives different logits for different padding.",
        "count positions over real tokens: (attention_mask.cumsum(-1) - 1).clamp(min=0)",
    ),
    (
        "left_padding_unmasked", "error", "left padding without an attention mask",
        "Padding on the right is harmless under a causal mask, on the left it is not: every real "
        "token sees it.",
        "pass attention_mask, or pad on the right",
    ),
    (
        "mask_hole", "warn", "attention_mask has a hole inside a row",
        "Slots between real tokens are marked as padding. Their tokens are hidden from later ones "
        "and positions counted from the mask skip them.",
        "pad at one end only; mask targets in labels, not in attention_mask",
    ),
    (
        "real_token_masked_as_pad", "warn", "a real token was masked because its id is the pad id",
        "The label of a real token inside scored text is -100 and its id equals pad_token_id: the "
        "mask was made by id, not by length.",
        "mask by length: labels[attention_mask == 0] = -100",
    ),
)
_enter(
    "targets",
    (
        "eos_never_target", "error", "the end of a document is never a target",
        "A real EOS that closes scored text has the label -100, mostly because pad and EOS share "
        "an id and labels were masked by id. The model does not learn to stop.",
        "mask padding by length, or give the tokenizer a pad token of its own",
    ),
    (
        "eos_missing", "error", "no document ends with EOS",
        "No real token of the batch is EOS. If the id is also the pad id, it may seem to be there: "
        "all of them are padding.",
        "append EOS to every document before padding",
    ),
    (
        "boundary_target", "error", "a document's end is trained to predict the next document",
        "Convention A keeps the first token of the next document as a target, B masks it. Both "
        "are in use; under isolated documents the target cannot be known, and labels made by "
        "rolling a flat row do it without asking, even from the last token to the first.",
        "mask the target at each boundary (convention B), or declare boundary='A'",
    ),
    (
        "mask_offset", "error", "the prompt mask is shifted against the prompt",
        "Part of the prompt is trained on, or the first tokens of the answer are not: the mask was "
        "counted from the wrong place (a header, padding on the left).",
        "count from the first real token of the document, header included",
    ),
    (
        "prompt_target", "error", "the prompt is trained on",
        "Tokens that were declared to be prompt are targets.",
        "set labels of prompt tokens to -100, or declare no prompt",
    ),
    (
        "loss_mask_off_by_one", "error", "the loss mask is off by one against shifted labels",
        "With labels that are already shifted, the position that predicts the first answer token "
        "stands one slot before it. A mask made for unshifted labels misses that token.",
        "shift the mask together with the labels",
    ),
    (
        "span_too_long", "error", "scored text runs on behind the end of an answer",
        "A response ended, but targets go on: into role headers, tool output or the next sample's "
        "system prompt.",
        "end a response at its EOS as well as at the next role marker",
    ),
    (
        "span_too_short", "error", "the end of an answer is not trained on",
        "The last tokens of a response are masked although they belong to it.",
        "end the mask behind the last token of the answer, EOS included",
    ),
    (
        "span_missing", "warn", "a whole answer is not trained on",
        "One of several responses of a row has no target. Training on the last turn only is a "
        "choice; a marker that was not recognised is a fault.",
        "check the template against the token ids, or declare only the spans that are meant",
    ),
    (
        "row_without_targets", "error", "a row has no target",
        "Every label of the row is -100. It costs compute, teaches nothing, and a mean over this "
        "row alone is 0/0. Often the prompt filled the row, or a span was lost in truncation.",
        "drop such rows, cut the prompt instead of the answer, and mark what is left of a span",
    ),
    (
        "row_too_short", "info", "a row is too short to have a target",
        "With a single token in each document there is nothing to predict.",
        "leave documents of one token out, or append EOS",
    ),
    (
        "ignore_index_mismatch", "error", "labels are ignored with another value than the loss's",
        "A label is neither an id nor the value that the loss ignores. The loss raises an index "
        "error, or on some devices reads memory that is not its own.",
        "use one value, -100, in data and loss",
    ),
    (
        "ignore_index_as_input", "error", "a negative id is read by the model",
        "Model inputs hold a negative number, mostly -100 from labels that were shifted into "
        "decoder inputs. The embedding table has no such row.",
        "replace negative ids by the pad id before they reach the model",
    ),
    (
        "id_out_of_range", "error", "an id is not in the vocabulary",
        "An input id or a label is vocab_size or more: tokens were added without resizing.",
        "resize the embedding table, or pass the right vocab_size",
    ),
    (
        "float_ids", "error", "ids are stored as floating-point numbers",
        "Embedding tables refuse floats, and half precision rounds large ids to others.",
        "keep ids as int64 from the tokenizer on",
    ),
    (
        "id_overflow", "error", "an id does not fit in its storage type",
        "The width was chosen from the base vocabulary; an added token is larger and wraps round "
        "to another, valid id.",
        "choose the type by the largest id that the tokenizer can give",
    ),
    (
        "empty_completion", "error", "truncation left no completion",
        "A completion has no token left, so its mean is 0/0. A negative slice bound cuts from the "
        "wrong end without an error.",
        "cut the prompt first, clamp bounds at 0, and drop examples without a completion",
    ),
    (
        "over_length", "error", "prompt and completion exceed max_length",
        "What was kept is longer than the row that it should fit in.",
        "cut each completion to max_length minus the length of the prompt",
    ),
    (
        "not_a_prefix", "error", "what was kept is not the beginning of the completion",
        "Truncation should keep the first tokens of a completion; other tokens were kept.",
        "cut completions at their end, by a bound that is not negative",
    ),
    (
        "completion_cut", "info", "a completion lost its end",
        "The completion was cut, so its end (and its EOS) is no target.",
        "raise max_length, or cut the prompt instead",
    ),
)
_enter(
    "packing",
    (
        "no_document_mask", "warn", "documents share one causal row",
        "Several documents stand in a row and nothing given here keeps them apart. In pretraining "
        "this is a choice; it is a fault where isolation was promised. transformers reads "
        "boundaries from position_ids only if attention_mask is None and there is no cache.",
        "pass cu_seqlens or a document mask, or reset position_ids and leave attention_mask out",
    ),
    (
        "cross_document_attention", "error", "a token sees keys of another document",
        "Positions or boundaries promise separate documents, but the mask lets a query look into "
        "another one. Resetting positions removes no key.",
        "use a block-diagonal causal mask or a varlen kernel with cu_seqlens",
    ),
    (
        "positions_not_reset", "warn", "positions run on through a pack",
        "Documents are isolated but positions do not start again. Harmless for RoPE with a block "
        "mask (only differences count); wrong for learned positions, beyond the trained length, "
        "and wherever a kernel finds boundaries in position_ids.",
        "count position_ids from 0 in each document",
    ),
    (
        "positions_offset", "info", "positions of a row do not start at 0",
        "The first document of a row starts at a higher position: the rest of a cut document, or "
        "a convention that counts from 1. A rule that looks for position 0 finds no start.",
        "take starts from the steps of position_ids, or pass cu_seqlens",
    ),
    (
        "boundaries_disagree", "error", "two sources of document boundaries disagree",
        "The batch says twice where documents begin, and not the same. Which one is used depends "
        "on the attention backend.",
        "derive all of them from one list of lengths",
    ),
    (
        "cu_seqlens_malformed", "error", "cu_seqlens does not cover the tokens",
        "Cumulative lengths start at 0, never fall, and end at the number of tokens. Otherwise the "
        "kernel leaves tokens out or reads beyond them.",
        "cu_seqlens = [0, *cumsum(lengths)] as int32",
    ),
    (
        "cu_seqlens_dtype", "warn", "cu_seqlens is not int32",
        "Varlen kernels take int32 and refuse other types or read them wrongly.",
        "cu_seqlens.to(torch.int32)",
    ),
    (
        "max_seqlen_wrong", "error", "the maximum length is smaller than the longest document",
        "A varlen kernel sizes its work by the maximum; the end of longer documents is not "
        "computed.",
        "max_seqlen = cu_seqlens.diff().max()",
    ),
    (
        "padding_inside_segment", "error", "a segment holds padding before real tokens",
        "A segment of cu_seqlens begins with or contains padding, so real tokens attend to it, and "
        "a start is missing behind the gap.",
        "give padding a segment of its own: a mark at each end of the gap",
    ),
    (
        "length_mismatch", "error", "a field has another length than the tokens",
        "Ids, labels, masks and positions describe the same slots and must have one shape.",
        "pad every field together, in one place",
    ),
    (
        "fully_masked_row", "error", "a query may attend to no key",
        "Softmax over no key divides 0 by 0: NaN when written by hand, zeros in today's SDPA. NaN "
        "of one padded position reaches every gradient.",
        "let each padded query see itself (add the diagonal)",
    ),
    (
        "future_key_visible", "error", "a query sees keys that come after it",
        "A causal model must not see the token that it predicts.",
        "combine the mask with a lower triangle",
    ),
    (
        "pad_key_visible", "error", "a real token sees padding",
        "A real query may attend to a padded key, so its output depends on the padding.",
        "mask padded keys, or pad on the right under a causal mask",
    ),
    (
        "own_key_hidden", "error", "a token does not see its own document",
        "A key of the query's own document, at or before it, is hidden.",
        "allow key j for query i wherever j <= i and both lie in one document",
    ),
    (
        "mask_inverted", "error", "the mask has the opposite polarity",
        "The pattern allows what lies in the future and hides the past: True means masked here "
        "(Megatron-LM), while PyTorch reads True as may attend.",
        "invert it: ~mask",
    ),
    (
        "window_ignored", "error", "keys outside the window are visible",
        "The layer has a sliding window, but the pattern in use goes back further: a backend did "
        "not get the window. A window of 0 or None means no limit.",
        "hand the window to every backend: allow key k only if q - k < window",
    ),
    (
        "bool_mask_in_eager", "error", "a boolean 4-D mask goes to eager attention",
        "Eager attention adds the mask to the scores: True adds 1, False adds 0, and nothing is "
        "masked. SDPA reads the same tensor as may attend.",
        "convert it with to_additive(mask, dtype)",
    ),
    (
        "state_crosses_boundary", "error", "a recurrent state runs over a document boundary",
        "Linear attention keeps a running state and a short convolution reads the tokens before; "
        "an attention mask reaches neither.",
        "reset the state and cut the convolution at each start (seq_idx, cu_seqlens)",
    ),
    (
        "tokens_dropped", "warn", "tokens are in no pack",
        "Tokens went in and did not come out, mostly the last block that was not full.",
        "keep the tail and pad it, or count what is lost",
    ),
    (
        "document_truncated", "warn", "a document lost its end",
        "The packer cut a document longer than the row and threw the rest away.",
        "split over-long documents (bfd_split, overlong='split'), or raise the capacity",
    ),
    (
        "document_dropped", "warn", "a whole document is in no pack",
        "None of its tokens came out.",
        "split or truncate instead, and count dropped documents",
    ),
    (
        "document_split", "info", "a document was cut in pieces",
        "All tokens are there, but a later piece does not see the earlier one, and one target is "
        "lost at each cut.",
        "raise the capacity where whole documents matter",
    ),
    (
        "tokens_repeated", "error", "tokens came out more than once",
        "A document, or part of it, stands in the packs twice and counts twice in the loss.",
        "check that each document is handed out once (shuffling, epochs, resumed state)",
    ),
    (
        "tokens_foreign", "error", "packs hold tokens that are in no document",
        "Tokens came out that never went in, beyond EOS and padding.",
        "declare eos_token_id and pad_token_id if they were added, else look for mixed data sets",
    ),
    (
        "tokens_orphaned", "warn", "an answer was cut off from its prompt",
        "A piece of a document stands in another row than its prompt. Its tokens are trained "
        "without the text that they answer.",
        "keep prompt and answer in one row: drop or truncate such documents, or raise the capacity",
    ),
    (
        "row_over_capacity", "error", "a pack is longer than the capacity",
        "The row does not fit; a later step cuts it or fails.",
        "check the capacity that the packer was given, EOS included",
    ),
    (
        "no_packs", "error", "documents went in and no pack came out",
        "All text together is shorter than a block and only full blocks are kept.",
        "keep the last block and pad it",
    ),
    (
        "utilization_wrong", "error", "the reported utilization is not tokens / slots",
        "Used tokens and slots must be counted over the same rows, those that are trained on.",
        "recompute both after rows were dropped",
    ),
    (
        "more_rows_than_needed", "info", "a better packing exists or may exist",
        "The number of rows is above the lower bound.",
        "use best_fit_decreasing over a larger window of documents",
    ),
    (
        "unit_changed", "info", "a step counts packs now, not documents",
        "With packing the unit of a batch is a row, so there are fewer steps.",
        "rescale warm-up, logging and evaluation intervals",
    ),
    (
        "steps_estimated", "warn", "planned steps are not the steps that there are",
        "The number of steps was estimated and differs from what the packs give.",
        "count the packs: ceil(packs / batch) for each epoch",
    ),
    (
        "ranks_duplicate_data", "error", "ranks read the same data",
        "A pack is read by more than one rank, so the effective batch is smaller than it seems.",
        "split the stream by rank: packs[rank::world_size]",
    ),
    (
        "ranks_miss_data", "warn", "some packs are read by no rank",
        "Packs are left out of the epoch.",
        "check drop_last and the sampler's length",
    ),
    (
        "ranks_uneven", "warn", "ranks have different numbers of packs",
        "The rank with more packs waits for the others and the run hangs at the end of the epoch.",
        "pad or drop so that each rank gets the same number",
    ),
)
_E = "error"
_enter(
    "denominators",
    (
        "denominator_counts_unshifted", _E, "the denominator counts labels before the shift",
        "The first label of a row is never a target. Counting labels instead of labels[:, 1:] "
        "makes the loss too small, by one for each row whose first label is not masked.",
        "count labels[:, 1:] != -100",
    ),
    (
        "denominator_counts_slots", _E, "the denominator counts slots that are no targets",
        "The sum was divided by slots or tokens, targets or not, so the loss shrinks with padding "
        "and prompts.",
        "divide by the number of targets",
    ),
    (
        "denominator_wrong", _E, "the denominator is not the number of targets",
        "It matches none of the counts that are known.",
        "divide by (labels[:, 1:] != -100).sum()",
    ),
    (
        "divided_twice", _E, "the loss was divided twice",
        "It was already divided by all targets of the window (or of all ranks) and then once more "
        "by the number of parts.",
        "divide once: sum of losses / number of targets over everything",
    ),
    (
        "not_divided", _E, "parts were added up without dividing",
        "The number is a sum where a mean was meant and grows with the number of parts.",
        "add sums and counts, divide at the end",
    ),
    (
        "weights_count_non_targets", _E, "means are weighted by tokens that are no targets",
        "Weights must count the tokens that produce loss, not all tokens of a part.",
        "weight by the number of targets, or keep (sum, count)",
    ),
    (
        "weights_count_rows", _E, "means are weighted by rows",
        "Rows have different numbers of targets, so this is no token mean.",
        "weight by the number of targets, or keep (sum, count)",
    ),
    (
        "mean_of_microbatch_means", _E, "a plain mean over micro-batches",
        "A micro-batch with few targets weighs as much as one with many; the result depends on how "
        "the batch is split.",
        "divide each sum by the number of targets of the whole window",
    ),
    (
        "mean_of_rank_means", _E, "a plain mean over ranks",
        "Each rank (or shard of a sequence) divides by its own targets and the quotients are "
        "averaged.",
        "all-reduce the count; scale local sums by world_size / global count",
    ),
    (
        "eval_mean_of_batch_means", _E, "evaluation averages the means of batches",
        "A batch with few targets weighs as much as one with many; the number changes with the "
        "batch size.",
        "add sums and counts over all batches, divide once",
    ),
    (
        "sequence_mean", "info", "the number is the mean of sequence means",
        "Each sequence counts once, whatever its length: a choice, and not the token mean.",
        "say which of the two is reported",
    ),
    (
        "pad_scored", _E, "the score includes padding",
        "A document scored alone gives another sum than in a batch: log-probabilities of padding "
        "were added.",
        "mask by the length of each document, one position before its end",
    ),
    (
        "running_total_divided", _E, "the running total is divided inside the loop",
        "Early batches are divided again and again and nearly vanish.",
        "add in the loop, divide behind it",
    ),
    (
        "one_part_reported", _E, "the number is that of one part",
        "Only the first or the last part was reported.",
        "add sums and counts over all parts",
    ),
    (
        "perplexity_averaged", _E, "perplexities were averaged",
        "The mean of exponentials is larger than the exponential of the mean.",
        "exponentiate once, at the end: exp(sum / count)",
    ),
    (
        "perplexity_base", _E, "loss and perplexity use different bases",
        "The loss is in nats (natural logarithm), so perplexity is exp(loss), not 2 ** loss.",
        "use exp with nats, 2 ** with bits",
    ),
    (
        "part_without_targets", "warn", "a part has no target",
        "Its own mean is 0/0. In a (sum, count) pair it does no harm.",
        "keep (0, 0) and divide at the end",
    ),
    (
        "loss_unexplained", _E, "the number is no known mean of these parts",
        "It equals none of the reductions that were tried.",
        "report sum and count beside the mean",
    ),
    (
        "shard_boundary_target_lost", _E, "the target at a cut between shards is lost",
        "Each shard shifted its own labels, so its last token has no target.",
        "shift on the whole sequence, then split",
    ),
    (
        "shard_target_wrong", _E, "a shard's target is not the next token of the sequence",
        "Targets must be taken from the whole sequence.",
        "shift on the whole sequence, then split",
    ),
    (
        "shard_tokens_lost", _E, "the shards are not the sequence",
        "Joined, the shards do not give the tokens that went in.",
        "split the sequence (padded to a multiple of the ranks) and nothing else",
    ),
)
