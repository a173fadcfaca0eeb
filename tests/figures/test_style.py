"""The palette: legible in both modes, and told apart without seeing every hue."""

import itertools

import numpy as np
import pytest

from course_lib.figures.style import (
    CURVES,
    DARK,
    DOCUMENTS,
    LIGHT,
    TEXT_ON,
    contrast,
    document_role,
    palette_css,
)

MODES = {"light": LIGHT, "dark": DARK}

# Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB
BLINDNESS = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "none": np.eye(3),
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(value: str, matrix) -> np.ndarray:
    rgb = np.array([int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(matrix) @ linear, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_two_modes_have_the_same_roles_and_every_value_has_one_role():
    assert list(LIGHT) == list(DARK)
    assert len(set(LIGHT.values())) == len(LIGHT)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("text", "fill"), TEXT_ON)
def test_text_keeps_four_and_a_half_to_one(mode, text, fill):
    palette = MODES[mode]
    assert contrast(palette[text], palette[fill]) >= 4.5


def test_contrast_agrees_with_the_published_example():
    assert contrast("#777777", "#ffffff") == pytest.approx(
        4.48, abs=0.005
    )  # WCAG's known near miss


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", BLINDNESS)
def test_neighbouring_documents_differ_for_every_reader(mode, kind):
    tints = [lab(MODES[mode][role], BLINDNESS[kind]) for role in DOCUMENTS]
    for one, two in zip(tints, [*tints[1:], tints[0]], strict=True):
        assert np.linalg.norm(one - two) > 10


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_first_four_curves_differ_for_every_reader(mode, kind):
    colors = [lab(MODES[mode][role], BLINDNESS[kind]) for role in CURVES[:4]]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(colors, 2)) > 10


def test_documents_beyond_the_sixth_repeat_and_padding_has_no_tint():
    assert document_role(6) == document_role(0) == "doc0"
    assert document_role(-1) == "ignored"


def test_the_style_sheet_has_every_variable_in_both_modes():
    css = palette_css()
    light, dark = css.split('html[data-theme="dark"]', 1)
    for role in LIGHT:
        name = role.replace("_", "-")
        assert f"--cf-{name}: {LIGHT[role]};" in light
        assert f"--cf-{name}: {DARK[role]};" in dark
