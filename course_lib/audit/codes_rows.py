"""Codes on rows: boundaries, attention patterns, states, packers, step plans."""

from __future__ import annotations

# code, severity, chapter, title, explanation, way out
ENTRIES = (
    (
        "no_document_mask", "warn", "mask",
        "documents share one causal row",
        "Several documents stand in a row and nothing given here keeps them apart. In pretraining "
        "this is a choice; it is a fault where isolation was promised. transformers reads "
        "boundaries from position_ids only if attention_mask is None and there is no cache; "
        "cu_seqlens and the like are read by varlen kernels only.",
        "remove attention_mask, let position_ids start again in each document, and call with "
        "use_cache=False (Trainer sets it); or give a document mask as attention_mask; or remove "
        "attention_mask and pass cu_seqlens to a varlen kernel (flash_attention_2)",
    ),
    (
        "cross_document_attention", "error", "mask",
        "a token sees keys of another document",
        "Positions or boundaries promise separate documents, but the mask lets a query look into "
        "another one. Resetting positions removes no key.",
        "use a block-diagonal causal mask or a varlen kernel with cu_seqlens",
    ),
    (
        "positions_not_reset", "warn", "spellings",
        "positions run on through a pack",
        "Documents are isolated but positions do not start again. Harmless for RoPE with a block "
        "mask (only differences count); wrong for learned positions, beyond the trained length, "
        "and wherever a kernel finds boundaries in position_ids.",
        "count position_ids from 0 in each document",
    ),
    (
        "positions_offset", "info", "spellings",
        "positions of a row do not start at 0",
        "The first document of a row starts at a higher position: the rest of a cut document, or "
        "a convention that counts from 1. A rule that looks for position 0 finds no start.",
        "take starts from the steps of position_ids, or pass cu_seqlens",
    ),
    (
        "boundaries_disagree", "error", "spellings",
        "two sources of document boundaries disagree",
        "The batch says twice where documents begin, and not the same. Which one is used depends "
        "on the attention backend.",
        "derive all of them from one list of lengths",
    ),
    (
        "cu_seqlens_malformed", "error", "spellings",
        "cu_seqlens does not cover the tokens",
        "Cumulative lengths start at 0, never fall, and end at the number of tokens. Otherwise the "
        "kernel leaves tokens out or reads beyond them.",
        "cu_seqlens = [0, *cumsum(lengths)] as int32",
    ),
    (
        "cu_seqlens_dtype", "warn", "spellings",
        "cu_seqlens is not int32",
        "Varlen kernels take int32 and refuse other types or read them wrongly.",
        "cu_seqlens.to(torch.int32)",
    ),
    (
        "max_seqlen_wrong", "error", "spellings",
        "the maximum length is smaller than the longest document",
        "A varlen kernel sizes its work by the maximum; the end of longer documents is not "
        "computed.",
        "max_seqlen = cu_seqlens.diff().max()",
    ),
    (
        "padding_inside_segment", "error", "spellings",
        "a segment holds padding before real tokens",
        "A segment of cu_seqlens begins with or contains padding, so real tokens attend to it, and "
        "a start is missing behind the gap.",
        "give padding a segment of its own: a mark at each end of the gap",
    ),
    (
        "length_mismatch", "error", "spellings",
        "a field has another length than the tokens",
        "Ids, labels, masks and positions describe the same slots and must have one shape.",
        "pad every field together, in one place",
    ),
    (
        "fully_masked_row", "error", "empty_row",
        "a query may attend to no key",
        "Softmax over no key divides 0 by 0: NaN when written by hand, zeros in today's SDPA. NaN "
        "of one padded position reaches every gradient.",
        "let each padded query see itself (add the diagonal)",
    ),
    (
        "future_key_visible", "error", "future",
        "a query sees keys that come after it",
        "A causal model must not see the token that it predicts.",
        "combine the mask with a lower triangle",
    ),
    (
        "pad_key_visible", "error", "pad_keys",
        "a real token sees padding",
        "A real query may attend to a padded key, so its output depends on the padding.",
        "mask padded keys, or pad on the right under a causal mask",
    ),
    (
        "own_key_hidden", "error", "mask",
        "a token does not see its own document",
        "A key of the query's own document, at or before it, is hidden.",
        "allow key j for query i wherever j <= i and both lie in one document",
    ),
    (
        "mask_inverted", "error", "future",
        "the mask has the opposite polarity",
        "The pattern allows what lies in the future and hides the past: True means masked here "
        "(Megatron-LM), while PyTorch reads True as may attend.",
        "invert it: ~mask",
    ),
    (
        "window_ignored", "error", "mask",
        "keys outside the window are visible",
        "The layer has a sliding window, but the pattern in use goes back further: a backend did "
        "not get the window. A window of 0 or None means no limit.",
        "hand the window to every backend: allow key k only if q - k < window",
    ),
    (
        "bool_mask_in_eager", "error", "mask",
        "a boolean 4-D mask goes to eager attention",
        "Eager attention adds the mask to the scores: True adds 1, False adds 0, and nothing is "
        "masked. SDPA reads the same tensor as may attend.",
        "convert it with to_additive(mask, dtype)",
    ),
    (
        "state_crosses_boundary", "error", "mask",
        "a recurrent state runs over a document boundary",
        "Linear attention keeps a running state and a short convolution reads the tokens before; "
        "an attention mask reaches neither.",
        "reset the state and cut the convolution at each start (seq_idx, cu_seqlens)",
    ),
    (
        "tokens_dropped", "warn", "overlong",
        "tokens are in no pack",
        "Tokens went in and did not come out, mostly the last block that was not full.",
        "keep the tail and pad it, or count what is lost",
    ),
    (
        "document_truncated", "warn", "overlong",
        "a document lost its end",
        "The packer cut a document longer than the row and threw the rest away.",
        "split over-long documents (bfd_split, overlong='split'), or raise the capacity",
    ),
    (
        "document_dropped", "warn", "overlong",
        "a whole document is in no pack",
        "None of its tokens came out.",
        "split or truncate instead, and count dropped documents",
    ),
    (
        "document_split", "info", "overlong",
        "a document was cut in pieces",
        "All tokens are there, but a later piece does not see the earlier one, and one target is "
        "lost at each cut.",
        "raise the capacity where whole documents matter",
    ),
    (
        "tokens_repeated", "error", "overlong",
        "tokens came out more than once",
        "A document, or part of it, stands in the packs twice and counts twice in the loss.",
        "check that each document is handed out once (shuffling, epochs, resumed state)",
    ),
    (
        "tokens_foreign", "error", "overlong",
        "packs hold tokens that are in no document",
        "Tokens came out that never went in, beyond EOS and padding.",
        "declare eos_token_id and pad_token_id if they were added, else look for mixed data sets",
    ),
    (
        "tokens_orphaned", "warn", "overlong",
        "an answer was cut off from its prompt",
        "A piece of a document stands in another row than its prompt. Its tokens are trained "
        "without the text that they answer.",
        "keep prompt and answer in one row: drop or truncate such documents, or raise the capacity",
    ),
    (
        "row_over_capacity", "error", "overlong",
        "a pack is longer than the capacity",
        "The row does not fit; a later step cuts it or fails.",
        "check the capacity that the packer was given, EOS included",
    ),
    (
        "no_packs", "error", "overlong",
        "documents went in and no pack came out",
        "All text together is shorter than a block and only full blocks are kept.",
        "keep the last block and pad it",
    ),
    (
        "utilization_wrong", "error", "strategy",
        "the reported utilization is not tokens / slots",
        "Used tokens and slots must be counted over the same rows, those that are trained on.",
        "recompute both after rows were dropped",
    ),
    (
        "more_rows_than_needed", "info", "strategy",
        "a better packing exists or may exist",
        "The number of rows is above the lower bound.",
        "use best_fit_decreasing over a larger window of documents",
    ),
    (
        "unit_changed", "info", "strategy",
        "a step counts packs now, not documents",
        "With packing the unit of a batch is a row, so there are fewer steps.",
        "rescale warm-up, logging and evaluation intervals",
    ),
    (
        "steps_estimated", "warn", "strategy",
        "planned steps are not the steps that there are",
        "The number of steps was estimated and differs from what the packs give.",
        "count the packs: ceil(packs / batch) for each epoch",
    ),
    (
        "ranks_duplicate_data", "error", "strategy",
        "ranks read the same data",
        "A pack is read by more than one rank, so the effective batch is smaller than it seems.",
        "split the stream by rank: packs[rank::world_size]",
    ),
    (
        "ranks_miss_data", "warn", "strategy",
        "some packs are read by no rank",
        "Packs are left out of the epoch.",
        "check drop_last and the sampler's length",
    ),
    (
        "ranks_uneven", "warn", "strategy",
        "ranks have different numbers of packs",
        "The rank with more packs waits for the others and the run hangs at the end of the epoch.",
        "pad or drop so that each rank gets the same number",
    ),
)
