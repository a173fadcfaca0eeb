"""torchtune and megatron-core, as they install beside us: their conventions today."""

from __future__ import annotations

import pytest
import torch
from megatron.core.datasets.gpt_dataset import _get_ltor_masks_and_position_ids
from torchtune.datasets import PackedDataset

import course_lib
from course_lib import document_mask, pack_documents
from course_lib.audit import audit_attention, audit_packing

DOCUMENTS = [[5, 6, 1], [7, 8, 9, 1], [10, 1]]


def changed(system: str, what: str) -> str:
    return f"{system}: {what} is new. Change the row '{system}' of the table of systems."


class TestTorchtune:
    """0.6.1: next-fit in order, labels as they come (A), pads as one more document."""

    @pytest.fixture(scope="class")
    def rows(self) -> list[dict[str, torch.Tensor]]:
        data = [{"tokens": d, "labels": d} for d in DOCUMENTS]
        return list(PackedDataset(data, max_seq_len=8))

    def test_rows_are_those_of_next_fit(self, rows):
        ours = pack_documents(DOCUMENTS, 8, strategy="next_fit")
        assert [r["tokens"].tolist() for r in rows] == ours.input_ids.tolist(), changed(
            "torchtune", "the packing"
        )

    def test_the_boundary_is_a_target(self, rows):
        assert rows[0]["labels"].tolist() == [5, 6, 1, 7, 8, 9, 1, -100], changed(
            "torchtune", "convention B"
        )
        report = course_lib.audit(self.fields(rows[0]), eos_token_id=1, pad_token_id=0)
        assert report.ok and "boundary_target" in report.codes
        declared = course_lib.audit(self.fields(rows[0]), boundary="B", pad_token_id=0)
        assert declared.codes == ["boundary_target"] and not declared.ok
        assert course_lib.audit(self.fields(rows[0]), boundary="A", pad_token_id=0).codes == []

    def test_padding_is_a_document_of_its_own(self, rows):
        assert rows[0]["seq_lens"].tolist() == [3, 4, 1], changed("torchtune", "padding")

    @staticmethod
    def fields(row: dict[str, torch.Tensor]) -> dict[str, list]:
        return {"input_ids": [row["tokens"].tolist()], "labels": [row["labels"].tolist()],
                "input_pos": [row["input_pos"].tolist()],
                "seq_lens": [row["seq_lens"].tolist()]}  # fmt: skip

    def test_nothing_is_lost(self, rows):
        kept = [[t for t in r["tokens"].tolist() if t] for r in rows]
        report = audit_packing(DOCUMENTS, kept, 8, strategy="next_fit")
        assert report.ok and not report.of("warn"), str(report)


class TestMegatron:
    """0.16.1: three switches by the id that ends a document; True means masked."""

    ROW = torch.tensor([5, 6, 0, 7, 8, 0, 9])

    def made(self, reset: bool) -> tuple[torch.Tensor, ...]:
        return _get_ltor_masks_and_position_ids(self.ROW, 0, reset, reset, reset, True)

    def test_true_means_masked(self):
        mask = self.made(True)[0][0]
        ids = torch.tensor([0, 0, 0, 1, 1, 1, 2])
        assert torch.equal(~mask, document_mask(ids)), changed("megatron-core", "the polarity")
        assert audit_attention(mask, ids[None]).codes[0] == "mask_inverted"
        assert audit_attention(~mask, ids[None]).codes == []

    def test_the_loss_mask_covers_the_position_that_reads_the_end(self):
        loss_mask = self.made(True)[1]
        said = changed("megatron-core", "eod_mask_loss")
        assert loss_mask.tolist() == [1, 1, 0, 1, 1, 0, 1], said
        fields = {"input_ids": self.ROW[None], "loss_mask": loss_mask[None],
                  "labels": [[6, 0, 7, 8, 0, 9, 10]],
                  "position_ids": self.made(True)[2][None]}  # fmt: skip
        report = course_lib.audit(fields, loss_shifts=False, eos_token_id=0, boundary="B")
        assert report.codes == [], str(report)

    def test_by_default_documents_share_the_row(self):
        mask, loss_mask, positions = self.made(False)
        assert positions.tolist() == list(range(7)), changed("megatron-core", "positions")
        assert loss_mask.all()
        report = course_lib.audit(
            {"input_ids": self.ROW[None], "labels": [[6, 0, 7, 8, 0, 9, 10]],
             "position_ids": positions[None]}, loss_shifts=False, eos_token_id=0,
        )  # fmt: skip
        assert report.ok and report.codes == ["no_document_mask"], str(report)
