"""The set-ups of `SpotTheBug`: in `[[…]]` an error, in `{{…}}` words that only look like one.

Each carries evidence that `course_lib` computes on a row that fits in the head.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from course_lib.loss import shift
from course_lib.masks import causal_mask, document_mask
from course_lib.packing import pack_documents
from course_lib.padding import pad_documents
from course_lib.vocabulary import EOS, IGNORE_INDEX, encode, token_name


@dataclass(frozen=True)
class Error:
    """One fault: its name, what it does, why the loss curve hides it, the way out."""

    name: str
    what: str
    hides: str
    fix: str


@dataclass(frozen=True)
class SetUp:
    """A text with marked words, an `Error` for each [[…]] and a sentence for each {{…}}."""

    title: str
    text: str
    errors: tuple[Error, ...]
    fine: tuple[str, ...]
    hints: tuple[str, ...]
    evidence: Callable[[], str]


def _crossing() -> str:
    batch = pack_documents([encode("a b c"), encode("a a")], 8, eos_id=EOS)
    real = batch.attention_mask[0].bool()
    seen = causal_mask(8) & real[:, None] & real[None, :]
    across = int((seen & ~document_mask(batch)[0]).sum())
    return (
        f"In a row of 8 with documents of 4 and 3 tokens, {across} of the {int(seen.sum())} "
        "visible pairs of query and key cross the boundary."
    )


def _scored() -> str:
    documents = [encode("<user> a <assistant> b <eos>")]
    right = pad_documents(documents, length=8, prompt_lengths=[3])
    wrong = right.input_ids.shape[1] - 1
    padding = int((right.attention_mask[:, 1:] == 0).sum())
    return (
        f"For `user a asst b eos` padded to 8 slots, {right.num_targets} targets are right. "
        f"This set-up scores {wrong}: {wrong - right.num_targets - padding} of the prompt and "
        f"{padding} of padding."
    )


def _skipped() -> str:
    ids = torch.tensor([encode("a b c a")])
    moved = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=IGNORE_INDEX)
    logits = torch.zeros(1, 4, 7)
    right, wrong = (shift(logits, labels)[1][0, 0] for labels in (ids, moved))
    return (
        "On the row `a b c a` the prediction at position 0 has seen `a` and should be scored on "
        f"`{token_name(right)}`. This set-up scores it on `{token_name(wrong)}`."
    )


def _erased() -> str:
    documents = [encode("a b c <eos>"), encode("a <eos>")]
    right = pad_documents(documents, pad_id=EOS)
    by_id = right.labels.masked_fill(right.input_ids == EOS, IGNORE_INDEX)
    ends = [int((labels[:, 1:] == EOS).sum()) for labels in (right.labels, by_id)]
    return (
        f"For `a b c eos` and `a eos` padded with EOS, masking by length keeps {ends[0]} EOS "
        f"targets of {right.num_targets}. Masking by id keeps {ends[1]}."
    )


SETUPS = {
    "no-document-mask": SetUp(
        "a packed pretraining run",
        """Short documents are joined, an EOS behind each, and fill rows of 2,048 slots.
        Position ids start again from 0 in each document. [[Every token may attend to all tokens
        before it in its row.]] {{The EOS token marks where a document ends.}} Slots that stay
        empty hold padding, and their labels are -100. {{The labels are a copy of the input ids,
        and the loss shifts them.}}""",
        (
            Error(
                "no document mask",
                "Tokens of a document read the documents in front of it. EOS is a token like any "
                "other; it closes no door. The model conditions on text that will not be there "
                "later.",
                "Neighbours in a row mostly have nothing to do with each other, so reading them "
                "changes the loss little. Where they do share something, the loss gets better, and "
                "nobody investigates that.",
                "Use a mask that is causal within each document, or a kernel that takes the "
                "boundaries (`cu_seqlens`).",
            ),
        ),
        (
            "EOS does mark the end, for the target and for whoever builds the mask; it is right "
            "to have it",
            "this is the convention: labels in place, one shift, made by the loss",
        ),
        (
            "Ask of each sentence: who may look at whom, which slots are scored, on what?",
            "Positions that restart separate nothing. What decides who looks at whom?",
        ),
        _crossing,
    ),
    "prompt-and-padding": SetUp(
        "fine-tuning on answers",
        """Each row is one conversation: a prompt, its answer, an EOS, padding up to 512 slots.
        {{The attention mask is 0 on padding}} and the mask is causal. Only answers are to be
        learned. The labels are a copy of the input ids, [[with the prompt tokens left in,]]
        [[and padding keeps its id as label.]] The loss shifts once, sums the token losses and
        {{divides by the number of labels that are not -100.}}""",
        (
            Error(
                "prompt in the loss",
                "The model is trained to write the questions of its users as well as the answers.",
                "Templates and common questions are easy to predict, so the mean falls, and it "
                "falls on tokens that nobody asked for.",
                "Set the labels of the first `prompt_lengths` tokens to -100.",
            ),
            Error(
                "padding in the loss",
                "Every padded slot is a target. The easiest thing to learn is to write padding.",
                "Padding follows padding without exception: those losses go to zero and pull the "
                "mean down with them.",
                "Set labels to -100 on padding, by length and not by id.",
            ),
        ),
        (
            "right: keys that are padding must not be seen. It guards the forward pass and says "
            "nothing about the loss",
            "right: this is the token mean, once the labels are right",
        ),
        (
            "The attention mask guards the forward pass. What guards the loss?",
            "There are two errors, and both are about labels.",
        ),
        _scored,
    ),
    "double-shift": SetUp(
        "a collator of one's own",
        """Rows are padded on the right to the longest of the batch. The attention mask is built
        from the lengths. [[The collator moves the labels one slot to the left, so that each label
        stands under its prediction.]] Labels on padding are -100. {{The model's loss compares
        logits[:, :-1] with labels[:, 1:].}} It divides the sum by the number of targets.""",
        (
            Error(
                "labels shifted in the collator",
                "The loss shifts them once more. Each prediction is scored on the token after the "
                "next one, which it cannot know.",
                "Nothing crashes and shapes agree. Where text is predictable two steps ahead, the "
                "loss falls as it should; it can even end lower than that of the right set-up.",
                "Leave labels in place. The loss makes the one shift.",
            ),
        ),
        ("this is the one shift that belongs here: the loss makes it",),
        (
            "Count the shifts between a token and the prediction that is scored on it.",
            "One place has to leave the shift to the other. The loss is the one that makes it.",
        ),
        _skipped,
    ),
    "eos-as-pad": SetUp(
        "a tokenizer without a pad token",
        """{{The tokenizer has no pad token, so padding is written with the id of EOS.}} Each
        document ends with an EOS of its own and is padded on the right. [[Wherever input_ids
        equals the pad id, the label becomes -100]] [[and the attention mask becomes 0.]] The
        labels are not shifted; the loss does that. The loss is a token mean.""",
        (
            Error(
                "EOS targets erased",
                "The real EOS of every document has the same id and loses its label, too. The "
                "model is never asked to stop.",
                "A target that is not there adds nothing to the sum and nothing to the count. "
                "The curve looks as always; generation runs on without an end.",
                "Mask labels by length: -100 behind the end of the document, whatever the id.",
            ),
            Error(
                "real EOS hidden from attention",
                "The EOS key of each document is switched off along with the padding.",
                "In a padded row almost nothing stands behind the EOS, so the loss hardly sees it; "
                "in a packed row or a dialogue of several turns it does harm.",
                "Build the attention mask from the lengths, before padding is written.",
            ),
        ),
        ("this is common and harmless in itself: what matters is how padding is found later",),
        (
            "Which tokens have the pad id although they are no padding?",
            "The same mistake is made twice: once for the loss, once for attention.",
        ),
        _erased,
    ),
}
