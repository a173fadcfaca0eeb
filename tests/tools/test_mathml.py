"""Formulas as MathML: what latex2mathml leaves out, and an error where nothing helps."""

from xml.etree import ElementTree as ET

import pytest

from tools.course_site.mathml import to_mathml


def tags(latex: str, display: bool = True) -> list[str]:
    return [e.tag.split("}")[1] for e in ET.fromstring(to_mathml(latex, display=display)).iter()]


def test_aligned_is_a_table_with_a_row_for_each_line():
    matrix = r"\begin{pmatrix}1 & 0\\0 & 1\end{pmatrix}"
    found = tags(rf"\begin{{aligned}} a &= b \\ &= {matrix} \end{{aligned}}")
    assert found.count("mtable") == 2 and found.count("mtr") == 2 + 2
    text = "".join(ET.fromstring(to_mathml(r"a &= b \\ c &= d", display=True)).itertext())
    assert text == "a=bc=d"


def test_aligned_meets_at_the_mark():
    out = to_mathml(r"a &= b", display=True)
    assert out.index("text-align:right") < out.index("text-align:left")


def test_cases_has_a_tall_brace_and_left_aligned_cells():
    out = to_mathml(r"m = \begin{cases} 0 & x \\ 1 & y \end{cases}", display=True)
    assert 'class="tall"' in out and "scaleY(2.70)" in out and out.count("text-align:left") == 4


def test_a_sum_has_its_limits_above_and_below_only_in_display():
    assert "munderover" in tags(r"\sum_{t=1}^T x")
    assert "munderover" not in tags(r"\sum_{t=1}^T x", display=False)


def test_ordinary_parentheses_are_not_scaled():
    assert "scaleY" not in to_mathml(r"\left( x \right)", display=True)
    assert "scaleY" in to_mathml(r"\left( \frac{1}{2} \right)", display=True)


def test_a_label_is_no_part_of_the_formula():
    assert to_mathml(r"x \label{eq-x}", display=True) == to_mathml("x", display=True)


@pytest.mark.parametrize("latex", [r"a & b", r"\frac{1", r"\begin{cases} 0"])
def test_what_cannot_be_converted_is_an_error(latex):
    with pytest.raises(ValueError, match="math: "):
        to_mathml(latex, display=False)
