"""What people believe when they give a certain wrong answer: one text for each, by id.

An exercise names those that it can tell apart; each comes with a small wrong model there. `chapter`
is where it is explained, 0 for the exercise's own chapter.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Misconception:
    """A sentence to the learner, and the chapter to reread."""

    text: str
    chapter: int = 0


MISCONCEPTIONS: dict[str, Misconception] = {
    "changes_input": Misconception(
        "what was handed in written over. In a batch the labels are then the input ids, which the "
        "model still has to read. Start from a clone.",
    ),
    "counts_real_tokens": Misconception(
        "every real token counted as a target. The first token of a row has nothing before it "
        "that could predict it.",
        2,
    ),
    "counts_slots": Misconception(
        "every slot counted, padding and all. A slot is storage; only a scored prediction is a "
        "target.",
        4,
    ),
    "counts_predictions": Misconception(
        "T-1 predictions counted in each row, also those whose next slot is padding.",
        2,
    ),
    "counts_sequences": Misconception(
        "sequences counted. The loss is a mean over target tokens, not over documents.", 6
    ),
    # shift
    "missing_shift": Misconception(
        "no shift at all: each position is scored on the token it has just read. The loss falls "
        "to zero and nothing is learned.",
        2,
    ),
    "missing_shift_short": Misconception(
        "the last position left out, rightly, and the others paired with the token that they have "
        "just read. Each is scored on the next one.",
        2,
    ),
    "double_shift": Misconception(
        "shifted twice: each position is scored on the token two ahead, without having seen the "
        "one between.",
        2,
    ),
    "shift_backwards": Misconception(
        "shifted the wrong way: each position is scored on a token to its left, which it has "
        "read already.",
        2,
    ),
    "names_the_target_slot": Misconception(
        "the slot of the target named instead of the slot whose logits are scored, one to its "
        "left.",
        2,
    ),
    "last_position_scored": Misconception(
        "the last position paired with something. No token of the row follows it, so it has no "
        "pair at all.",
        2,
    ),
    "wraps_around": Misconception(
        "the last position paired with the first token, as a rotation does. A row is no ring.", 2
    ),
    "both_lose_the_first": Misconception(
        "the first column cut from both sides. Two equal cuts move nothing against each other.", 2
    ),
    "nothing_dropped": Misconception(
        "nothing dropped: logits and labels go out as they came in, so column t still meets "
        "label t.",
        2,
    ),
    "results_swapped": Misconception(
        "both results right, in the other order: first the logits, then the labels.", 2
    ),
    "shifts_rows": Misconception(
        "rows shifted instead of positions. Axis 0 is the batch; tokens follow each other along "
        "axis 1.",
        2,
    ),
    "ignores_the_loss": Misconception(
        "labels that stand early called a fault by themselves. They are right for a loss that "
        "does not shift; two shifts make the fault.",
        2,
    ),
    "always_fine": Misconception("all is called right, whatever comes in."),
    "loss_shift_is_the_fault": Misconception(
        "every loss that shifts called a fault. One shift in the loss is the rule.", 2
    ),
    "one_agreement_is_enough": Misconception(
        "one label that agrees with the next id taken for proof. Where a token follows itself, a "
        "label agrees that nobody has shifted.",
        2,
    ),
    "ignored_labels_compared": Misconception(
        "labels of -100 compared with ids, too. They agree with none, so padding or a prompt hides "
        "the shift.",
        2,
    ),
    "unlike_the_ids": Misconception(
        "labels that differ from the ids taken for shifted ones. Padding and prompts have -100 "
        "there, and the others may stand in place.",
        2,
    ),
    # padding
    "pad_by_id": Misconception(
        "padding found by its id. A real token may have the same id, and would be lost.", 3
    ),
    "pads_left": Misconception(
        "padding put on the left. Here it goes on the right, so that slot and position agree.", 3
    ),
    "mask_inverted": Misconception("1 written for padding. In attention_mask 1 means real.", 3),
    "all_ones": Misconception(
        "attention_mask is 1 everywhere, so that every query reads the padding.", 3
    ),
    "pad_query_masked": Misconception(
        "rows of padding queries closed as well. The key padding mask closes keys; a fully "
        "masked row can turn into NaN, and its loss is left out by its label anyway.",
        3,
    ),
    "no_causal_mask": Misconception("only padding masked; the future is visible.", 3),
    "padding_keys_visible": Misconception(
        "only the future masked; real queries behind padding, and padding itself, read <pad>.", 3
    ),
    "rows_for_columns": Misconception(
        "the padding mask laid over queries (rows) instead of keys (columns).", 3
    ),
    "true_means_masked": Misconception(
        "True written for 'masked'. Here, and in PyTorch's attention, True means 'may attend'."
    ),
    "upper_triangle": Misconception(
        "the upper triangle used: every query sees the future and not the past."
    ),
    "eos_erased": Misconception(
        "every label with the pad id switched off. Where EOS is the pad, each real EOS goes with "
        "it, and the model never learns to stop.",
        3,
    ),
    "pad_target": Misconception(
        "labels that are a plain copy: padding is scored, and the model is taught to write it.", 3
    ),
    "first_pad_kept": Misconception(
        "the first slot of padding kept as a target: slots are counted from 0, so the last real "
        "one is length - 1.",
        3,
    ),
    "last_token_lost": Misconception(
        "the last real token masked as well: slots are counted from 0, so it stands at "
        "length - 1.",
        3,
    ),
    "collator_shifts": Misconception(
        "labels moved one slot to the left by the collator. The loss shifts; done here too, it "
        "is done twice.",
        2,
    ),
    "collator_cuts": Misconception(
        "the first column cut off the labels and the last off the inputs by the collator. That is "
        "the shift, and the loss does it once more.",
        2,
    ),
    # targets
    "first_answer_masked": Misconception(
        "one slot too many masked: the first answer token is lost. It is predicted from the last "
        "prompt slot and stays a target.",
        4,
    ),
    "last_prompt_scored": Misconception(
        "one slot too few masked: the last prompt token is a target. Labels are not shifted yet, "
        "so a prompt of n tokens has n labels.",
        4,
    ),
    "answers_masked": Misconception(
        "the answers masked and the prompts kept, the wrong way round.",
        4,
    ),
    "zero_for_ignored": Misconception(
        "0 written for 'no target'. 0 is a real id (here <pad>), and the loss scores it; -100 is "
        "left out.",
        4,
    ),
    "one_length_for_all": Misconception(
        "one prompt length used for every row.",
        4,
    ),
    "prompts_scored": Misconception(
        "prompts left in: the model is trained to write the questions, too.",
        4,
    ),
    "boundary_kept": Misconception(
        "the first token of a later document kept as a target. That is convention A.",
        4,
    ),
    "row_start_masked": Misconception(
        "the first slot of the row switched off as well. Nothing predicts it anyway, and its "
        "label stays what it is.",
        4,
    ),
    "eos_masked": Misconception(
        "the last token of a document masked instead of the first one of the next. EOS is a "
        "target that the model needs: it learns to stop from it.",
        4,
    ),
    "second_token_masked": Misconception(
        "the mask put one slot too far to the right, onto the second token of a document. A label "
        "stands in its own token's slot.",
        4,
    ),
    "later_documents_masked": Misconception(
        "the later documents masked as a whole. B switches off one label of each.",
        4,
    ),
    "boundary_as_prompt": Misconception(
        "the first token of the second document counted among the prompts. It is one, but here "
        "the boundary comes first.",
        4,
    ),
    "row_start_as_prompt": Misconception(
        "the first slot of the row counted among the prompts. Nothing predicts it, whatever it "
        "holds: it is the row's start.",
        4,
    ),
    "row_start_as_target": Misconception(
        "the first slot of the row counted as a target. No prediction stands before it.",
        4,
    ),
    "boundary_as_target": Misconception(
        "the first token of the second document counted as a target. Under B it is switched off, "
        "and here it belongs to a prompt besides.",
        4,
    ),
    "eos_no_target": Misconception(
        "EOS counted as padding. It is the last token of an answer, and a target.",
        4,
    ),
    # packing
    "positions_not_reset": Misconception(
        "positions counted through the whole row. Each document starts again at 0.",
        5,
    ),
    "slots_for_positions": Misconception(
        "the numbers of the slots, padding and all. Each document starts again at 0, and padding "
        "has -1.",
        5,
    ),
    "pad_position_zero": Misconception(
        "0 written on padding. A 0 says 'a document begins here'; padding has -1.",
        5,
    ),
    "positions_from_one": Misconception(
        "positions counted from 1. They start at 0.",
        5,
    ),
    "padding_counts_on": Misconception(
        "positions that run on over the padding. Padding belongs to no document and has -1.",
        5,
    ),
    "document_numbers": Misconception(
        "the numbers of the documents instead of the positions in them.",
        5,
    ),
    "no_leading_zero": Misconception(
        "the ends of the documents without the 0 in front: the first one has no start.",
        5,
    ),
    "lengths_not_cumulative": Misconception(
        "the lengths themselves. The kernels take running sums.",
        5,
    ),
    "starts_only": Misconception(
        "the starts of the documents without the last end: N documents need N+1 numbers.",
        5,
    ),
    "last_slots": Misconception(
        "the last slot of each document. The end is one further: document i is cu[i]:cu[i+1].",
        5,
    ),
    "zero_and_lengths": Misconception(
        "a 0 and the lengths, not summed up.",
        5,
    ),
    "no_document_mask": Misconception(
        "only the causal mask: later documents read the earlier ones of the row.",
        5,
    ),
    "no_document_mask_but_padding": Misconception(
        "the causal mask without padding: documents still read each other.",
        5,
    ),
    "future_in_document": Misconception(
        "documents kept apart, but each token also sees the future of its own document.",
        5,
    ),
    "full_rows": Misconception(
        "the full square of each row: every token with every other, across documents and into the "
        "future.",
        5,
    ),
    "counts_tokens_for_pairs": Misconception(
        "tokens counted. A token attends to itself and to each earlier one of its document, and "
        "every such pair counts.",
    ),
    "padding_is_a_document": Misconception(
        "padding treated as a document: its slots have the same id, -1, and see each other.",
        5,
    ),
    "self_masked": Misconception(
        "the diagonal closed. A query may attend to its own token.",
        5,
    ),
    "pad_sees_itself": Misconception(
        "padding allowed to attend to itself. In the packed mask its rows are empty.",
        5,
    ),
    "pad_keeps_view": Misconception(
        "padding queries that read the row's real tokens, as in a padded batch. In the packed "
        "mask their rows are empty.",
        5,
    ),
    "no_eos": Misconception(
        "no EOS behind the documents: nothing separates them, and nothing teaches the model to "
        "stop.",
        5,
    ),
    "boundary_masked": Misconception(
        "the first token of each later document masked. That is convention B; A is asked for.",
        4,
    ),
    "not_longest_first": Misconception(
        "documents taken in the order given, not from long to short.",
        5,
    ),
    "best_row": Misconception(
        "the fullest row with room chosen (best fit), not the oldest one (first fit).",
        5,
    ),
    "newest_row": Misconception(
        "the newest row with room chosen, not the oldest one. First fit looks through the rows "
        "from the first.",
        5,
    ),
    "row_never_full": Misconception(
        "a document refused where it would fill the row exactly. Room equal to its length is "
        "room enough: compare with <=, not with <.",
        5,
    ),
    "only_the_last_row": Misconception(
        "only the newest row looked at (next fit). Older rows may still have room.",
        5,
    ),
    "shortest_first": Misconception(
        "documents taken from short to long.",
        5,
    ),
    "ties_turned": Misconception(
        "documents of equal length taken in reverse order. A stable sort keeps them in order.",
        5,
    ),
    "lengths_for_numbers": Misconception(
        "lengths returned in place of document numbers.",
        5,
    ),
    "sorted_numbers": Misconception(
        "numbers that count in the sorted list. The caller knows documents by their place in the "
        "list that was given.",
        5,
    ),
    "rows_sorted": Misconception(
        "document numbers sorted in each row. They stand in the order in which they were placed.",
        5,
    ),
    # loss denominators
    "mean_of_row_means": Misconception(
        "each row averaged first, then the rows: a row with few targets weighs as much as one "
        "with many.",
        6,
    ),
    "divides_by_predictions": Misconception(
        "divided by all predictions, scored or not. Only targets are in the sum, so only targets "
        "count.",
        6,
    ),
    "divides_by_slots": Misconception(
        "divided by the number of slots, T in each row. That understates the loss.",
        6,
    ),
    "ignored_scored": Misconception(
        "entries that are no targets averaged in.",
        6,
    ),
    "not_divided": Misconception(
        "the sum returned, not divided by anything.",
        6,
    ),
    "divides_by_rows": Misconception(
        "divided by the number of rows.",
        6,
    ),
    "document_of_the_input": Misconception(
        "each target given to the document of the slot that predicts it. At a boundary that is "
        "the document before; the target's token stands one slot to the right.",
        6,
    ),
    "rows_share_documents": Misconception(
        "documents of different rows thrown together because they have the same id. Ids start at "
        "0 in each row.",
        6,
    ),
    "empty_documents_count": Misconception(
        "documents without a target counted in the denominator, as if their loss were 0.",
        6,
    ),
    "token_for_sequence": Misconception(
        "token mean and sequence mean taken for each other. The first weighs every target alike, "
        "the second every document.",
        6,
    ),
    "token_for_slot": Misconception(
        "token mean and slot mean taken for each other. A slot need not be a target.",
        6,
    ),
    "sequence_for_slot": Misconception(
        "sequence mean and slot mean taken for each other.",
        6,
    ),
    "mean_of_means": Misconception(
        "the mean of each micro-batch taken first, then the mean of these. A micro-batch with few "
        "targets then weighs as much as one with many.",
        6,
    ),
    "mean_of_means_nan": Misconception(
        "the mean of each micro-batch taken first. That weighs a few targets like many, and 0 / 0 "
        "of a micro-batch without targets is no number.",
        6,
    ),
    "means_added": Misconception(
        "the means of the micro-batches added up. Each has been divided already: the sum grows "
        "with their number.",
        6,
    ),
    "mean_of_scored_means": Misconception(
        "micro-batches without targets left out, but still a mean of means.",
        6,
    ),
    "divides_by_micro_batches": Misconception(
        "the sum divided by the number of micro-batches.",
        6,
    ),
    "mean_of_rank_means": Misconception(
        "the mean of the ranks' own means. A rank with few targets then weighs as much as one "
        "with many.",
        6,
    ),
    "ddp_average_forgotten": Misconception(
        "1 / count as the factor: DDP then divides by the number of ranks once more, and the "
        "gradient is too small.",
        6,
    ),
    "counts_forgotten": Misconception(
        "1 / number of ranks as the factor. DDP does that already; the count of targets is "
        "missing.",
        6,
    ),
    "ranks_multiplied_only": Misconception(
        "the number of ranks as the factor. That undoes DDP's division, but the count of targets "
        "is missing.",
        6,
    ),
    "divided_by_ranks_twice": Misconception(
        "the factor divided by the number of ranks. DDP divides by it already; the factor must "
        "multiply.",
        6,
    ),
    # lab 1
    "biases_forgotten": Misconception(
        "weights counted, and the biases of the linear layers left out.",
        0,
    ),
    "final_norm_forgotten": Misconception(
        "the norm behind the last block left out.",
        0,
    ),
    "two_matrices": Misconception(
        "a feed-forward part of two matrices. SwiGLU has three: gate, up and down.",
        0,
    ),
    "norm_bias_forgotten": Misconception(
        "one vector for each norm. It has two, a weight and a bias.",
        0,
    ),
    "positions_forgotten": Misconception(
        "positions without parameters. These are learned: a vector for each position.",
        0,
    ),
    "output_tied": Misconception(
        "an output that shares its weights with the embedding. Here it has weights of its own.",
        0,
    ),
    "signed_difference": Misconception(
        "differences with their sign. One below zero can be the largest in size.",
        0,
    ),
    "mean_difference": Misconception(
        "the mean of the differences. A few wrong tokens disappear in a mean.",
        0,
    ),
    "nan_vanishes": Misconception(
        "a NaN passed over: max() of Python keeps what it has, since no comparison with NaN is "
        "true. A difference that is no number must not look like agreement.",
        0,
    ),
    "from_slot_0": Misconception(
        "every document compared with the beginning of the row. The second one begins where the "
        "first one ends.",
        0,
    ),
    "padding_compared": Misconception(
        "the padding at the end of the row compared with something. It has no partner.",
        0,
    ),
    "only_first_document": Misconception(
        "only the first document compared. It never had anything before it, so it is right even "
        "without a document mask.",
        0,
    ),
    "rope_needs_reset": Misconception(
        "RoPE taken to need a reset. Its products depend on distances, and under the document "
        "mask all distances stay inside a document.",
        5,
    ),
    "reset_never_matters": Misconception(
        "learned positions taken to need no reset. A later document then reads the vectors of "
        "positions that it never has alone.",
        5,
    ),
    "learned_never_equal": Misconception(
        "learned positions taken to differ even when reset. Reset, each document reads the "
        "vectors that it has alone.",
        5,
    ),
    "only_running_equal": Misconception(
        "reset and running taken for each other.",
        5,
    ),
    "nothing_equal": Misconception(
        "packed and separate taken to differ in any case. With document mask and the right "
        "positions they agree.",
        5,
    ),
    # failure modes and the exit check
    "equal_neighbours_named": Misconception(
        "places named where the next two tokens are the same. Both set-ups are scored on the same "
        "id there.",
        7,
    ),
    "next_token_named": Misconception(
        "the healthy predictions named: those that are scored on the next token.",
        7,
    ),
    "target_slot_named": Misconception(
        "the slot of the target named instead of the position that is scored on it.",
        7,
    ),
    "everything_else_named": Misconception(
        "every prediction named that is not scored on the next token, those with -100 too.",
        7,
    ),
    "all_padding_named": Misconception(
        "all padding named. Padding whose label is -100 does no harm.",
        7,
    ),
    "prediction_named": Misconception(
        "the position named that is scored on the padding; the slot of the label is asked for.",
        7,
    ),
    "padding_named_too": Misconception(
        "padding named as well. It belongs to no document, and its label is -100 rightly.",
        7,
    ),
    "every_eos_named": Misconception(
        "every real EOS named, also those that are still targets.",
        7,
    ),
    "every_ignored_named": Misconception(
        "every real slot with -100 named. Prompts are masked on purpose; only EOS is asked for.",
        7,
    ),
    "looks_in_labels": Misconception(
        "EOS looked for in the labels. Where it was erased it is not there any more.",
        7,
    ),
    "pairs_turned": Misconception(
        "pairs written as (key, query).",
        7,
    ),
    "only_keys_before": Misconception(
        "only keys before the query looked at. A leak from a later document is a leak, too.",
        7,
    ),
    "next_documents_only": Misconception(
        "only neighbouring documents looked at. Under a causal mask the third one reads the first "
        "one as well.",
        7,
    ),
    "mask_ignored": Misconception(
        "all pairs of different documents named, whether the mask allows them or not.",
        7,
    ),
    "row_starts_counted": Misconception(
        "the first slots of rows counted among the boundaries. They are in no convention's sum, "
        "and not B's doing.",
        7,
    ),
    "slots_for_predictions": Misconception(
        "B·T slots counted instead of B·(T-1) predictions.",
        7,
    ),
    "labels_counted_unshifted": Misconception(
        "labels counted before the shift, so that the first slot of a row counts as a target.",
        7,
    ),
    "boundaries_unknown": Misconception(
        "boundaries overlooked: the count of targets and boundary tokens passes for another.",
        7,
    ),
    "one_shift_seen": Misconception(
        "one shift counted where collator and loss both do it.",
        2,
    ),
    # labs 2 to 5
    "boundary_hides": Misconception(
        "a boundary convention taken to hide tokens. It switches labels off; who may attend is "
        "the mask's decision.",
        4,
    ),
    "boundary_does_both": Misconception(
        "the boundary convention taken to change labels and mask. It changes one label of each "
        "later document, and no cell of the mask.",
        4,
    ),
    "prompt_hidden": Misconception(
        "masked prompts taken to be out of sight. Their labels are -100, and the answer still "
        "reads them.",
        4,
    ),
    "mask_scores": Misconception(
        "the mask taken to change what is scored. It changes what predictions read; labels stay.",
        4,
    ),
    "lengths_mask_only": Misconception(
        "only the mask taken to follow the boundary. The label of the first token of a later "
        "document follows it, too, and so does what belongs to a prompt.",
        4,
    ),
    "bound_rounded_down": Misconception(
        "tokens / capacity rounded down. The last tokens need a row as well.",
        5,
    ),
    "padding_share": Misconception(
        "the share of padding given in place of that of tokens.",
        5,
    ),
    "widest_row": Misconception(
        "the fullest row taken for the size of all. A row has capacity slots, also where none is "
        "full.",
        5,
    ),
    "last_row_left_out": Misconception(
        "the last row left out of the utilization. It takes its slots like any other.",
        5,
    ),
    "gap_in_slots": Misconception(
        "empty slots counted. The gap counts rows.",
        5,
    ),
    "bound_counts_documents": Misconception(
        "documents compared with rows. The gap compares the rows with those that the tokens need.",
        5,
    ),
    "cuts_for_documents": Misconception(
        "cuts counted. A document over three rows is cut twice, and is one document.",
        5,
    ),
    "end_at_border_cut": Misconception(
        "documents that end right at a border counted as cut. Their last token still lies before "
        "it.",
        5,
    ),
    "only_overlong": Misconception(
        "only documents longer than a row counted. A short one is cut as well if the border falls "
        "inside of it.",
        5,
    ),
    "every_border_cuts": Misconception(
        "every border between rows taken for a cut. Some fall between two documents.",
        5,
    ),
    "whole_documents_counted": Misconception(
        "the documents that stay whole counted.",
        5,
    ),
    "window_ignored": Misconception(
        "all documents packed at once. The packer gives its rows out before it reads on.",
        5,
    ),
    "last_window_lost": Misconception(
        "the last window left out because it is not full. Its documents need rows, too.",
        5,
    ),
    "bound_for_rows": Misconception(
        "the rows that the tokens of a window need at least. Whole documents may need more.",
        5,
    ),
    "windows_strided": Misconception(
        "every k-th document put in one window. A window holds documents that were read one after "
        "the other.",
        5,
    ),
    "next_fit_of_all": Misconception(
        "all documents packed by next fit. Inside of a window the packer sorts.",
        5,
    ),
    "cut_then_shift": Misconception(
        "the row cut first and shifted on each rank. The prediction before a cut has lost its "
        "target: it stands on the next rank.",
        2,
    ),
    "cut_unshifted": Misconception(
        "the labels cut and not shifted at all.",
        2,
    ),
    "one_too_many_shifts": Misconception(
        "the labels shifted before the cut, and again on each rank.",
        2,
    ),
    "stripes": Misconception(
        "every R-th column for a rank. A rank holds columns that stand beside each other.",
        2,
    ),
    "wrapped_around": Misconception(
        "the first label moved to the end. The last prediction of a row has no target.",
        2,
    ),
    "share_of_all": Misconception(
        "each micro-batch's share of all targets. DDP divides by the number of ranks on top of "
        "it.",
        6,
    ),
    "share_of_the_rank": Misconception(
        "each micro-batch's share of its own rank's targets. The ranks then weigh alike, whatever "
        "they hold.",
        6,
    ),
    "equal_weights": Misconception(
        "all micro-batches weighed alike. That is the mean of means.",
        6,
    ),
    "weights_of_sums": Misconception(
        "the factor for sums. Here means are given, each divided by its own count already.",
        6,
    ),
    "shared_twice": Misconception(
        "the right weights divided by the number of micro-batches. The rank adds its micro- "
        "batches up and does not average them.",
        6,
    ),
    "lengths_subtracted": Misconception(
        "the lengths subtracted from each other. Two gradients of one length can still point "
        "apart; subtract the vectors.",
        6,
    ),
    "over_own_length": Misconception(
        "the difference measured against the gradient's own length. The full batch is what it is "
        "compared with.",
        6,
    ),
    "not_relative": Misconception(
        "the length of the difference, not divided by that of the full gradient.",
        6,
    ),
    "dot_product": Misconception(
        "the dot product, not divided by both lengths.",
        6,
    ),
    "cosine_distance": Misconception(
        "1 minus the cosine.",
        6,
    ),
    "squared_lengths": Misconception(
        "squared lengths divided by each other.",
        6,
    ),
    "eos_and_pads_swapped": Misconception(
        "C and D taken for each other. One has too few labels, the other too many; look where.",
        7,
    ),
    "padding_read_or_scored": Misconception(
        "B and D taken for each other. Whether padding is read stands in attention_mask, whether "
        "it is scored in labels.",
        7,
    ),
    "cut_or_lost": Misconception(
        "F and G taken for each other. One shortens a document that is too long, the other leaves "
        "out what fills no row.",
        7,
    ),
    "two_shifts_or_none": Misconception(
        "A's labels taken for unshifted. They stand one slot early, and the loss shifts as well.",
        7,
    ),
    "no_prompts_to_score": Misconception(
        "prompts looked for in H. Its labels are right; compare num_items_in_batch with them, on "
        "documents without prompts.",
        7,
    ),
    "future_for_positions": Misconception(
        "a mask looked for in E. Look at its position_ids where a document begins.",
        7,
    ),
    "answer_cut": Misconception(
        "the end of the document cut. There stands the answer, and with it every target.",
        4,
    ),
    "prompt_not_shortened": Misconception(
        "the prompt length left as it was. After the cut it reaches over the answer and masks its "
        "targets.",
        4,
    ),
    "pad_position_minus": Misconception(
        "-1 written on padding. Collator F, like most models, has 0 there.",
        3,
    ),
    "diagonal_full": Misconception(
        "tiles on the diagonal taken for full. Half of such a tile lies in the future.", 10
    ),
    "tiles_mixed_up": Misconception(
        "the three counts in another order: skipped first, then partial, then full.", 10
    ),
    "whole_squares": Misconception(
        "squares of the lengths. Causal attention computes a triangle with its diagonal, "
        "n(n + 1)/2 pairs for n slots.",
        10,
    ),
    "mean_of_ratios": Misconception(
        "a mean of each document's ratio. What is saved is a quotient of two sums, and short "
        "documents weigh little in a sum.",
        10,
    ),
    "one_row_only": Misconception(
        "one padded row counted. Each document has a row of its own.", 10
    ),
    "slots_for_both": Misconception(
        "the ratio of slots for attention too. Attention counts pairs, which grow with the square.",
        10,
    ),
    "ratio_turned": Misconception(
        "packed over padded. Asked is how many times fewer: padded over packed.", 10
    ),
    "future_tiles": Misconception(
        "every key tile visited. Those right of the diagonal lie in the future.", 10
    ),
    "last_document_only": Misconception(
        "the document of the tile's last query. The first query may sit in an earlier document, "
        "and needs its keys.",
        10,
    ),
    "first_tile_lost": Misconception(
        "the first key tile rounded up. A document that begins inside a tile needs that tile too.",
        10,
    ),
    "diagonal_tile_lost": Misconception(
        "one tile too few. The tile on the diagonal is visited as well.", 10
    ),
    "only_first_prompt_masked": Misconception(
        "everything behind the first prompt trained on, the later questions, too. A conversation "
        "has several prompts.",
        11,
    ),
    "only_last_answer": Misconception(
        "only the last answer trained on. That is a choice that some make; asked here are all of "
        "them.",
        11,
    ),
    "turn_end_masked": Misconception(
        "the last token of each answer masked. It is the EOS of the turn, from which the model "
        "learns to stop.",
        11,
    ),
    "weights_not_counted": Misconception(
        "the weighted sum divided by the number of targets. Halve all weights and the loss would "
        "be half as large.",
        11,
    ),
    "weights_of_all_slots": Misconception(
        "weights added up over all slots, also where nothing is scored.",
        11,
    ),
    "weights_ignored": Misconception(
        "the plain token mean: the weights are used nowhere.",
        11,
    ),
    "weights_only_below": Misconception(
        "the weights added up below, but not multiplied into the losses above.",
        11,
    ),
}
