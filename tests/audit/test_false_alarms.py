"""What is right is not called wrong: thousands of correct batches, in every form."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib import Batch, audit, document_mask, pack_documents, per_document_shift
from course_lib.audit import audit_attention, audit_packing
from tests.audit.batches import correct, documents

EXAMPLES = int(os.environ.get("FALSE_ALARM_EXAMPLES", 400))
MANY = settings(max_examples=EXAMPLES, deadline=None, derandomize=True,
                suppress_health_check=list(HealthCheck))  # fmt: skip
SOME = settings(MANY, max_examples=EXAMPLES // 4)


def no_errors(report) -> None:
    assert report.ok, str(report)


@MANY
@given(correct())
def test_a_correct_batch(made):
    batch, options = made
    no_errors(audit(batch))
    no_errors(audit(batch, **options))


@MANY
@given(correct(), st.sampled_from(["padded", "packed", "dense", "flattened"]))
def test_a_correct_batch_in_the_forms_of_models(made, form):
    batch, options = made
    if not bool(batch.target_mask.any(1).all()):
        return  # a row without targets is reported, and rightly
    no_errors(audit(batch.to_dict(form), **options))


@SOME
@given(correct())
def test_a_correct_batch_as_lists_arrays_and_shifted(made):
    batch, options = made
    names = ("input_ids", "labels", "attention_mask", "document_ids")
    tensors = {name: getattr(batch, name) for name in names}
    if not bool(batch.target_mask.any(1).all()):
        return
    no_errors(audit({k: v.tolist() for k, v in tensors.items()}, **options))
    no_errors(audit({k: v.numpy().astype(np.int32) for k, v in tensors.items()}, **options))
    no_errors(audit(Batch.from_dict(tensors), **options))
    tensors["shift_labels"] = np.pad(batch.labels[:, 1:], ((0, 0), (0, 1)), constant_values=-100)
    declared = audit(tensors, **{"boundary": "A", **options})
    if "boundary" in options or not batch.document_ids.max():
        no_errors(declared)
    else:  # a prompt of one token passes for convention B, and only for that
        assert {f.code for f in declared.of("error")} <= {"boundary_target_missing"}, str(declared)


@SOME
@given(documents(), st.sampled_from([None, 4]))
def test_rows_of_documents_shifted_by_themselves(docs, eos):
    docs = [[7, *d, 8] for d in docs]  # where ends equal beginnings, it looks like a rolled row
    rows = per_document_shift(pack_documents(docs, 14, eos_id=eos))
    fields = {"input_ids": rows.input_ids, "labels": rows.targets,
              "document_ids": rows.document_ids}  # fmt: skip
    no_errors(audit(fields, loss_shifts=False, eos_token_id=eos, pad_token_id=0))


@SOME
@given(correct())
def test_a_document_mask(made):
    batch, _ = made
    no_errors(audit_attention(document_mask(batch), batch))


@SOME
@given(documents(), st.integers(3, 12), st.sampled_from(["next_fit", "best_fit_decreasing"]))
def test_packs_of_whole_documents(docs, more, strategy):
    capacity = max(map(len, docs)) + more
    batch = pack_documents(docs, capacity, strategy=strategy, eos_id=4)
    report = audit_packing(docs, batch, capacity, strategy=strategy, eos_token_id=4)
    assert not report.of("error") + report.of("warn"), str(report)


@SOME
@given(documents(), st.integers(2, 9), st.sampled_from(["concatenate", "split"]))
def test_packs_that_cut_and_lose_nothing(docs, capacity, how):
    rule = {"strategy": how} if how == "concatenate" else {"overlong": how}
    batch = pack_documents(docs, capacity, **rule)
    report = audit_packing(docs, batch, capacity, strategy=how)
    assert not report.of("error") + report.of("warn"), str(report)
