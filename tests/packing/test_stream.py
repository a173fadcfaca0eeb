"""`pack_stream`: every token once, from any source, again from any state, in bounded memory."""

import json
import tracemalloc
from itertools import islice

import datasets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.batch import Batch
from course_lib.packing import pack_lengths, pack_stream
from course_lib.packing.stream import PATIENCE

documents = st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=8), min_size=1, max_size=60)


def text(count: int, longest: int = 16, seed: int = 0) -> list[list[int]]:
    """Documents in which every token has a value of its own."""
    lengths = np.random.default_rng(seed).integers(1, longest + 1, count)
    ends = np.cumsum(lengths)
    return [list(range(end - n, end)) for n, end in zip(lengths, ends, strict=True)]


def read(stream) -> list[tuple]:
    return [(*row.input_ids.tolist(), *row.numbers.tolist()) for row in stream]


@settings(max_examples=60, deadline=None)
@given(docs=documents, buffer=st.integers(1, 20), overlong=st.sampled_from(["error", "split"]))
def test_every_token_is_in_one_row(docs, buffer, overlong):
    capacity = 8 if overlong == "error" else 3
    found: dict[int, dict[int, list[int]]] = {}
    for row in pack_stream(docs, capacity, buffer, overlong=overlong):
        assert row.input_ids.size == row.seq_lengths.sum() <= capacity
        pieces = np.split(row.input_ids, np.cumsum(row.seq_lengths)[:-1])
        for number, start, piece in zip(row.numbers, row.starts, pieces, strict=True):
            assert found.setdefault(number, {}).setdefault(start, piece.tolist()) is not None
            assert found[number][start] == piece.tolist()
    whole = {n: sum((p[start] for start in sorted(p)), []) for n, p in found.items()}
    assert whole == dict(enumerate(docs))


def test_no_document_comes_twice():
    numbers = [n for row in pack_stream(text(500), 16, 40) for n in row.numbers.tolist()]
    assert sorted(numbers) == list(range(500))


def test_a_buffer_for_all_documents_gives_the_rows_of_pack_lengths():
    docs = text(300)
    rows = {tuple(row.numbers.tolist()) for row in pack_stream(docs, 16, 301)}
    assert rows == {tuple(row) for row in pack_lengths([len(d) for d in docs], 16).to_lists()}


@pytest.mark.parametrize("longest", [16, 40])
@pytest.mark.parametrize("stop", [0, 1, 7, 50, 51, 119])
def test_a_stream_goes_on_from_its_state(stop, longest):
    """Through JSON, in another stream object, and with documents that are cut."""
    docs = text(300, longest)

    def make():
        return pack_stream(docs, 16, 50, overlong="split", eos_id=0)

    expected = read(make())
    first = make()
    rows = list(islice(first, stop))
    state = json.loads(json.dumps(first.state_dict()))
    second = make()
    second.load_state_dict(state)
    assert [(*r.input_ids.tolist(), *r.numbers.tolist()) for r in rows] + read(second) == expected
    whole = make()
    assert len(read(whole)) == len(expected) and second.report() == whole.report()


def test_the_state_of_a_finished_stream_gives_nothing_more_and_then_a_new_pass():
    stream = pack_stream(text(40), 16, 10)
    first = read(stream)
    stream.load_state_dict(stream.state_dict())
    assert read(stream) == []
    assert read(stream) == first


def test_the_state_holds_no_tokens_and_at_most_a_buffer_of_numbers():
    stream = pack_stream(text(5000), 16, 64)
    longest = max(len(json.dumps(stream.state_dict())) for _ in stream)
    assert longest < 64 * 25 + 300


@pytest.mark.parametrize("form", ["list", "generator", "mappings", "Dataset", "IterableDataset"])
def test_rows_do_not_depend_on_where_documents_come_from(form):
    docs = text(1300)
    dataset = datasets.Dataset.from_dict({"input_ids": docs, "other": list(range(1300))})
    source = {
        "list": docs,
        "generator": (d for d in docs),
        "mappings": [{"input_ids": d} for d in docs],
        "Dataset": dataset,
        "IterableDataset": dataset.to_iterable_dataset(),
    }[form]
    assert read(pack_stream(source, 16, 100)) == read(pack_stream(map(tuple, docs), 16, 100))


def test_a_dataset_that_was_shuffled_and_selected_is_read_in_its_order():
    dataset = datasets.Dataset.from_dict({"tokens": text(200)}).shuffle(seed=1).select(range(150))
    expected = read(pack_stream(list(dataset["tokens"]), 16, 30))
    assert read(pack_stream(dataset, 16, 30, column="tokens")) == expected


