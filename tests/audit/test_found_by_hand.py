"""Faults and false alarms that somebody found by trying to break the auditor."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course_lib import document_mask, pack_documents, per_document_shift
from course_lib.__main__ import main
from course_lib.audit import audit, audit_attention


@pytest.mark.parametrize("query", [1, 2, 3])
def test_padding_behind_a_real_query_is_seen(query: int) -> None:
    ids = torch.tensor([[0, 0, 1, 1, -1]])
    mask = document_mask(ids)
    mask[0, query, 4] = True
    assert "pad_key_visible" in audit_attention(mask, {"document_ids": ids.tolist()}).codes


def test_a_pattern_alone_is_enough() -> None:
    assert audit_attention(np.tril(np.ones((3, 3), bool))).ok


def test_bos_equal_to_eos_in_rows_shifted_by_document_is_no_alarm() -> None:
    rows = per_document_shift(pack_documents([[2, 11, 12, 2], [2, 14, 2]], 8))
    fields = {"input_ids": rows.input_ids, "document_ids": rows.document_ids}
    for name in ("labels", "shift_labels"):
        report = audit(
            {**fields, name: rows.targets}, loss_shifts=False, eos_token_id=2, boundary="B"
        )
        assert report.ok, str(report)


def test_an_empty_marker_is_refused() -> None:
    with pytest.raises(ValueError, match="the marker of assistant is empty"):
        audit(
            {"input_ids": [[1, 2, 3]], "labels": [[1, 2, 3]]},
            role_ids={"user": 1, "assistant": []},
        )
    with pytest.raises(ValueError, match="the marker of assistant is empty"):
        audit({"input_ids": [[1, 2]], "labels": [[1, 2]]}, response_template=[])


def test_a_numpy_id_is_an_id() -> None:
    plain = audit({"input_ids": [[5, 6]], "labels": [[5, 6]]}, eos_token_id=2)
    assert audit({"input_ids": [[5, 6]], "labels": [[5, 6]]}, eos_token_id=np.int64(2)) == plain


def test_hostile_files_end_with_one_line(tmp_path, capsys: pytest.CaptureFixture) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200_000 + "]" * 200_000)
    assert main(["audit", str(deep)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("name", ["cu_seqlens_k", "cu_seq_lens_k"])
def test_keys_with_other_boundaries_than_queries_are_seen(name: str) -> None:
    row = pack_documents([[5, 6, 7], [8, 9, 10]], 6, boundary="B").to_dict("flattened")
    del row["cu_seq_lens_k"]
    same = {**row, name: row["cu_seq_lens_q"]}
    assert audit(same).ok, str(audit(same))
    (found,) = audit({**row, name: torch.tensor([0, 2, 6], dtype=torch.int32)}).findings
    assert (found.code, found.where, found.severity) == ("boundaries_disagree", (name,), "error")
    (cached,) = audit({**row, name: [0, 5, 10]}).findings  # a prefix before each document
    assert (cached.code, cached.severity) == ("boundaries_disagree", "warn")


@pytest.mark.parametrize("name", ["max_length_k", "max_seqlen_k"])
def test_a_maximum_of_the_keys_that_is_too_small_is_seen(name: str) -> None:
    row = pack_documents([[5, 6, 7], [8, 9, 10]], 6, boundary="B").to_dict("flattened")
    del row["max_length_k"]
    assert audit({**row, name: 3}).ok
    (found,) = audit({**row, name: 2}).findings
    assert (found.code, found.where) == ("max_seqlen_wrong", (name,))
