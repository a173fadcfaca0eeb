"""The questions of `QuickCheck`. What can be computed in them is computed here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from course_lib.boundaries import lengths_from_position_ids
from course_lib.loss import LossSum, reduce_losses, shift
from course_lib.masks import document_mask
from course_lib.packing import pack_documents
from course_lib.packing.costs import compare_costs
from course_lib.padding import pad_documents
from course_lib.vocabulary import EOS, encode, token_name


@dataclass(frozen=True)
class Option:
    """One answer: its text, why it is right or wrong, and the misconception ("" if right)."""

    text: str
    why: str
    misconception: str = ""


@dataclass(frozen=True)
class Question:
    """A question and its options, exactly one of them right."""

    text: str
    options: tuple[Option, ...]


_FIRST, _SECOND = (1.0, 3.0), (1.0,) * 5  # the losses that the course begins with, in nats


def _global_mean() -> Question:
    targets, slots = len(_FIRST) + len(_SECOND), len(_FIRST) + len(_SECOND) + 1
    total = sum(_FIRST + _SECOND)
    means = [sum(s) / len(s) for s in (_FIRST, _SECOND)]
    return Question(
        f"One sequence has {len(_FIRST)} target losses, 1 and 3 nats; another has {len(_SECOND)} "
        f"of 1 nat each. They share a row with {slots} predictions, one of them without a target. "
        "The objective is the mean over all tokens that are learned. What is the denominator?",
        (
            Option(
                "2, the number of sequences",
                f"That averages the two means: ({means[0]:g} + {means[1]:g}) / 2 = "
                f"{sum(means) / 2:g}. The short sequence gets as much weight as the long one.",
                "A batch of sequences is averaged by sequence, whatever their lengths.",
            ),
            Option(
                f"{slots}, the number of predictions",
                f"{total:g} / {slots} = {total / slots:g}. The prediction without a target adds no "
                "loss but is counted, so the loss looks better than it is.",
                "The shape of the tensor is the denominator.",
            ),
            Option(
                f"{targets}, the number of targets",
                f"{total:g} / {targets} = {total / targets:.3f}. Each learned token weighs the "
                "same, and packing does not change it.",
            ),
        ),
    )


def _shift() -> Question:
    ids = torch.tensor([encode("a b c a")])
    _, targets = shift(torch.zeros(*ids.shape, 7), ids)
    n, first, later = targets.numel(), *(token_name(t) for t in targets[0, :2])
    return Question(
        "The row `a b c a` goes through the model. How many predictions does the loss score, and "
        "on which token is the prediction at position 0 scored?",
        (
            Option(
                f"{n + 1}, and position 0 on `a`",
                "Position 0 has read `a`; scored on it, it learns to copy. And nothing in the row "
                "follows the last token.",
                "A label belongs to the prediction of its own column (the missing shift).",
            ),
            Option(
                f"{n}, and position 0 on `{first}`",
                f"It has read `a` and has to say what comes next. The last of the {n + 1} "
                "predictions has no token to be scored on.",
            ),
            Option(
                f"{n - 1}, and position 0 on `{later}`",
                f"That skips a token: `{first}` is never asked for at position 0.",
                "The collator shifts, and the loss shifts as well (the double shift).",
            ),
        ),
    )


def _padding() -> Question:
    batch = pad_documents([encode("a a")], length=5)
    pads = int((batch.attention_mask[:, 1:] == 0).sum())
    return Question(
        "`a a` is padded to 5 slots. The attention mask is 0 on padding, and the labels are a "
        "plain copy of the input ids. What happens?",
        (
            Option(
                "All is well: masked slots do not count",
                "The attention mask hides keys in the forward pass. The loss never looks at it.",
                "One mask guards the forward pass and the loss.",
            ),
            Option(
                f"{pads} extra targets ask for padding",
                f"The loss has {batch.num_targets + pads} targets instead of {batch.num_targets}, "
                "and most of them teach the model to write padding.",
            ),
            Option(
                "Real tokens attend to padding",
                "The attention mask prevents exactly that. Labels have no say in attention.",
                "Labels of -100 are what keeps padding out of attention.",
            ),
        ),
    )


def _targets() -> Question:
    document = encode("<user> a <assistant> b <eos>")
    right = pad_documents([document], prompt_lengths=[3]).num_targets
    everything = pad_documents([document]).num_targets
    return Question(
        "A row holds `<user> a <assistant> b <eos>`. Only the answer is to be learned. How many "
        "targets are there?",
        (
            Option(
                f"{right - 1}",
                "The EOS is missing. The model writes it, too; without it, no answer ever ends.",
                "EOS is a kind of padding.",
            ),
            Option(
                f"{right}",
                "The answer `b` and its EOS. The prompt is given, and its labels are -100.",
            ),
            Option(
                f"{everything}",
                "These are all predictions of the row; some of them would train the prompt.",
                "Whatever stands in the row is trained.",
            ),
        ),
    )


def _packing() -> Question:
    batch = pack_documents([encode("a b c"), encode("a a")], 8, eos_id=EOS, boundary="A")
    allowed = bool(document_mask(batch)[0, 4, 3])
    label = int(batch.labels[0, 4])
    assert not allowed and label == 1
    return Question(
        "In the row `a b c <eos> a a <eos> <pad>`, documents must not see each other, and the "
        "boundary convention is A. May the query in slot 4 attend to the EOS in slot 3, and what "
        "is the label of slot 4?",
        (
            Option(
                "It may: EOS keeps documents apart by itself",
                "EOS is a token like any other. Attention reads through it unless a mask says no.",
                "A separator token isolates documents.",
            ),
            Option(
                f"It may not, and the label is {label}",
                "Who may look at whom is decided by the mask, which slots are scored by the "
                "labels. A keeps this target although its prediction, in slot 3, knows nothing of "
                "the second document.",
            ),
            Option(
                "It may not, and so the label is -100",
                "That is convention B. The mask can isolate documents under A as well as under B.",
                "Isolation of attention and the boundary target are one choice.",
            ),
        ),
    )


def _denominators() -> Question:
    pairs = [LossSum(sum(losses), len(losses)) for losses in (_FIRST, _SECOND)]
    of_means = sum(p.mean for p in pairs) / len(pairs)
    mean = sum(pairs).mean
    losses = torch.tensor([[*_FIRST, 0, 0, 0], [*_SECOND]])
    real = torch.tensor([[True, True, False, False, False], [True] * 5])
    slot = float(reduce_losses(losses, real, "slot"))
    return Question(
        "Two micro-batches of one step: the first holds the losses 1 and 3, the second five times "
        "1, all in nats. Which number is the loss of the whole step?",
        (
            Option(
                f"{of_means:.3f}",
                "This averages two means, as if both micro-batches held equally many targets.",
                "The mean of the micro-batch means is the mean of the batch.",
            ),
            Option(
                f"{mean:.3f}",
                "Sums and counts are added, and the division comes once, at the end: "
                f"{sum(pairs).total:g} / {sum(pairs).count}.",
            ),
            Option(
                f"{slot:.3f}",
                f"This divides by all {losses.numel()} predictions of two padded rows.",
                "Slots without a target count as losses of 0.",
            ),
        ),
    )


def _failures() -> Question:
    secret = math.log(3)  # one of three letters, unknown to an honest model
    alone, leaked = secret / 3, secret / 12
    return Question(
        "All documents of a row share one random letter; each asks for it once among 3 targets, "
        f"so no honest model gets below ln 3 / 3 = {alone:.3f} nats a target. Four documents are "
        f"packed in a row, and the training loss falls to {leaked:.3f}. On separate documents it "
        f"stays at {alone:.3f}. What happened?",
        (
            Option(
                "The model learned the language better than expected",
                "The floor is a fact about the language. A loss below it says that the model saw "
                "more than it should.",
                "A lower loss is a better model.",
            ),
            Option(
                "Documents see each other",
                f"Only the first document has to guess: ln 3 / 12 = {leaked:.3f}. The others read "
                "the letter in front of them. The document mask is missing.",
            ),
            Option(
                "Labels are shifted twice",
                "Then separate documents would show it as well, with a loss far above the floor.",
                "Any odd loss is a shift error.",
            ),
        ),
    )


def _audit() -> Question:
    found = lengths_from_position_ids(list(range(8)))
    return Question(
        "A batch from somebody else: `attention_mask` is all ones, `position_ids` runs from 0 to 7 "
        "and some tokens are EOS. Where do its documents begin?",
        (
            Option(
                "There is one document: nothing says otherwise",
                f"Read literally, the positions give lengths {found}. But a collator that never "
                "resets positions writes the same numbers for any row.",
                "What is not marked is not there.",
            ),
            Option(
                "After each EOS",
                "Often, but an EOS can stand inside a document (turns of a dialogue), and a cut "
                "document has none.",
                "EOS and document boundary are the same thing.",
            ),
            Option(
                "The batch cannot say; lengths or document ids are needed",
                "So an honest audit reports isolation as not checked, and names what it would need "
                "to check it.",
            ),
        ),
    )


def _decision() -> Question:
    costs = compare_costs([512] * 1_000, 2048)
    padded, packed = costs["batch"], costs["best_fit_decreasing"]
    assert padded.slots == packed.slots == costs.tokens
    times = packed.dense // padded.dense
    return Question(
        "Every document has 512 tokens. Padded to 2,048 slots, only "
        f"{costs.utilization('fixed'):.0%} of the slots hold tokens. You pack them in rows of "
        "2,048 instead, behind a dense mask. What do you gain over padding to the longest of each "
        "batch?",
        (
            Option(
                f"{1 - costs.utilization('fixed'):.0%} of the slots",
                "That is the gain over a fixed length of 2,048. Padded to the longest of its "
                "batch, none of these documents needs a single slot of padding.",
                "Waste belongs to the documents, not to the length that they are padded to.",
            ),
            Option(
                f"No slot, and attention computes {times} times as many pairs",
                f"{times} documents share a row, and a dense mask computes the full square of it: "
                f"2,048² is {times} times {times} · 512².",
            ),
            Option(
                f"No slot, but attention computes {times} times fewer pairs",
                f"There are {times} times fewer rows, but each costs {times**2} times as many "
                "pairs as a document by itself.",
                "Fewer rows are less attention.",
            ),
        ),
    )


QUESTIONS: dict[str, Callable[[], Question]] = {
    "global-mean": _global_mean,
    "shift": _shift,
    "padding": _padding,
    "targets": _targets,
    "packing": _packing,
    "denominators": _denominators,
    "failures": _failures,
    "audit": _audit,
    "decision": _decision,
}
