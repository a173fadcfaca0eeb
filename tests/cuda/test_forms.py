"""A batch on a GPU: its forms stay there, are read back from there, and so do masks of turns."""

from __future__ import annotations

import pytest
import torch

from course_lib import Batch, answer_slots, pack_documents
from course_lib.batch import TENSORS
from course_lib.exchange import FORMS

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a GPU, and torch finds none"
)
BATCH = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4, boundary="B")


@pytest.mark.parametrize("form", FORMS)
def test_a_form_stays_on_the_gpu_and_is_read_from_there(form):
    there, here = BATCH.to("cuda").to_dict(form), BATCH.to_dict(form)
    for name, value in there.items():
        if isinstance(value, torch.Tensor):
            assert value.is_cuda and torch.equal(value.cpu(), here[name]), name
    back, same = Batch.from_dict(there, form), Batch.from_dict(here, form)
    for name in TENSORS:
        assert torch.equal(getattr(back, name).cpu(), getattr(same, name)), name


def test_answers_are_found_on_the_gpu():
    ids = BATCH.document_ids
    turns = [[[2, 2], [1, 2]]]
    found = answer_slots(ids.cuda(), turns)
    assert found.is_cuda and torch.equal(found.cpu(), answer_slots(ids, turns))
