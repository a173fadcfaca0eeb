"""A report reads in a terminal, in a notebook and by a program."""

from __future__ import annotations

import json
import re

import pytest

import course_lib
from course_lib import pad_documents
from course_lib.audit import AuditError, audit, audit_dataloader

FAULTY = {
    "input_ids": [[5, 6, 2, 0, 0], [7, 8, 9, 10, 2]],
    "labels": [[5, 6, 2, 0, 0], [7, 8, 9, 10, 2]],
    "attention_mask": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]],
}


def test_text_fits_in_eighty_columns_and_says_all():
    text = str(audit(FAULTY, eos_token_id=2))
    assert max(map(len, text.splitlines())) <= 80
    head = "error pad_target (0, 3) (0, 4)"
    for part in (head, "expected", "found", "way out", "book/03_padding"):
        assert part in text
    assert "not checked" in text and "vocab_size" in text


def test_what_is_given_is_not_called_unchecked():
    named = " ".join(n.needs for n in audit(FAULTY, eos_token_id=2, vocab_size=20).not_checked)
    assert "vocab_size" not in named and "eos_token_id" not in named and "position_ids" in named


def test_json_holds_the_finding():
    plain = json.loads(audit(FAULTY).to_json())
    assert not plain["ok"] and plain["targets"] == 8
    (found,) = plain["findings"]
    assert found["code"] == "pad_target" and found["where"] == [[0, 3], [0, 4]]
    assert found["severity"] == "error" and found["expected"] == [-100, -100]
    assert {"what", "needs"} == set(plain["not_checked"][0])


def test_errors_can_be_raised_and_clean_reports_pass_through():
    with pytest.raises(AuditError, match="pad_target"):
        audit(FAULTY).raise_for_errors()
    clean = audit(pad_documents([[1, 2], [1, 2, 3]]))
    assert clean.raise_for_errors() is clean and clean.ok and clean.codes == []


def test_a_warning_is_no_error():
    report = audit({**FAULTY, "labels": [[5, 6, 2, -100, -100], [7, 8, 9, 10, 2]],
                    "position_ids": [[0, 1, 2, 0, 0], [0, 1, 0, 1, 2]]})  # fmt: skip
    assert report.ok and [f.code for f in report.of("warn")] == ["no_document_mask"]


def test_html_marks_the_cells_at_fault_with_text_and_scopes_its_headers():
    html = audit(FAULTY)._repr_html_()
    marked = re.findall(r"<td style=\"[^\"]*bold\">([^<]*) <span[^>]*>⚠</span></td>", html)
    assert marked == ["0", "0"]
    heads = re.findall(r"<th\b[^>]*>", html)
    assert heads and all("scope=" in h for h in heads)
    assert html.count("<caption>") == 2 and "pad_target" in html
    assert "<script" not in html


def test_html_escapes_what_it_was_given():
    from course_lib.audit.report import Report

    assert "<b>" not in Report("<b>x</b>")._repr_html_()


def test_a_long_row_is_drawn_around_its_fault():
    n = 500
    labels = list(range(5, 5 + n))
    labels[400] = 7
    report = audit({"input_ids": [list(range(5, 5 + n))], "labels": [labels]})
    (strip,) = report.strips
    assert strip.first < 400 < strip.first + 24 and strip.marked == {"labels": [400]}


def test_the_package_is_a_function_too():
    assert course_lib.audit(FAULTY).codes == audit(FAULTY).codes == ["pad_target"]


def test_options_and_batches_are_checked():
    with pytest.raises(TypeError, match="audit does not know eos_id"):
        audit(FAULTY, eos_id=2)
    with pytest.raises(TypeError, match="a Batch or a mapping of tensors, got list"):
        audit([1, 2])
    with pytest.raises(TypeError, match="input_ids must hold numbers"):
        audit({"input_ids": [["a", "b"]]})
    with pytest.raises(ValueError, match="prompt_lengths has 1 entries for 2 documents"):
        audit(FAULTY, prompt_lengths=[1])


def test_a_loader_gives_one_report():
    clean = {**FAULTY, "labels": [[5, 6, 2, -100, -100], [7, 8, 9, 10, 2]]}
    seen = []

    def loader():
        for batch in (clean, FAULTY, FAULTY, clean):
            seen.append(batch)
            yield batch

    report = audit_dataloader(loader(), steps=3, progress=False, eos_token_id=2)
    assert len(seen) == 3 and report.subject == "3 batches, 22 targets"
    (found,) = report.findings
    assert found.where == ((1, 0, 3), (1, 0, 4), (2, 0, 3), (2, 0, 4)) and found.count == 4
    assert found.sentence.startswith("In 2 of 3 batches, first in batch 1:")
    assert report.strips[0].row == 0
    with pytest.raises(ValueError, match="no batch"):
        audit_dataloader([], progress=False)


def test_many_places_are_counted_and_cut():
    rows = [[5, 6, 2, 0]] * 2000
    report = audit({"input_ids": rows, "labels": rows, "attention_mask": [[1, 1, 1, 0]] * 2000})
    (found,) = report.findings
    assert found.count == 2000 and len(found.where) == 1000
    assert "and 1992 more" in " ".join(str(report).split())


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "no field of a batch is among nothing"),
        ({"inputids": [[1]]}, "Did you mean input_ids for inputids"),
        ({"input_ids": [[]]}, "input_ids has no elements"),
    ],
)
def test_what_is_no_batch_is_refused(mapping: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit(mapping)


def test_a_misspelt_field_is_listed() -> None:
    report = audit({"input_ids": [[1, 2]], "lables": [[1, 2]]})
    assert "the name labels" in str(report.not_checked[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boundary": "C"}, "boundary must be one of 'A', 'B'; got 'C'"),
        ({"attn_implementation": "foo"}, "attn_implementation must be one of"),
        ({"eos_token_id": -3}, "eos_token_id must be a token id, 0 or more; got -3"),
    ],
)
def test_options_are_held_to_their_values(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit({"input_ids": [[1, 2]]}, **options)


CUT = {"input_ids": [[5, 6, 7, 8]], "labels": [[5, 6, 7, 8]], "attention_mask": [[1] * 4]}
WHOLE = {**CUT, "input_ids": [[5, 6, 7, 2]], "labels": [[5, 6, 7, 2]]}


def test_a_missing_end_is_milder_where_other_batches_have_it():
    some = audit_dataloader([WHOLE, CUT, WHOLE], progress=False, eos_token_id=2)
    (hit,) = some.findings
    assert (hit.code, hit.severity) == ("eos_missing", "info")
    assert "truncated, or cut?" in hit.sentence and "In 1 of 3 batches" in hit.sentence
    none = audit_dataloader([CUT, CUT], progress=False, eos_token_id=2)
    assert [(f.code, f.severity) for f in none.findings] == [("eos_missing", "warn")]
    assert "cut?" not in none.findings[0].sentence


def test_ends_that_are_only_padding_stay_a_warning_where_other_batches_have_them():
    padded = {"input_ids": [[5, 6, 7, 2]], "labels": [[5, 6, 7, -100]],
              "attention_mask": [[1, 1, 1, 0]]}  # fmt: skip
    report = audit_dataloader([WHOLE, padded], progress=False, eos_token_id=2)
    assert [(f.code, f.severity) for f in report.findings] == [("eos_missing", "warn")]
    assert not audit_dataloader([padded], progress=False, eos_token_id=2).ok
