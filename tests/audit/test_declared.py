"""What keeps documents apart for the model that was named, and the convention that was declared."""

from __future__ import annotations

import pytest

from course_lib.audit import audit, explain

IDS = [[5, 6, 2, 7, 8, 9, 2]]
B_LABELS = [[-100, 6, 2, -100, 8, 9, 2]]
POSITIONS = {"position_ids": [[0, 1, 2, 0, 1, 2, 3]]}
ONES = {"attention_mask": [[1] * 7]}
VARLEN = {
    "cu_seq_lens_q": [0, 3, 7],
    "seq_idx": [[0, 0, 0, 1, 1, 1, 1]],
    "seq_lengths": [[3, 4]],
    "document_ids": [[0, 0, 0, 1, 1, 1, 1]],
}
PACK = {"input_ids": IDS, "labels": B_LABELS}


def found(fields, **options):
    report = audit({**PACK, **fields}, eos_token_id=2, **options)
    return [(f.code, f.severity, f.where) for f in report.findings]


LEAK = [("no_document_mask", "warn", ((0, 3),))]


@pytest.mark.parametrize("kind", ["sdpa", "eager", "flex_attention"])
@pytest.mark.parametrize("name", VARLEN)
def test_a_field_that_sdpa_and_eager_do_not_read_keeps_no_documents_apart(name, kind):
    alone = {name: VARLEN[name]}
    assert found(alone, attn_implementation=kind) == LEAK
    assert found({**alone, **POSITIONS, **ONES}, attn_implementation=kind) == LEAK
    assert found({**alone, **POSITIONS}, attn_implementation=kind) == []


@pytest.mark.parametrize("name", VARLEN)
def test_a_varlen_kernel_reads_what_the_others_do_not(name):
    both = {name: VARLEN[name], **POSITIONS, **ONES}
    assert found(both, attn_implementation="flash_attention_2") == []


@pytest.mark.parametrize("name", VARLEN)
def test_of_these_fields_a_varlen_kernel_reads_cumulative_lengths(name):
    wanted = [] if name == "cu_seq_lens_q" else LEAK
    assert found({name: VARLEN[name]}, attn_implementation="flash_attention_2") == wanted


@pytest.mark.parametrize("name", VARLEN)
def test_under_unknown_attention_a_report_says_what_it_depends_on(name):
    report = audit({**PACK, name: VARLEN[name]}, eos_token_id=2)
    lines = [str(n) for n in report.not_checked if "no_document_mask" in n.what]
    assert report.codes == [] and len(lines) == 1 and "attn_implementation" in lines[0]
    masked = audit({**PACK, name: VARLEN[name], **POSITIONS, **ONES}, eos_token_id=2)
    assert [(f.code, f.severity) for f in masked.findings] == [("no_document_mask", "info")]
    assert "attn_implementation" in masked.findings[0].sentence


def test_the_way_out_of_a_leak_names_the_mask_and_the_cache():
    said = " ".join(explain("no_document_mask").split())
    assert "remove attention_mask" in said and "use_cache=False" in said


def test_without_boundaries_and_eos_the_report_says_what_it_did_not_look_at():
    report = audit({"input_ids": IDS, "labels": IDS})
    (line,) = [n for n in report.not_checked if "no_document_mask" in n.what]
    assert "boundary_target" in line.what and "eos_token_id" in line.needs
    named = audit({"input_ids": IDS, "labels": IDS}, eos_token_id=2)
    assert not any("no_document_mask" in n.what for n in named.not_checked)


@pytest.mark.parametrize("declared", ["A", "a"])
@pytest.mark.parametrize("name", [*VARLEN, "position_ids"])
def test_b_under_a_declared_a_is_an_error(name, declared):
    report = audit({**PACK, name: {**VARLEN, **POSITIONS}[name]}, boundary=declared)
    (hit,) = report.of("error")
    assert hit.code == "boundary_target_missing" and hit.where == ((0, 3),)
    assert hit.expected == [7] and "convention B" in hit.sentence


@pytest.mark.parametrize("name", [*VARLEN, "position_ids"])
def test_a_under_a_declared_b_is_an_error(name):
    fields = {"input_ids": IDS, "labels": IDS, name: {**VARLEN, **POSITIONS}[name]}
    (hit,) = audit(fields, boundary="B").of("error")
    assert hit.code == "boundary_target" and hit.where == ((0, 3),)


@pytest.mark.parametrize(
    ("labels", "declared", "code"),
    [(B_LABELS, "A", "boundary_target_missing"), (IDS, "B", "boundary_target")],
)
def test_where_only_eos_shows_boundaries_the_other_convention_is_a_warning(labels, declared, code):
    report = audit({"input_ids": IDS, "labels": labels}, boundary=declared, eos_token_id=2)
    (hit,) = report.of("warn")
    assert (hit.code, hit.where) == (code, ((0, 3),)) and "EOS" in hit.sentence


@pytest.mark.parametrize(("labels", "declared"), [(B_LABELS, "B"), (IDS, "A")])
@pytest.mark.parametrize("fields", [{}, POSITIONS])
def test_the_declared_convention_is_no_finding(labels, declared, fields):
    report = audit(
        {"input_ids": IDS, "labels": labels, **fields}, boundary=declared, eos_token_id=2
    )
    assert not {"boundary_target", "boundary_target_missing"} & set(report.codes), str(report)


def test_a_masked_prompt_at_the_start_of_a_document_is_not_convention_b():
    prompt = [[5, 6, 2, -100, -100, 9, 2]]
    report = audit({"input_ids": IDS, "labels": prompt, **POSITIONS}, boundary="A")
    assert report.ok, str(report)
    one = {"input_ids": IDS, "labels": B_LABELS, **POSITIONS}
    assert not audit(one, boundary="A").ok
    assert audit(one, boundary="A", prompt_lengths=[1, 1]).ok


def test_a_declared_convention_without_boundaries_is_listed_as_not_checked():
    report = audit({"input_ids": IDS, "labels": IDS}, boundary="B")
    assert any("boundary_target" in n.what and "eos_token_id" in n.needs
               for n in report.not_checked)  # fmt: skip
