"""The same lengths through installed packers: TRL and the C++ packer lightbinpack."""

import datasets
import lightbinpack
import numpy as np
import pytest
import trl

from course_lib.packing import pack_lengths

CAPACITY = 512
LENGTHS = {
    "lognormal": np.random.default_rng(0).lognormal(5, 1, 1500).clip(1, CAPACITY).astype(int),
    "uniform": np.random.default_rng(1).integers(1, CAPACITY + 1, 1500),
    "long": np.random.default_rng(2).integers(CAPACITY // 4, CAPACITY // 2, 1500),
    "few": np.random.default_rng(3).choice([7, 100, 206, 300], 1500),
}


def trl_rows(lengths: np.ndarray, capacity: int, strategy: str) -> list[list[int]]:
    """What TRL makes of documents that are `lengths` long, packed all at once."""
    documents = [[i] * n for i, n in enumerate(lengths.tolist())]
    dataset = datasets.Dataset.from_dict({"input_ids": documents})
    packed = trl.pack_dataset(dataset, capacity, strategy, {"batch_size": len(documents)})
    return list(packed["input_ids"])


@pytest.mark.parametrize("name", LENGTHS)
def test_trl_best_fit_decreasing_has_the_same_rows_and_fills(name):
    lengths = LENGTHS[name]
    theirs = trl_rows(lengths, CAPACITY, "bfd")
    ours = pack_lengths(lengths, CAPACITY, "best_fit_decreasing")
    assert len(ours) == len(theirs)
    assert sorted(ours.fills.tolist()) == sorted(map(len, theirs))


@pytest.mark.parametrize("name", LENGTHS)
def test_trl_wrapped_cuts_where_concatenate_cuts(name):
    packing = pack_lengths(LENGTHS[name], CAPACITY, "concatenate")
    tokens = np.repeat(packing.order, packing.stops - packing.starts)
    ours = np.split(tokens, np.cumsum(packing.fills)[:-1])
    assert [row.tolist() for row in ours] == trl_rows(LENGTHS[name], CAPACITY, "wrapped")


@pytest.mark.parametrize(
    ("strategy", "theirs"),
    [("next_fit", "nf"), ("first_fit_decreasing", "ffd"), ("best_fit_decreasing", "bfd")],
)
@pytest.mark.parametrize("name", LENGTHS)
def test_lightbinpack_needs_as_many_rows(name, strategy, theirs):
    lengths = LENGTHS[name]
    rows = lightbinpack.pack(lengths.tolist(), CAPACITY, theirs)
    assert len(pack_lengths(lengths, CAPACITY, strategy)) == len(rows)
