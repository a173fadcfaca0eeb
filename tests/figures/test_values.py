"""Every parameter stands in a cell of its own, with its number; another tensor can stand there."""

import pytest
import torch
from torch import nn

from course_lib.decoder import TinyDecoder
from course_lib.figures import parameter_values, parameter_values_text
from course_lib.figures.values import WIDTH


def numbers(ax):
    return [t.get_text() for t in ax.texts if t.get_label() == "number"]


def cells(ax, *labels):
    return sum(len(p.get_path().codes) // 5 for p in ax.patches if p.get_label() in labels)


def test_there_are_423_cells_with_423_numbers():
    model = TinyDecoder()
    ax = parameter_values(model)
    assert len(numbers(ax)) == 423
    for row in model.parameter_table():
        assert cells(ax, row.part) == row.count
    assert numbers(ax)[:7] == [f"{x:.2f}" for x in model.token_embedding.weight[:, 0].tolist()]


def test_what_is_above_zero_is_blue_what_is_below_is_orange_and_zero_is_neither():
    model = TinyDecoder()
    flat = torch.cat([p.detach().flatten() for p in model.parameters()])
    ax = parameter_values(model)
    assert cells(ax, "weight") == int((flat > 0).sum())
    assert cells(ax, "doc1") == int((flat < 0).sum())
    assert numbers(ax).count("0") == int((flat == 0).sum()) > 0


def test_the_text_holds_the_same_numbers_and_the_shapes_of_the_model():
    model = TinyDecoder()
    text = parameter_values_text(model, title="weights")
    table = model.parameter_table()
    assert text.splitlines()[0].startswith("weights: 423 numbers in 11 parts")
    heads = [line for line in text.splitlines() if " = " in line]
    assert heads == [f"{r.part}  {r.shape} = {r.count}" for r in table]
    names = sum(len(head.split()) for head in heads)
    columns = 7 + 16 + 4 + 12 + 4 + 4 + 16 + 16 + 16 + 4 + 7
    assert len(text.split()) - names - columns - len(text.splitlines()[0].split()) == 423
    drawn = sorted(numbers(parameter_values(model)))
    lines = [x for head, x in zip(text.splitlines()[1:-1], text.splitlines()[2:], strict=True)
             if " = " not in head and " = " not in x]  # fmt: skip
    assert sorted(" ".join(lines).split()) == drawn


def test_a_bias_stands_under_the_outputs_of_its_layer():
    layer = nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        layer.bias.copy_(torch.tensor([10.0, 30.0]))
    lines = parameter_values_text(layer).splitlines()[3:]
    assert [line.split() for line in lines] == [
        ["1.00", "3.00"], ["2.00", "4.00"], ["10.00", "30.00"]]  # fmt: skip


def test_gradients_can_stand_in_the_cells():
    model = TinyDecoder()
    zeros = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    zeros["output.bias"][3] = -1
    ax = parameter_values(model, zeros, {"output": list("abcdefg")})
    assert numbers(ax).count("0") == 422 and cells(ax, "doc1") == 1
    assert "423 numbers in 11 parts, 422 of them zero" in parameter_values_text(model, zeros)
    assert "g" in [t.get_text() for t in ax.texts]


def test_nothing_lies_outside_the_sheet():
    for patch in parameter_values(TinyDecoder()).patches:
        assert patch.get_path().vertices[:, 0].max() <= WIDTH


def test_what_does_not_fit_is_refused():
    model = TinyDecoder()
    with pytest.raises(ValueError, match=r"values\['token_embedding.weight'\] must have"):
        parameter_values(model, {})
    with pytest.raises(ValueError, match="output has 7 columns, but 2 names"):
        parameter_values_text(model, names={"output": ["a", "b"]})
    with pytest.raises(ValueError, match="at most 2,000"):
        parameter_values(nn.Linear(100, 100))
