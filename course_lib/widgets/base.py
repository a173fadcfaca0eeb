"""What every widget has: data from Python, the reader's answer, a text twin, and a page."""

from __future__ import annotations

import hashlib
import json
import sys
import textwrap
from html import escape
from typing import Any

import anywidget
import traitlets

from course_lib.widgets.assets import live_module, styles
from course_lib.widgets.parts import Verdict, judge


class CourseWidget(anywidget.AnyWidget):
    """An exercise: `data` is what Python computed, `answer` what the reader entered.

    Subclasses set `module` (the file in `esm/`) and fill `data` with at least `title`, `question`
    and, for most, `parts`. `twin_body` holds the lines that stand below the question on paper.
    """

    module = ""
    data = traitlets.Dict().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "module" in cls.__dict__:  # not the class that traitlets makes for each instance
            cls._esm = live_module(cls.module)
            cls._css = styles()
        super().__init_subclass__(**kwargs)

    def __init__(self, data: dict[str, Any], twin_body: str) -> None:
        # through JSON once, so that the page and the kernel hold the very same values
        super().__init__(data=json.loads(json.dumps(data)))
        self._twin_body = twin_body

    def result(self) -> Verdict:
        """Return the verdict on `answer`, computed here and not on the page."""
        return Verdict({p["id"]: judge(p, self.answer.get(p["id"])) for p in self.data["parts"]})

    def twin(self) -> str:
        """Return the exercise as text: title, question, and what to fill in on paper."""
        question = textwrap.fill(self.data["question"].replace("`", ""), 70)
        return f"{self.data['title']}\n\n{question}\n\n{self._twin_body}"

    __repr__ = twin

    @property
    def widget_id(self) -> str:
        """Names the widget and its data; the page keeps the answer under it."""
        text = json.dumps(self.data, sort_keys=True)
        return f"{self.module}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def page_html(self) -> str:
        """Return what a page needs: the data, and question and twin for readers without script."""
        state = json.dumps({"data": self.data}, ensure_ascii=False, separators=(",", ":"))
        question = _code(self.data["question"])
        return (
            f'<div class="course-widget" data-module="{self.module}" data-id="{self.widget_id}">'
            f'<script type="application/json">{state.replace("<", chr(92) + "u003c")}</script>'
            f'<div class="course-widget-fallback"><p><strong>{escape(self.data["title"])}</strong>'
            f"</p><p>{question}</p>"
            f'<pre tabindex="0">{escape(self._twin_body)}</pre></div></div>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        found = super()._repr_mimebundle_(**kwargs)
        data, metadata = found if isinstance(found, tuple) else (found or {}, {})
        twin = {"text/plain": self.twin()}
        if "google.colab" not in sys.modules:  # Colab would have two things to choose from
            twin["text/html"] = self.page_html()
        return {**data, **twin}, metadata


def _code(text: str) -> str:
    """Escape a sentence and turn what stands between backticks into code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))