def test_a_dataset_is_never_turned_into_python_lists(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a formatter for Python objects was used")

    dataset = datasets.Dataset.from_dict({"input_ids": text(100)})
    monkeypatch.setattr(datasets.formatting.PythonFormatter, "format_batch", refuse)
    monkeypatch.setattr(datasets.formatting.PythonFormatter, "format_row", refuse)
    with pytest.raises(AssertionError, match="Python objects"):
        dataset[0]
    assert sum(row.input_ids.size for row in pack_stream(dataset, 16, 20)) == sum(
        map(len, text(100))
    )


def test_memory_does_not_grow_with_the_stream():
    def peak(count: int) -> int:
        source = (np.full(1 + i * 7919 % 2048, i) for i in range(count))
        tracemalloc.start()
        tokens = sum(row.input_ids.size for row in pack_stream(source, 2048, 64))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert tokens == sum(1 + i * 7919 % 2048 for i in range(count))
        return most

    assert peak(12_000) < 1.3 * peak(3_000)


def test_the_report_compares_with_packing_all_at_once():
    docs = text(4000, 64)
    offline = pack_lengths([len(d) for d in docs], 64)
    stream = pack_stream(docs, 64, 100)
    assert stream.report().rows == 0
    rows = len(read(stream))
    report = stream.report()
    assert (report.documents, report.rows, report.waiting) == (4000, rows, 0)
    assert report.offline_rows == len(offline)
    assert report.offline_utilization == pytest.approx(offline.utilization)
    assert report.utilization == pytest.approx(sum(map(len, docs)) / (rows * 64))
    assert f"{rows:,} rows" in str(report)


def test_keeping_poor_rows_back_beats_windows():
    lengths = np.random.default_rng(0).integers(1, 2049, 4000)
    stream = pack_stream((np.zeros(n, int) for n in lengths), 2048, 100)
    windows = sum(len(pack_lengths(lengths[i : i + 100], 2048)) for i in range(0, 4000, 100))
    online = sum(1 for _ in stream)
    assert len(pack_lengths(lengths, 2048)) <= online < windows * 0.98


def test_no_document_waits_longer_than_patience():
    """Lengths of 9 in rows of 16 never share one and are never the fullest row."""
    docs = [[i] * (9 if i % 10 == 0 else 8) for i in range(2000)]
    seen = 0
    for turn, row in enumerate(pack_stream(docs, 16, 20)):
        seen = max(seen, *row.numbers.tolist())
        waited = seen - row.numbers.min()
        assert waited <= (PATIENCE + 2) * 20, turn


def test_a_row_becomes_a_batch():
    (row,) = pack_stream([[1, 2, 3], [1, 1]], 8, eos_id=4)
    batch = Batch.from_dict(row.to_dict())
    assert batch.input_ids.tolist() == [[1, 2, 3, 4, 1, 1, 4]]
    assert batch.document_ids.tolist() == [[0, 0, 0, 0, 1, 1, 1]]


@pytest.mark.parametrize(
    ("source", "options", "error", "says"),
    [
        ([[1], [1, 2, 3]], {}, ValueError, "document 1 has 3 tokens, more than capacity 2"),
        ([[1], [1, 2]], {"eos_id": 4}, ValueError, "document 1 has 3 tokens"),
        ([[1], []], {}, ValueError, "document 1 is empty"),
        ([[1.5]], {}, TypeError, "document 0 must hold whole numbers"),
        ([], {}, ValueError, "no documents.*read only once"),
        ([{"ids": [1]}], {}, ValueError, "no column 'input_ids'; there are ids"),
        ("abc", {}, TypeError, "documents one by one, got str"),
        (7, {}, TypeError, "got int"),
        ([[1]], {"buffer": 0}, ValueError, "buffer must be at least 1"),
        ([[1]], {"overlong": "drop"}, ValueError, "overlong must be one of 'error', 'split'"),
        (datasets.Dataset.from_dict({"a": [[1]]}), {}, ValueError, "no column 'input_ids'"),
        (datasets.Dataset.from_dict({"input_ids": [[0.5]]}), {}, TypeError, "whole numbers"),
        (datasets.Dataset.from_dict({"input_ids": [[1], []]}), {}, ValueError, "document 1 is"),
        (datasets.Dataset.from_dict({"input_ids": [[1], None]}), {}, TypeError, "1 missing"),
        (datasets.Dataset.from_dict({"input_ids": [1, 2]}), {}, TypeError, "lists of whole"),
    ],
)
def test_bad_input_gets_one_clear_error(source, options, error, says):
    with pytest.raises(error, match=says):
        list(pack_stream(source, 2, **options))


def test_a_state_of_something_else_is_refused():
    stream = pack_stream(text(100), 16, 10)
    next(iter(stream))
    state = stream.state_dict()
    with pytest.raises(ValueError, match="capacity=16, this one has 32"):
        pack_stream(text(100), 32, 10).load_state_dict(state)
    other = pack_stream(text(100, seed=1), 16, 10)
    other.load_state_dict(state)
    with pytest.raises(ValueError, match="made from other documents"):
        next(iter(other))
    short = pack_stream(text(3), 16, 10)
    short.load_state_dict(state)
    with pytest.raises(ValueError, match="here 3 can be read"):
        next(iter(short))
