"""Codes on numbers: denominators, means over parts, evaluation, shards of a sequence."""

from __future__ import annotations

# code, severity, chapter, title, explanation, way out
ENTRIES = (
    (
        "denominator_counts_unshifted", "error", "count",
        "the denominator counts labels before the shift",
        "The first label of a row is never a target. Counting labels instead of labels[:, 1:] "
        "makes the loss too small, by one for each row whose first label is not masked.",
        "count labels[:, 1:] != -100",
    ),
    (
        "denominator_counts_slots", "error", "count",
        "the denominator counts slots that are no targets",
        "The sum was divided by slots or tokens, targets or not, so the loss shrinks with padding "
        "and prompts.",
        "divide by the number of targets",
    ),
    (
        "denominator_wrong", "error", "count",
        "the denominator is not the number of targets",
        "It matches none of the counts that are known.",
        "divide by (labels[:, 1:] != -100).sum()",
    ),
    (
        "divided_twice", "error", "pair",
        "the loss was divided twice",
        "It was already divided by all targets of the window (or of all ranks) and then once more "
        "by the number of parts.",
        "divide once: sum of losses / number of targets over everything",
    ),
    (
        "not_divided", "error", "pair",
        "parts were added up without dividing",
        "The number is a sum where a mean was meant and grows with the number of parts.",
        "add sums and counts, divide at the end",
    ),
    (
        "weights_count_non_targets", "error", "pair",
        "means are weighted by tokens that are no targets",
        "Weights must count the tokens that produce loss, not all tokens of a part.",
        "weight by the number of targets, or keep (sum, count)",
    ),
    (
        "weights_count_rows", "error", "pair",
        "means are weighted by rows",
        "Rows have different numbers of targets, so this is no token mean.",
        "weight by the number of targets, or keep (sum, count)",
    ),
    (
        "mean_of_microbatch_means", "error", "pair",
        "a plain mean over micro-batches",
        "A micro-batch with few targets weighs as much as one with many; the result depends on how "
        "the batch is split.",
        "divide each sum by the number of targets of the whole window",
    ),
    (
        "mean_of_rank_means", "error", "pair",
        "a plain mean over ranks",
        "Each rank (or shard of a sequence) divides by its own targets and the quotients are "
        "averaged.",
        "all-reduce the count; scale local sums by world_size / global count",
    ),
    (
        "eval_mean_of_batch_means", "error", "pair",
        "evaluation averages the means of batches",
        "A batch with few targets weighs as much as one with many; the number changes with the "
        "batch size.",
        "add sums and counts over all batches, divide once",
    ),
    (
        "sequence_mean", "info", "pair",
        "the number is the mean of sequence means",
        "Each sequence counts once, whatever its length: a choice, and not the token mean.",
        "say which of the two is reported",
    ),
    (
        "pad_scored", "error", "pair",
        "the score includes padding",
        "A document scored alone gives another sum than in a batch: log-probabilities of padding "
        "were added.",
        "mask by the length of each document, one position before its end",
    ),
    (
        "running_total_divided", "error", "pair",
        "the running total is divided inside the loop",
        "Early batches are divided again and again and nearly vanish.",
        "add in the loop, divide behind it",
    ),
    (
        "one_part_reported", "error", "pair",
        "the number is that of one part",
        "Only the first or the last part was reported.",
        "add sums and counts over all parts",
    ),
    (
        "perplexity_averaged", "error", "pair",
        "perplexities were averaged",
        "The mean of exponentials is larger than the exponential of the mean.",
        "exponentiate once, at the end: exp(sum / count)",
    ),
    (
        "perplexity_base", "error", "pair",
        "loss and perplexity use different bases",
        "The loss is in nats (natural logarithm), so perplexity is exp(loss), not 2 ** loss.",
        "use exp with nats, 2 ** with bits",
    ),
    (
        "part_without_targets", "warn", "pair",
        "a part has no target",
        "Its own mean is 0/0. In a (sum, count) pair it does no harm.",
        "keep (0, 0) and divide at the end",
    ),
    (
        "loss_unexplained", "error", "pair",
        "the number is no known mean of these parts",
        "It equals none of the reductions that were tried.",
        "report sum and count beside the mean",
    ),
    (
        "shard_boundary_target_lost", "error", "pair",
        "the target at a cut between shards is lost",
        "Each shard shifted its own labels, so its last token has no target.",
        "shift on the whole sequence, then split",
    ),
    (
        "shard_target_wrong", "error", "pair",
        "a shard's target is not the next token of the sequence",
        "Targets must be taken from the whole sequence.",
        "shift on the whole sequence, then split",
    ),
    (
        "shard_tokens_lost", "error", "pair",
        "the shards are not the sequence",
        "Joined, the shards do not give the tokens that went in.",
        "split the sequence (padded to a multiple of the ranks) and nothing else",
    ),
)
