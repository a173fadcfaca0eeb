"""The traces by which faults are known show on no clean batch, and tell two losses apart."""

from itertools import product

import pytest
import torch

from course_lib import pack_documents, pad_documents
from course_lib.exercises.hunt import CAPACITY, COLLATORS, SETS
from course_lib.exercises.lab05 import TRACES

RUNS = list(product(SETS, (0, 4)))


def as_mapping(batch):
    names = ("input_ids", "attention_mask", "labels")
    found = {name: getattr(batch, name) for name in names}
    return found | {
        "position_ids": batch.model_position_ids,
        "num_items_in_batch": batch.num_targets,
    }


def padded(documents, pad_id):
    return as_mapping(pad_documents(documents, pad_id=pad_id))


def padded_counting_on(documents, pad_id):
    """Positions that run on over padding, as torch.arange gives them."""
    out = padded(documents, pad_id)
    return out | {"position_ids": torch.arange(out["labels"].shape[1]).expand_as(out["labels"])}


def packed(documents, pad_id):
    batch = pack_documents(documents, CAPACITY, pad_id=pad_id)
    return as_mapping(batch) | {"document_ids": batch.document_ids}


@pytest.mark.parametrize("name, pad_id", RUNS)
@pytest.mark.parametrize("collate", [padded, padded_counting_on, packed])
@pytest.mark.parametrize("word", TRACES)
def test_no_trace_shows_on_a_clean_batch(name, pad_id, collate, word):
    documents = [d for d in SETS[name][0] if len(d) <= CAPACITY]
    assert not TRACES[word](collate(documents, pad_id), documents, pad_id)


def test_cut_answers_are_not_taken_for_lost_tokens():
    for name, pad_id in RUNS:
        documents, prompts = SETS[name]
        out = COLLATORS["F"](documents, prompts, pad_id)
        assert not TRACES["the last tokens are lost"](out, documents, pad_id)
