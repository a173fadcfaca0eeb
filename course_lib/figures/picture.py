"""`picture(draw, …)`: what a notebook cell ends with, a figure and the text that says the same.

Its `repr` is the text, so a comparison of notebooks compares what the figure says, not its pixels.
In a notebook it shows a PNG; with the environment variable COURSE_FIGURES=svg (set while the site
is built) it also gives HTML with an inline SVG that follows the page's light and dark mode.
"""

from __future__ import annotations

import io
import os
import sys
import textwrap
from collections.abc import Callable
from functools import cached_property
from html import escape
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from course_lib.figures.style import color
from course_lib.figures.svg import inline_svg

CAPTION_PX = 13


def twin_of(draw: Callable[..., Axes]) -> Callable[..., str]:
    """Return the function `<name>_text` that stands beside a drawing function.

    >>> from course_lib.figures import attention_mask
    >>> twin_of(attention_mask).__name__
    'attention_mask_text'
    """
    name = f"{getattr(draw, '__name__', draw)}_text"
    twin = getattr(sys.modules.get(getattr(draw, "__module__", "")), name, None)
    if twin is None:
        raise TypeError(
            f"{getattr(draw, '__name__', draw)!r} has no sibling {name!r} in its module. "
            "Pass a drawing function of course_lib.figures, not its result."
        )
    return twin


class Picture:
    """A figure, its text twin (`text`, also its `repr`) and a caption."""

    def __init__(
        self, draw: Callable[..., Axes], *args: Any, caption: str = "", alt: str = "", **kwargs: Any
    ) -> None:
        self.caption = caption
        self.text = twin_of(draw)(*args, **kwargs)
        self.alt = alt or self.text.split("\n", 1)[0]
        self._call = (draw, args, kwargs)
        self.figure  # noqa: B018  (bad arguments are refused here, not when it is shown)

    @cached_property
    def figure(self) -> Figure:
        """The figure, drawn once."""
        draw, args, kwargs = self._call
        return draw(*args, **kwargs).figure

    def __repr__(self) -> str:
        return self.text

    def png(self, scale: int = 2) -> tuple[bytes, int, int]:
        """Return the figure on its light card with its caption, and its width and height on a page
        in pixels; the file has `scale` times as many."""
        draw, args, kwargs = self._call
        figure = draw(*args, **kwargs).figure
        _write_caption(figure, self.caption)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=96 * scale, facecolor=color("card"))
        few = Image.open(buffer).convert("RGB").quantize(64, dither=Image.Dither.NONE)
        small = io.BytesIO()
        few.save(small, format="PNG", optimize=True)
        return small.getvalue(), few.width // scale, few.height // scale

    def html(self) -> str:
        """Return `<figure>` with the SVG, the caption, and the text twin to unfold."""
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return (
            '<figure class="course-figure"><div class="cf-scroll" role="group" tabindex="0" '
            f'aria-label="Figure">{inline_svg(self.figure, self.alt)}</div>{caption}'
            "<details><summary>Read this figure as text</summary>"
            f'<pre tabindex="0">{escape(self.text)}</pre></details></figure>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        if os.environ.get("COURSE_FIGURES") == "svg":
            return {"text/html": self.html(), "text/plain": self.text}, {}
        image, width, height = self.png()
        size = {"width": width, "height": height}
        return {"image/png": image, "text/plain": self.text}, {"image/png": size}


def picture(draw: Callable[..., Axes], *args: Any, caption: str = "", alt: str = "",
            **kwargs: Any) -> Picture:  # fmt: skip
    """Return the `Picture` that `draw(*args, **kwargs)` makes, to end a notebook cell with.

    `draw` is a drawing function of `course_lib.figures`. `caption` is a sentence under it; `alt`
    is its short name for a screen reader (default: the first line of the text twin).

    >>> import torch
    >>> from course_lib.figures import attention_mask
    >>> picture(attention_mask, torch.tensor([[True, False], [True, True]]))
    mask: 2 queries × 2 keys, 3 of 4 cells allowed
    query  key 0  1
    0          1  0
    1          1  1
    """
    return Picture(draw, *args, caption=caption, alt=alt, **kwargs)


def _write_caption(figure: Figure, caption: str) -> None:
    """Make the figure taller and write the caption under it, in lines as wide as the figure."""
    if not caption:
        return
    width, height = figure.get_size_inches()
    lines = textwrap.wrap(caption, max(20, int(width * 96 / (CAPTION_PX * 0.56)) - 3))
    extra = (len(lines) * CAPTION_PX * 1.4 + 10) / 96
    figure.set_size_inches(width, height + extra)
    for ax in figure.axes:
        box = ax.get_position(original=True)
        ax.set_position((box.x0, (box.y0 * height + extra) / (height + extra), box.width,
                         box.height * height / (height + extra)))  # fmt: skip
    figure.text(
        10 / 96 / width, extra / (height + extra), "\n".join(lines), color=color("ink"), va="top",
        fontsize=CAPTION_PX * 0.75, linespacing=1.3, parse_math=False,
    )  # fmt: skip
