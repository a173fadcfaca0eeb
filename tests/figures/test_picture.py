"""A picture at the end of a cell: text first, PNG in notebooks, SVG with its text on the site."""

import io
import re
import xml.etree.ElementTree as ET

import pytest
from PIL import Image

from course_lib import causal_mask, document_mask, pack_documents
from course_lib.figures import (
    attention_mask,
    masks_side_by_side,
    packed_row,
    packed_row_text,
    palette_css,
    picture,
    shift_alignment,
    side_by_side,
)
from course_lib.figures.raster import encode
from course_lib.figures.style import LIGHT, color

SEED = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4)


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setenv("COURSE_FIGURES", "svg")


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.delenv("COURSE_FIGURES", raising=False)


def test_its_repr_is_the_text_twin():
    assert repr(picture(packed_row, SEED, row=0, caption="A row.")) == packed_row_text(SEED)


def test_a_notebook_gets_a_small_png_and_the_text(notebook):
    data, metadata = picture(packed_row, SEED)._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"}
    image = Image.open(io.BytesIO(data["image/png"]))
    assert image.width == 2 * metadata["image/png"]["width"]
    assert 4_000 < len(data["image/png"]) < 40_000
    assert image.convert("RGB").getpixel((0, 0)) == pytest.approx(
        [int(color("card")[i : i + 2], 16) for i in (1, 3, 5)], abs=2
    )


def test_a_caption_makes_the_png_taller(notebook):
    plain, captioned = picture(packed_row, SEED), picture(packed_row, SEED, caption="Words " * 30)
    assert captioned.image().height > plain.image().height + 40
    assert captioned.image().width == plain.image().width


def test_the_site_gets_a_figure_with_everything_in_it(site):
    data, _ = picture(packed_row, SEED, caption="A & B")._repr_mimebundle_()
    assert set(data) == {"text/html", "text/plain"}
    tree = ET.fromstring(data["text/html"])
    assert tree.get("class") == "course-figure"
    svg = tree.find(".//{http://www.w3.org/2000/svg}svg")
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == "row 0: 8 slots, 2 documents, 6 targets"
    assert tree.find("figcaption").text == "A & B"
    assert tree.find("details/pre").text == packed_row_text(SEED)
    words = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("<eos>") == 2 and "-100" in words


def test_the_svg_has_no_ids_no_styles_that_leak_and_only_variables_for_colours(site):
    for made in (
        picture(packed_row, SEED, marks={(0, 1): "!"}),
        picture(attention_mask, document_mask(SEED)),
        picture(shift_alignment, SEED.input_ids, SEED.labels),
    ):
        html = made.html()
        assert not re.search(r"\bid=|url\(|<style|<defs|http://(?!www\.w3\.org/2000/svg)", html)
        used = re.findall(r"var\((--cf-[a-z0-9-]+), (#[0-9a-f]{6})\)", html)
        assert used and len(used) == len(re.findall(r"#[0-9a-f]{6}", html))
        for name, value in used:
            assert f"{name}: {value};" in palette_css()
            assert value in LIGHT.values()


def test_the_same_call_gives_the_same_bytes(site):
    one, two = (picture(packed_row, SEED, caption="c") for _ in range(2))
    assert one.html() == two.html()
    assert encode(one.image()) == encode(two.image())


def test_no_address_of_an_object_is_shown(site):
    data, _ = picture(attention_mask, document_mask(SEED))._repr_mimebundle_()
    assert not any(re.search(r"0x[0-9a-f]{6}", text) for text in data.values())


def test_a_long_figure_scrolls_in_a_box_that_the_keyboard_reaches(site):
    html = picture(packed_row, SEED).html()
    assert 'class="cf-scroll" role="group" tabindex="0" aria-label=' in html
    width, least = map(int, re.search(r"max-width: (\d+)px; min-width: (\d+)px", html).groups())
    assert 22 <= 34 * least / width  # a cell never gets smaller than 22 pixels


def test_what_is_no_drawing_function_is_refused():
    with pytest.raises(TypeError, match="has no sibling 'print_text'"):
        picture(print)


def test_bad_arguments_are_refused_when_the_picture_is_made():
    with pytest.raises(ValueError, match="row must be"):
        picture(packed_row, SEED, row=3)


def test_panels_stand_side_by_side_in_one_figure_with_one_text(site):
    one = picture(shift_alignment, SEED.input_ids, SEED.labels, caption="A. The shift")
    two = picture(attention_mask, document_mask(SEED), caption="B. The mask")
    both = side_by_side(one, two, caption="One row.")
    tree = ET.fromstring(both.html())
    assert len(tree.findall(".//{http://www.w3.org/2000/svg}svg")) == 2
    assert [p.text for p in tree.iter("p")] == ["A. The shift", "B. The mask"]
    assert repr(both) == f"A. The shift\n{one.text}\n\nB. The mask\n{two.text}"
    assert both.image().width > one.image().width + two.image().width


def test_masks_become_separate_panels_on_a_page_and_one_figure_in_a_notebook(site):
    masks = {"a": causal_mask(2), "b": causal_mask(2), "c": causal_mask(2)}
    made = picture(masks_side_by_side, masks)
    tree = ET.fromstring(made.html())
    assert len(tree.findall(".//{http://www.w3.org/2000/svg}svg")) == 3
    assert [s.text for s in tree.iter("span")] == ["&", "="]
    assert len(made.panels) == 1


def test_side_by_side_takes_pictures_only():
    with pytest.raises(TypeError, match="what picture"):
        side_by_side(packed_row)
