"""`picture(draw, …)`: what a notebook cell ends with, a figure and the text that says the same.

Its `repr` is the text, so a comparison of notebooks compares what the figure says, not its pixels.
In a notebook it shows a PNG; with the environment variable COURSE_FIGURES=svg (set while the site
is built) it also gives HTML with an inline SVG that follows the page's light and dark mode.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from matplotlib.axes import Axes
from PIL import Image

from course_lib.figures import raster
from course_lib.figures.svg import inline_svg

GAP_PX, SIGN_PX = 16, 20


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


@dataclass(frozen=True)
class Panel:
    """One figure of a picture: its axes, short name, own caption, and the sign in front of it."""

    ax: Axes
    name: str
    caption: str = ""
    sign: str = ""

    def image(self, scale: int) -> Image.Image:
        """Return it on the light card, its own caption under it."""
        parts = [raster.render(self.ax.figure, scale)]
        if self.caption:
            parts.append(raster.caption_strip(self.caption, parts[0].width // scale, scale))
        return raster.under(parts)

    def html(self) -> str:
        """Return the SVG in a box that scrolls, the sign before it, the panel's own caption."""
        svg, width, least = inline_svg(self.ax.figure, self.name)
        sign = f'<span class="cf-sign" aria-hidden="true">{escape(self.sign)}</span>'
        below = f'<p class="cf-below">{escape(self.caption)}</p>'
        room = SIGN_PX if self.sign else 0
        return (
            f'<div class="cf-panel" style="flex: 1 1 {least + room}px; '
            f'max-width: {width + room}px">{sign if self.sign else ""}<div class="cf-body">'
            f'<div class="cf-scroll" role="group" tabindex="0" aria-label="Figure">{svg}</div>'
            f"{below if self.caption else ''}</div></div>"
        )


class Picture:
    """One figure or several side by side, the text that says the same (`text`, also its `repr`),
    and a caption. Made by `picture` and `side_by_side`.

    `panels` are drawn in a notebook; a page may show the same in other pieces, `page_panels`.
    """

    def __init__(
        self, panels: Sequence[Panel], text: str, caption: str = "",
        page_panels: Sequence[Panel] = (),
    ) -> None:  # fmt: skip
        self.panels, self.text, self.caption = list(panels), text, caption
        self.page_panels = list(page_panels) or self.panels

    def __repr__(self) -> str:
        return self.text

    def image(self, scale: int = 2) -> Image.Image:
        """Return all of it on the light card; `scale` pixels of the image for one of a page."""
        parts = [raster.beside([panel.image(scale) for panel in self.panels], GAP_PX * scale)]
        if self.caption:
            parts.append(raster.caption_strip(self.caption, parts[0].width // scale, scale))
        return raster.under(parts)

    def html(self) -> str:
        """Return `<figure>` with the SVG, the caption, and the text twin to unfold."""
        panels = "".join(panel.html() for panel in self.page_panels)
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return (
            f'<figure class="course-figure"><div class="cf-panels">{panels}</div>{caption}'
            "<details><summary>Read this figure as text</summary>"
            f'<pre tabindex="0">{escape(self.text)}</pre></details></figure>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        if os.environ.get("COURSE_FIGURES") == "svg":
            return {"text/html": self.html(), "text/plain": self.text}, {}
        image = self.image(2)
        size = {"width": image.width // 2, "height": image.height // 2}
        return {"image/png": raster.encode(image), "text/plain": self.text}, {"image/png": size}


def picture(
    draw: Callable[..., Axes], *args: Any, caption: str = "", alt: str = "", **kwargs: Any
) -> Picture:
    """Return the `Picture` that `draw(*args, **kwargs)` makes, to end a notebook cell with.

    `draw` is a drawing function of `course_lib.figures`. `caption` is a sentence under it; `alt`
    is its short name for a screen reader (default: the first line of the text twin).

    >>> import torch
    >>> from course_lib.figures import attention_mask
    >>> picture(attention_mask, torch.tensor([[True, False], [True, True]]))
    mask: 2 queries × 2 keys, 3 of 4 True
    query  key 0  1
    0          1  0
    1          1  1
    """
    text = twin_of(draw)(*args, **kwargs)
    name = alt or text.split("\n", 1)[0]
    pieces = getattr(sys.modules[draw.__module__], f"{draw.__name__}_panels", None)
    apart = pieces(*args, **kwargs) if pieces else []
    page = [Panel(ax, f"{name}, part {i}", sign=sign) for i, (sign, ax) in enumerate(apart, 1)]
    return Picture([Panel(draw(*args, **kwargs), name)], text, caption, page)


def side_by_side(*pictures: Picture, caption: str = "") -> Picture:
    """Return one `Picture` of several, side by side; on a narrow page they stand in a column.

    >>> import torch
    >>> from course_lib.figures import attention_mask
    >>> one = picture(attention_mask, torch.tensor([[True]]))
    >>> len(side_by_side(one, one).panels)
    2
    """
    if not pictures or not all(isinstance(one, Picture) for one in pictures):
        raise TypeError("side_by_side takes what picture(…) returns, at least one of them.")
    text = "\n\n".join("\n".join(filter(None, (one.caption, one.text))) for one in pictures)
    panels, page = (
        [_with_caption(one, panel) for one in pictures for panel in getattr(one, name)]
        for name in ("panels", "page_panels")
    )
    return Picture(panels, text, caption, page)


def _with_caption(whole: Picture, panel: Panel) -> Panel:
    """Return the panel with the caption of its picture, if it is the last one there."""
    last = panel in (whole.panels[-1], whole.page_panels[-1])
    return replace(panel, caption=whole.caption) if last and whole.caption else panel
