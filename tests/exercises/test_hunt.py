"""Each broken collator has its one fault, and the tools of the course name it."""

from itertools import product

import pytest
import torch

from course_lib.audit import audit, audit_packing
from course_lib.exercises.hunt import CAPACITY, COLLATORS, SETS
from course_lib.exercises.lab05 import FAULTS, WORDS
from course_lib.probes import probe_collator
from course_lib.vocabulary import ASSISTANT, USER

BY_AUDIT = {
    "A": "double_shift", "C": "eos_never_target", "D": "pad_target", "E": "positions_not_reset",
    "F": "row_without_targets", "H": "denominator_counts_unshifted",
}  # fmt: skip
BY_PACKING = {"G": "tokens_dropped", "F": "document_truncated"}
BY_PROBE = {"B": "may be attended to", "C": "EOS is not always", "D": "have a label other",
            "G": "tokens are lost"}  # fmt: skip
RUNS = list(product(SETS, (0, 4)))


def batch_of(letter, name, pad_id):
    batch = COLLATORS[letter](*SETS[name], pad_id)
    return batch, batch.pop("num_items_in_batch")


def found_by_audit(letter, name, pad_id):
    batch, count = batch_of(letter, name, pad_id)
    said = audit(batch, documents=SETS[name][0], pad_token_id=pad_id, eos_token_id=4, boundary="A",
                 denominator=count)  # fmt: skip
    return {f.code for f in said.findings if f.severity != "info"}


@pytest.mark.parametrize("letter", COLLATORS)
def test_the_audit_names_the_fault_and_no_other_on_some_documents(letter):
    codes = [found_by_audit(letter, *run) for run in RUNS]
    wanted = {BY_AUDIT[letter]} if letter in BY_AUDIT else set()
    assert set().union(*codes) - {"row_without_targets", "eos_missing"} == (
        wanted - {"row_without_targets"}
    )
    assert wanted in codes


@pytest.mark.parametrize("letter", [letter for letter in COLLATORS if letter != "B"])
def test_what_is_lost_is_found_by_the_audit_of_packings(letter):
    codes = set()  # B's mask does not say what is real
    for name, pad_id in RUNS:
        documents = SETS[name][0]
        if max(map(len, documents)) > CAPACITY and letter not in BY_PACKING:
            continue  # these shorten what is too long, as they should
        batch, _ = batch_of(letter, name, pad_id)
        real = batch["attention_mask"] > 0
        packs = [ids[r].tolist() for ids, r in zip(batch["input_ids"], real, strict=True)]
        strategy = "concatenate" if letter == "G" else None
        said = audit_packing(documents, packs, CAPACITY, pad_token_id=pad_id, strategy=strategy)
        codes |= set(said.codes)
    codes -= {"more_rows_than_needed", "document_split"}
    assert codes == ({BY_PACKING[letter]} if letter in BY_PACKING else set())


@pytest.mark.parametrize("letter", COLLATORS)
def test_the_probe_names_what_a_probe_can_see(letter):
    faults = []
    for pad_id in (0, 4):
        def collate(features, pad_id=pad_id):
            documents = [f["input_ids"] for f in features]
            return COLLATORS[letter](documents, [0] * len(documents), pad_id)

        faults += probe_collator(collate, eos_id=4).faults
    assert bool(faults) == (letter in BY_PROBE)
    assert all(BY_PROBE[letter] in fault for fault in faults)


@pytest.mark.parametrize("name, pad_id", RUNS)
@pytest.mark.parametrize("letter", COLLATORS)
def test_no_collator_trains_on_prompts(letter, name, pad_id):
    labels = batch_of(letter, name, pad_id)[0]["labels"]
    assert not torch.isin(labels, torch.tensor([USER, ASSISTANT])).any()


@pytest.mark.parametrize("name, pad_id", RUNS)
def test_e_packs_as_many_documents_as_have_room(name, pad_id):
    batch, _ = batch_of("E", name, pad_id)
    fills = batch["attention_mask"].sum(1).tolist()
    assert batch["input_ids"].shape[1] == CAPACITY and min(fills) > 0
    firsts = [int((ids == 0).sum()) for ids in batch["document_ids"]]
    for fill, following in zip(fills, firsts[1:], strict=False):
        assert fill + following > CAPACITY


def test_each_collator_can_be_named_and_some_words_are_wrong():
    assert set(FAULTS) == set(COLLATORS) == set("ABCDEFGH")
    assert set(FAULTS.values()) < set(WORDS) and len(WORDS) == 12
    assert {*BY_AUDIT, *BY_PACKING, *BY_PROBE} == set(COLLATORS)
