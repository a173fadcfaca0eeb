"""The decoder: its 423 parameters, its masks, its positions, and torch.nn as an outside oracle."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib.attention import attend, attention_weights
from course_lib.boundaries import document_ids_from_lengths, position_ids_from_lengths
from course_lib.decoder import Decoder, TinyDecoder
from course_lib.masks import causal_mask, document_mask

POSITIONS = ("learned", "rope")
DOCUMENT = st.lists(st.integers(1, 6), min_size=1, max_size=6)
DOCUMENTS = st.lists(DOCUMENT, min_size=2, max_size=4)
quick = settings(max_examples=40)

ROW = torch.tensor([[1, 2, 3, 4, 1, 1, 4, 0]])
LENGTHS = [4, 3]


def packed_row(documents: list[list[int]], pads: int = 0) -> dict[str, Tensor]:
    """One row that holds the documents one after another: input ids, mask, reset positions."""
    lengths = [len(d) for d in documents]
    total = sum(lengths) + pads
    return {
        "input_ids": torch.tensor([sum(documents, []) + [0] * pads]),
        "mask": document_mask(document_ids_from_lengths(lengths, total)[None]),
        "position_ids": position_ids_from_lengths(lengths, total)[None],
    }


def summed_loss(logits: Tensor, ids: Tensor) -> Tensor:
    """Sum of the token losses inside one document."""
    return F.cross_entropy(logits[0, :-1], ids[0, 1:], reduction="sum")


def packed_loss(model: Decoder, documents: list[list[int]], **changes: object) -> Tensor:
    logits = model(**(packed_row(documents) | changes))
    spans = zip(documents, logits.split([len(d) for d in documents], dim=1), strict=True)
    return sum(summed_loss(part, torch.tensor([d])) for d, part in spans)


def separate_loss(model: Decoder, documents: list[list[int]]) -> Tensor:
    rows = (torch.tensor([d]) for d in documents)
    return sum(summed_loss(model(row), row) for row in rows)


def gradients(model: Decoder, loss: Tensor) -> Tensor:
    parts = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    pairs = zip(parts, model.parameters(), strict=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for g, p in pairs])


# --- parameters -----------------------------------------------------------------------------------


def test_every_part_has_the_count_of_the_design() -> None:
    table = {row.part: row.count for row in TinyDecoder().parameter_table()}
    assert table == {
        "token_embedding": 7 * 4,
        "position_embedding": 16 * 4,
        "attention_norm": 8,
        "attention.qkv": 4 * 12 + 12,
        "attention.output": 4 * 4 + 4,
        "swiglu_norm": 8,
        "swiglu.gate": 64,
        "swiglu.up": 64,
        "swiglu.down": 64,
        "final_norm": 8,
        "output": 4 * 7 + 7,
    }
    assert sum(table.values()) == TinyDecoder().num_parameters == 423


def test_rope_drops_the_learned_positions_and_nothing_else() -> None:
    learned, rope = TinyDecoder().parameter_table(), TinyDecoder(positions="rope").parameter_table()
    assert [row for row in learned if row not in rope] == [("position_embedding", "16×4", 64)]
    assert rope.total == 423 - 64


@pytest.mark.parametrize("positions", POSITIONS)
def test_the_table_counts_every_parameter_of_a_larger_model(positions: str) -> None:
    model = Decoder(
        vocab_size=50, width=24, heads=3, blocks=3, hidden=40, positions=positions, max_positions=9
    )
    table = model.parameter_table()
    assert table.total == model.num_parameters == sum(p.numel() for p in model.parameters())
    assert len({row.part for row in table}) == len(table)


def test_the_table_can_be_read() -> None:
    table = TinyDecoder().parameter_table()
    assert repr(table).splitlines()[-1].split() == ["total", "423"]
    assert "<td>12×4 + 12</td><td>60</td>" in table._repr_html_()


def test_the_seed_decides_the_weights_and_leaves_the_global_state_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first, same, other = TinyDecoder(seed=1), TinyDecoder(seed=1), TinyDecoder(seed=2)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first(ROW), same(ROW))
    assert not torch.allclose(first(ROW), other(ROW))


def test_random_tables_keep_no_digit_in_which_processors_differ() -> None:
    for table in (TinyDecoder().token_embedding, TinyDecoder().position_embedding):
        rounded = torch.tensor([[round(v, 4) for v in row] for row in table.weight.tolist()])
        torch.testing.assert_close(table.weight.detach(), rounded, rtol=0, atol=5e-7)
        assert table.weight.unique().numel() > 20


# --- packed = separate ----------------------------------------------------------------------------


@pytest.mark.parametrize("positions", POSITIONS)
@quick
@given(documents=DOCUMENTS, pads=st.integers(0, 2))
def test_packed_logits_are_the_separate_ones(
    positions: str, documents: list[list[int]], pads: int
) -> None:
    # a norm over four values can magnify float32's rounding a hundredfold; float64 shows it is that
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        model = TinyDecoder(positions=positions).to(dtype)
        packed = model(**packed_row(documents, pads))[:, : sum(map(len, documents))]
        separate = torch.cat([model(torch.tensor([d])) for d in documents], dim=1)
        torch.testing.assert_close(packed, separate, rtol=0, atol=tolerance)


@pytest.mark.parametrize("positions", POSITIONS)
def test_the_seed_row_agrees_to_a_millionth_in_float32(positions: str) -> None:
    model = TinyDecoder(positions=positions)
    packed = model(**packed_row([[1, 2, 3, 4], [1, 1, 4]], pads=1))[:, :7]
    separate = torch.cat([model(torch.tensor([d])) for d in ([1, 2, 3, 4], [1, 1, 4])], dim=1)
    torch.testing.assert_close(packed, separate, rtol=0, atol=1e-6)


@pytest.mark.parametrize("positions", POSITIONS)
@quick
@given(documents=DOCUMENTS)
def test_packed_loss_and_gradient_are_the_separate_ones(
    positions: str, documents: list[list[int]]
) -> None:
    model = TinyDecoder(positions=positions).double()
    packed, separate = packed_loss(model, documents), separate_loss(model, documents)
    torch.testing.assert_close(packed, separate, rtol=0, atol=1e-12)
    if packed.requires_grad and max(map(len, documents)) > 1:
        torch.testing.assert_close(
            gradients(model, packed), gradients(model, separate), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("positions", POSITIONS)
def test_float32_gradients_agree_to_a_millionth(positions: str) -> None:
    documents = [[1, 2, 3, 4], [1, 1, 4], [5, 2, 6, 2, 4]]
    model = TinyDecoder(positions=positions)
    packed = gradients(model, packed_loss(model, documents))
    separate = gradients(model, separate_loss(model, documents))
    torch.testing.assert_close(packed, separate, rtol=1e-6, atol=1e-6)
    assert separate.abs().max() > 0.1


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_causal_mask_alone_lets_documents_leak(positions: str) -> None:
    model = TinyDecoder(positions=positions)
    row = packed_row([[1, 2, 3, 4], [1, 1, 4]])
    right, leaky = model(**row), model(**(row | {"mask": None}))
    torch.testing.assert_close(leaky[:, :4], right[:, :4], rtol=0, atol=1e-6)
    assert (leaky[:, 4:] - right[:, 4:]).abs().amax(-1).min() > 1e-2
    documents = [[1, 2, 3, 4], [1, 1, 4]]
    leaky_loss = packed_loss(model, documents, mask=causal_mask(7))
    assert abs(leaky_loss - separate_loss(model, documents)) > 1e-2
    difference = gradients(model, leaky_loss) - gradients(model, separate_loss(model, documents))
    assert difference.abs().max() > 1e-2


@pytest.mark.parametrize("positions", POSITIONS)
@quick
@given(documents=DOCUMENTS, shuffle=st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(
    positions: str, documents: list[list[int]], shuffle: object
) -> None:
    order = list(range(len(documents)))
    shuffle.shuffle(order)
    model = TinyDecoder(positions=positions).double()
    moved = [documents[i] for i in order]
    first = model(**packed_row(documents))[0].split([len(d) for d in documents])
    second = model(**packed_row(moved))[0].split([len(d) for d in moved])
    for place, i in enumerate(order):
        torch.testing.assert_close(second[place], first[i], rtol=0, atol=1e-12)


# --- positions ------------------------------------------------------------------------------------


@quick
@given(documents=DOCUMENTS)
def test_rope_logits_do_not_depend_on_the_reset(documents: list[list[int]]) -> None:
    model = TinyDecoder(positions="rope").double()
    row = packed_row(documents)
    running = model(**(row | {"position_ids": None}))
    torch.testing.assert_close(running, model(**row), rtol=0, atol=1e-12)


def test_learned_positions_depend_on_the_reset() -> None:
    row = packed_row([[1, 2, 3, 4], [1, 1, 4]])
    model = TinyDecoder()
    running = model(**(row | {"position_ids": None}))
    assert (running - model(**row))[:, 4:].abs().amax(-1).min() > 1e-2
    assert torch.equal(running[:, :4], model(**row)[:, :4])


def test_rope_sees_relative_positions_within_a_document() -> None:
    model, ids = TinyDecoder(positions="rope"), torch.tensor([[1, 2, 3]])
    moved = model(ids, position_ids=torch.tensor([[7, 8, 9]]))
    torch.testing.assert_close(moved, model(ids), rtol=0, atol=1e-6)
    stretched = model(ids, position_ids=torch.tensor([[0, 2, 3]]))
    assert (stretched - model(ids)).abs().max() > 1e-3


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_negative_position_is_taken_as_zero(positions: str) -> None:
    model = TinyDecoder(positions=positions)
    minus, zero = torch.tensor([[0, 1, -1]]), torch.tensor([[0, 1, 0]])
    ids = torch.tensor([[1, 2, 0]])
    assert torch.equal(model(ids, position_ids=minus), model(ids, position_ids=zero))
    assert torch.equal(model(ids, position_ids=minus[0]), model(ids, position_ids=zero))


def test_a_long_row_of_short_documents_fits_the_sixteen_learned_positions() -> None:
    row = packed_row([[1, 2, 3, 4]] * 8)
    logits = TinyDecoder()(**row)
    assert logits.shape == (1, 32, 7)
    torch.testing.assert_close(logits[:, :4], logits[:, 28:], rtol=0, atol=1e-6)


# --- attention ------------------------------------------------------------------------------------


def softmax_by_hand(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """Attention weights of one head with loops and `math.exp`; a fully masked row gives zeros."""
    length, width = q.shape
    weights = torch.zeros(length, length)
    for query in range(length):
        allowed = [key for key in range(length) if mask[query, key]]
        scores = [math.exp(float(q[query] @ k[key]) / math.sqrt(width)) for key in allowed]
        for key, score in zip(allowed, scores, strict=True):
            weights[query, key] = score / sum(scores)
    return weights


MASKS = {
    "causal": causal_mask(8)[None],
    "document": document_mask(document_ids_from_lengths(LENGTHS, 8)[None]),
    "nothing": torch.zeros(1, 8, 8, dtype=torch.bool),
    "everything": torch.ones(1, 8, 8, dtype=torch.bool),
    "random": torch.rand(1, 8, 8, generator=torch.Generator().manual_seed(0)) < 0.4,
}


@pytest.mark.parametrize("name", MASKS)
def test_weights_and_fast_call_agree_with_a_softmax_by_hand(name: str) -> None:
    generator = torch.Generator().manual_seed(1)
    q, k, v = torch.randn(3, 1, 2, 8, 4, generator=generator)
    by_hand = torch.stack([softmax_by_hand(q[0, h], k[0, h], MASKS[name][0]) for h in (0, 1)])
    weights = attention_weights(q, k, mask=MASKS[name])
    torch.testing.assert_close(weights[0], by_hand, rtol=0, atol=1e-6)
    torch.testing.assert_close(attend(q, k, v, mask=MASKS[name])[0], by_hand @ v[0])
    torch.testing.assert_close(attend(q, k, v, mask=MASKS[name][0])[0], by_hand @ v[0])


def test_no_mask_means_causal() -> None:
    q, k, v = torch.randn(3, 2, 2, 5, 2, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(attend(q, k, v), attend(q, k, v, mask=causal_mask(5)))
    assert torch.equal(attention_weights(q, k), attention_weights(q, k, mask=causal_mask(5)))


@pytest.mark.parametrize("positions", POSITIONS)
def test_each_row_has_its_own_mask(positions: str) -> None:
    model, ids = TinyDecoder(positions=positions), ROW.expand(len(MASKS), -1)
    masks = torch.cat(list(MASKS.values()))
    together, trace = model(ids, mask=masks), model.look(ids, mask=masks)
    for row, mask in enumerate(masks):
        torch.testing.assert_close(together[row : row + 1], model(ROW, mask=mask))
        torch.testing.assert_close(
            trace.attention[0][row : row + 1], model.look(ROW, mask=mask).attention[0]
        )


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("name", MASKS)
def test_any_boolean_mask_gives_finite_logits_and_gradients(positions: str, name: str) -> None:
    model = TinyDecoder(positions=positions)
    logits = model(ROW, mask=MASKS[name])
    assert logits.isfinite().all()
    assert gradients(model, logits.square().sum()).isfinite().all()


def test_looking_changes_nothing_and_shows_the_mask() -> None:
    model, mask = TinyDecoder(), MASKS["document"]
    trace = model.look(ROW, mask=mask)
    assert torch.equal(trace.logits, model(ROW, mask=mask))
    assert [h.shape for h in trace.hidden] == [(1, 8, 4)] * 2
    (weights,) = trace.attention
    assert weights.shape == (1, 2, 8, 8)
    assert torch.equal(weights > 0, mask[:, None].expand(1, 2, 8, 8))
    torch.testing.assert_close(weights.sum(-1), mask.any(-1)[:, None].expand(1, 2, 8).float())


def test_the_weights_looked_at_are_the_weights_used() -> None:
    model = TinyDecoder(positions="rope")
    block = model.blocks[0]
    trace = model.look(ROW, mask=MASKS["document"])
    stream = trace.hidden[0]
    qkv = block.attention.qkv(block.attention_norm(stream))
    values = qkv[..., 8:].view(1, 8, 2, 2).transpose(1, 2)
    mixed = (trace.attention[0] @ values).transpose(1, 2).reshape(1, 8, 4)
    stream = stream + block.attention.output(mixed)
    stream = stream + block.swiglu(block.swiglu_norm(stream))
    torch.testing.assert_close(stream, trace.hidden[1])


# --- torch.nn as the outside oracle ---------------------------------------------------------------


def oracle_logits(model: TinyDecoder, ids: Tensor, mask: Tensor) -> Tensor:
    """The same decoder from `nn.MultiheadAttention` and functional calls, with copied weights."""
    block = model.blocks[0]
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    attention.load_state_dict(
        {
            "in_proj_weight": block.attention.qkv.weight,
            "in_proj_bias": block.attention.qkv.bias,
            "out_proj.weight": block.attention.output.weight,
            "out_proj.bias": block.attention.output.bias,
        }
    )

    def norm(x: Tensor, layer: nn.LayerNorm) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scale = centred.square().mean(-1, keepdim=True).add(1e-5).rsqrt()
        return centred * scale * layer.weight + layer.bias

    x = model.token_embedding.weight[ids] + model.position_embedding.weight[: ids.shape[1]]
    y = norm(x, block.attention_norm)
    x = x + attention(y, y, y, attn_mask=~mask, need_weights=False)[0]  # True = masked over there
    y = norm(x, block.swiglu_norm)
    gate, up, down = block.swiglu.gate.weight, block.swiglu.up.weight, block.swiglu.down.weight
    x = x + (torch.sigmoid(y @ gate.T) * (y @ gate.T) * (y @ up.T)) @ down.T
    return norm(x, model.final_norm) @ model.output.weight.T + model.output.bias


def test_the_logits_are_those_of_torch_modules() -> None:
    ids = torch.randint(0, 7, (3, 8), generator=torch.Generator().manual_seed(0))
    model = TinyDecoder(seed=5)
    for mask in (causal_mask(8), document_mask(torch.tensor([0, 0, 0, 1, 1, 2, 2, 2]))):
        torch.testing.assert_close(model(ids, mask=mask), oracle_logits(model, ids, mask))


def test_rope_turns_by_complex_multiplication() -> None:
    from course_lib.decoder.blocks import rotate, rotation

    x = torch.randn(1, 2, 5, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    positions = torch.arange(5)[None]
    turned = rotate(x, rotation(positions, 6, dtype=torch.float64))
    frequencies = torch.tensor([1.0, 10_000.0 ** (-2 / 6), 10_000.0 ** (-4 / 6)]).double()
    z = torch.complex(x[..., :3], x[..., 3:]) * torch.exp(1j * positions[0][:, None] * frequencies)
    torch.testing.assert_close(turned, torch.cat([z.real, z.imag], -1), rtol=0, atol=1e-6)


# --- generation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", POSITIONS)
def test_generation_takes_the_most_likely_token_each_time(positions: str) -> None:
    model = TinyDecoder(positions=positions, seed=2)
    ids = model.generate([5, 1], max_new_tokens=6)
    assert ids[:2] == [5, 1] and len(ids) == 8
    best = model(torch.tensor([ids])).argmax(-1)[0].tolist()
    assert ids[2:] == best[1:-1]


def test_generation_stops_at_the_end_token() -> None:
    model = TinyDecoder()
    with torch.no_grad():
        model.output.bias[4] = 1e3
    assert model.generate([1, 2], max_new_tokens=9, eos_id=4) == [1, 2, 4]
    assert model.generate([1, 2], max_new_tokens=2) == [1, 2, 4, 4]


# --- bad input ------------------------------------------------------------------------------------

GOOD = torch.tensor([[1, 2, 3]])
BAD = {
    "a token outside the vocabulary": (
        dict(input_ids=torch.tensor([[1, 7]])), ValueError, "holds 7.*ids 0 to 6"),
    "a label": (dict(input_ids=torch.tensor([[1, -100]])), ValueError, "holds -100.*not labels"),
    "one row without a batch": (dict(input_ids=GOOD[0]), ValueError, r"\[B, T\].*\(3,\)"),
    "a list": (dict(input_ids=[[1, 2]]), TypeError, "tensor of whole numbers, got list"),
    "fractions": (dict(input_ids=GOOD.float()), TypeError, "float32"),
    "no tokens": (dict(input_ids=GOOD[:, :0]), ValueError, r"at least one token.*\(1, 0\)"),
    "too long": (
        dict(input_ids=torch.ones(1, 17, dtype=torch.long)), ValueError, "17 positions.*rope"),
    "a position too far": (
        dict(input_ids=GOOD, position_ids=torch.tensor([[0, 1, 20]])), ValueError, "21 positions"),
    "positions of another shape": (
        dict(input_ids=GOOD, position_ids=torch.arange(4)), ValueError, r"position_ids.*\(4,\)"),
    "positions that are fractions": (
        dict(input_ids=GOOD, position_ids=torch.rand(3)), TypeError, "position_ids.*float32"),
    "a mask of numbers": (
        dict(input_ids=GOOD, mask=torch.ones(3, 3)), TypeError, r"boolean.*float32.*mask == 0"),
    "a mask that is a list": (dict(input_ids=GOOD, mask=[[True]]), TypeError, "boolean.*list"),
    "a key padding mask": (
        dict(input_ids=GOOD, mask=torch.ones(1, 1, 3, dtype=torch.bool)),
        ValueError, r"\(1, 1, 3\).*causal_mask"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_clear_error(name: str) -> None:
    arguments, kind, message = BAD[name]
    with pytest.raises(kind, match=message) as caught:
        TinyDecoder()(**arguments)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (dict(positions="absolute"), "'learned', 'rope'.*'absolute'"),
        (dict(width=5), "width=5 does not divide into heads=2"),
        (dict(width=6, positions="rope"), "3 wide.*even"),
        (dict(heads=0), "heads must be at least 1"),
        (dict(seed=-1), "seed must be at least 0"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Decoder(**(dict(vocab_size=7, width=4, heads=2, blocks=1, hidden=16) | sizes))


def test_generation_that_cannot_reach_says_so_at_once() -> None:
    with pytest.raises(ValueError, match="17 positions"):
        TinyDecoder().generate([1, 2], max_new_tokens=16)
    assert len(TinyDecoder().generate([1, 2], max_new_tokens=15)) == 17
    assert len(TinyDecoder(positions="rope").generate([1, 2], max_new_tokens=40)) == 42
