"""What people believe when they give a certain wrong answer: one text for each, by id.

An exercise names those that it can tell apart; each comes with a small wrong model there. `chapter`
is where the idea is explained, 0 for the exercise's own chapter.
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
        "labels that are the inputs themselves, not a copy. Masking them destroys the input ids "
        "that the model still has to read. Start from a clone.",
        3,
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
    "always_fine": Misconception("every batch called clean.", 2),
    "loss_shift_is_the_fault": Misconception(
        "every loss that shifts called a fault. One shift in the loss is the rule.", 2
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
        "True written for 'masked'. Here, and in PyTorch's attention, True means 'may attend'.", 3
    ),
    "upper_triangle": Misconception(
        "the upper triangle used: every query sees the future and not the past.", 3
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
}
