"""Small pages with one exercise each, made as the site makes them, and hands to work them with.

What is right comes from `course_lib`, computed here and not read from the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib import widgets
from course_lib.boundaries import document_starts
from course_lib.masks import document_mask
from course_lib.packing import pack_documents
from course_lib.vocabulary import EOS, IGNORE_INDEX

DOCUMENTS, CAPACITY = [[1, 2, 3], [1, 1]], 8
LOSSES = [0.5, 1, 2, 0.25, 1, 0.25, 4]
CHAT, PROMPTS = [[5, 1, 6, 2], [5, 3, 6, 1, 2]], [3, 3]

EXERCISES = {
    "workbench-a": lambda: widgets.Workbench(DOCUMENTS, CAPACITY, boundary="A", losses=LOSSES),
    "workbench-b": lambda: widgets.Workbench(DOCUMENTS, CAPACITY, boundary="B", losses=LOSSES),
    "strip": lambda: widgets.TargetStrip(CHAT, 12, prompt_lengths=PROMPTS),
    "denominators": lambda: widgets.Denominators(),
    "bugs": lambda: widgets.SpotTheBug("prompt-and-padding"),
    "quick": lambda: widgets.QuickCheck("shift"),
    "steps": lambda: widgets.StepThrough(),
    "calculator": lambda: widgets.Calculator(),
}

_PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{name}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="widgets.css">
<style>body {{ margin: 16px; font: 16px/1.6 sans-serif; }}
[data-theme=dark] body {{ background: #14181f; color: #dfe7ee; }}</style>
<script defer src="widgets.js"></script></head><body><main><h1>{name}</h1>
{body}
<p>What follows.</p></main></body></html>"""


def write_site(folder: Path) -> None:
    """Write a page for each exercise in both themes, and the one script and style."""
    (folder / "widgets.js").write_text(widgets.bundle(), "utf8")
    (folder / "widgets.css").write_text(widgets.styles(), "utf8")
    for name, make in EXERCISES.items():
        for theme in ("light", "dark"):
            text = _PAGE.format(name=name, theme=theme, body=make().page_html())
            (folder / f"{name}-{theme}.html").write_text(text, "utf8")


def workbench_answer(boundary: str) -> dict[str, Any]:
    """What is right in the workbench: cells that are on, texts of the fields."""
    batch = pack_documents(DOCUMENTS, CAPACITY, eos_id=EOS, boundary=boundary)
    scored = batch.target_mask[0].tolist()
    total = sum(loss for loss, on in zip(LOSSES, scored, strict=True) if on)
    return {
        "starts": document_starts(batch.document_ids)[0].nonzero().flatten().tolist(),
        "positions": [str(p) for p in batch.position_ids[0].tolist()],
        "mask": document_mask(batch)[0].flatten().nonzero().flatten().tolist(),
        "targets": [t + 1 for t, on in enumerate(scored) if on],
        "loss": [f"{total:g}", str(batch.num_targets)],
    }


def strip_answer() -> list[int]:
    """Which slots of the target strip are -100."""
    batch = pack_documents(CHAT, 12, eos_id=EOS, prompt_lengths=PROMPTS)
    return (batch.labels[0] == IGNORE_INDEX).nonzero().flatten().tolist()


def feedback(page: Any, part: str) -> str:
    """What stands in the feedback below the Check button of `part`."""
    check = page.locator(f"[data-check={part}]")
    below = "xpath=../following-sibling::*[contains(@class, 'cw-feedback')][1]"
    return check.locator(below).inner_text()


# --- hands


@dataclass
class Hand:
    """One way to work a page: `mouse`, `touch` or `keyboard`."""

    page: Any
    way: str

    def press(self, locator: Any) -> None:
        """Press a button."""
        if self.way == "mouse":
            locator.click()
        elif self.way == "touch":
            locator.tap()
        else:
            self.reach(locator)
            self.page.keyboard.press("Enter")

    def reach(self, locator: Any) -> None:
        """Move the focus to `locator` with the Tab key alone."""
        wanted = locator.element_handle()
        for _ in range(200):
            if self.page.evaluate("e => document.activeElement === e", wanted):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError("the Tab key does not get there within 200 steps")

    def cells(self, grid: Any, wanted: list[int], columns: int) -> None:
        """Press cells of a grid of buttons; by keyboard with arrows and space from its one stop."""
        buttons = grid.locator("button")
        if self.way != "keyboard":
            for i in wanted:
                self.press(buttons.nth(i))
            return
        self.reach(grid.locator("button[tabindex='0']"))
        self.page.keyboard.press("Control+Home")
        at = 0
        for i in wanted:
            rows, steps = (i // columns - at // columns, i % columns - at % columns)
            for key, count in (("Down" if rows > 0 else "Up", abs(rows)),
                               ("Right" if steps > 0 else "Left", abs(steps))):
                for _ in range(count):
                    self.page.keyboard.press(f"Arrow{key}")
            self.page.keyboard.press("Space")
            at = i

    def write(self, field: Any, text: str) -> None:
        """Write into a field."""
        if self.way == "keyboard":
            self.reach(field)
            self.page.keyboard.press("Control+A")
        else:
            self.press(field)
            field.fill("")
        self.page.keyboard.type(text)
