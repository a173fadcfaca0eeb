"""Figures as small PNG files: on the light card, with the caption under them, few colours."""

from __future__ import annotations

import io
import textwrap

from matplotlib.figure import Figure
from PIL import Image

from course_lib.figures.style import color

CAPTION_PX = 13
_LETTER = 0.57  # width of an average letter of a caption, as a part of its height


def render(figure: Figure, scale: int) -> Image.Image:
    """Return a figure on its card, `scale` pixels of the image for each pixel on a page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=96 * scale, facecolor=color("card"))
    return Image.open(buffer).convert("RGB")


def caption_strip(words: str, width: int, scale: int) -> Image.Image:
    """Return the caption in lines that fit into `width` pixels of a page."""
    lines = textwrap.wrap(words, max(24, int((width - 20) / (CAPTION_PX * _LETTER))))
    height = round(len(lines) * CAPTION_PX * 1.4 + 12)
    longest = max(map(len, lines)) * CAPTION_PX * _LETTER + 20
    figure = Figure(figsize=(max(width, longest) / 96, height / 96), dpi=96)
    figure.text(
        10 / 96 / figure.get_figwidth(), 1, "\n".join(lines), color=color("ink"), va="top",
        fontsize=CAPTION_PX * 0.75, linespacing=1.3, parse_math=False,
    )  # fmt: skip
    return render(figure, scale)


def beside(images: list[Image.Image], gap: int) -> Image.Image:
    """Return the images side by side, each in the middle of the height."""
    width = sum(image.width for image in images) + gap * (len(images) - 1)
    sheet = Image.new("RGB", (width, max(image.height for image in images)), color("card"))
    x = 0
    for image in images:
        sheet.paste(image, (x, (sheet.height - image.height) // 2))
        x += image.width + gap
    return sheet


def under(images: list[Image.Image]) -> Image.Image:
    """Return the images one under the other, each in the middle of the width."""
    width = max(image.width for image in images)
    sheet = Image.new("RGB", (width, sum(image.height for image in images)), color("card"))
    y = 0
    for image in images:
        sheet.paste(image, ((width - image.width) // 2, y))
        y += image.height
    return sheet


def encode(image: Image.Image) -> bytes:
    """Return an image as a PNG of at most 64 colours."""
    buffer = io.BytesIO()
    few = image.quantize(64, dither=Image.Dither.NONE)
    few.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()
