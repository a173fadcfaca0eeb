"""MyST Markdown -> the plain Markdown that Colab, GitHub and JupyterLab show well.

Directives: admonitions become quoted blocks, dropdowns `<details>`, figures images, raw HTML a
link to the page. Roles: references become text or links, `glue` the value computed by the page.
What has no plain form is an error with file and line, never silently dropped.
Not handled: directives inside list items, numbered cross-references.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

from tools import generated
from tools.sources import Course, Page

ADMONITIONS = {
    "note", "tip", "hint", "important", "warning", "caution", "attention", "danger", "error",
    "seealso", "admonition",
}
TITLES = {"seealso": "See also"}
TRANSPARENT = {"grid", "grid-item", "card", "grid-item-card", "div", "container", "tab-set",
               "margin", "sidebar", "epigraph", "figure-md"}
DROPPED = {"contents", "tableofcontents", "index", "only"}

_FENCE = re.compile(r"^(\s{0,3})(`{3,}|~{3,}|:{3,})\s*(?:\{([\w:-]+)\})?\s*(.*?)\s*$")
_INLINE = re.compile(
    r"\{(?P<role>[\w:+-]+)\}(?P<tick>`+)(?P<body>.+?)(?P=tick)"
    r"|(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<bang>!?)\[(?P<text>[^\]\n]*)\]\((?P<target>[^)\s]+)\)",
    re.S,
)


class Converter:
    """Converts the Markdown cells of one page; `values` are what its cells glued."""

    def __init__(self, course: Course, page: Page, values: Mapping[str, str]) -> None:
        self.course, self.page, self.values = course, page, values

    def convert(self, text: str) -> str:
        """One Markdown cell. Raises SourceError where something has no plain form."""
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._blocks(text.splitlines()))).strip("\n")

    # blocks

    def _blocks(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        run: list[str] = []
        i = 0
        while i < len(lines):
            fence = _FENCE.match(lines[i])
            if fence is None:
                run.append(lines[i])
                i += 1
                continue
            out += self._prose(run)
            run = []
            end = self._closing(lines, i, fence[2])
            out += self._fenced(lines[i], fence, lines[i + 1 : end])
            i = end + 1
        return out + self._prose(run)

    def _closing(self, lines: list[str], start: int, mark: str) -> int:
        for i in range(start + 1, len(lines)):
            stripped = lines[i].strip()
            if len(stripped) >= len(mark) and set(stripped) == {mark[0]}:
                return i
        raise self.page.error(lines[start], f"no closing {mark}")

    def _fenced(self, opening: str, fence: re.Match, body: list[str]) -> list[str]:
        name, argument = fence[3], fence[4]
        if name is None:
            if fence[2][0] == ":":
                raise self.page.error(opening, "a ::: block needs a directive: :::{note}")
            return [opening, *body, fence[1] + fence[2]]
        options, body = _options(body)
        argument = self._inline(argument) if argument else ""
        if name in ADMONITIONS and "dropdown" not in options.get("class", ""):
            title = TITLES.get(name, name.capitalize())
            title = argument if name == "admonition" else title
            first = [argument, ""] if argument and name != "admonition" else []
            inner = first + self._blocks(body)
            return ["", f"> **{title}**", ">", *(f"> {x}".rstrip() for x in _trim(inner)), ""]
        if name in ADMONITIONS or name == "dropdown":
            summary = argument or TITLES.get(name, name.capitalize())
            return ["", f"<details><summary>{summary}</summary>", "", *_trim(self._blocks(body)),
                    "", "</details>", ""]
        if name in ("figure", "image"):
            image = f"![{options.get('alt', argument)}]({self._image(argument)})"
            return ["", image, "", *self._blocks(body), ""]
        if name in ("table", "list-table") and name == "table":
            return ["", *([f"**{argument}**", ""] if argument else []), *self._blocks(body), ""]
        if name == "math":
            return ["", "$$", *([argument] if argument else []), *body, "$$", ""]
        if name in ("code-block", "code", "sourcecode"):
            return ["", f"```{argument}", *body, "```", ""]
        if name == "glossary":
            return ["", *self._definitions(_glossary(body)), ""]
        if name == "tab-item":
            return ["", f"**{argument}**", "", *self._blocks(body), ""]
        if name in generated.MAKERS:
            made = generated.markdown(name, argument, site=False)
            return ["", *self._blocks(made.splitlines()), ""]
        if name == "raw":
            url = self.course.page_url(self.page.name)
            return ["", f"[This part is interactive on the page.]({url})", ""]
        if name in TRANSPARENT:
            return ["", *self._blocks(body), ""]
        if name in DROPPED:
            return []
        raise self.page.error(opening, f"directive {{{name}}} has no plain Markdown form: use "
                              "another one, or add it to tools/plain_markdown.py")

    # prose between fences

    def _prose(self, lines: list[str]) -> list[str]:
        kept = [x for x in lines if not re.match(r"^(%|\([^)\n]+\)=\s*$|\+\+\+)", x)]
        kept = [re.sub(r"^\$\$\s*\([\w:-]+\)\s*$", "$$", x) for x in kept]
        return self._definitions(self._inline("\n".join(kept)).split("\n")) if kept else []

    def _definitions(self, lines: list[str]) -> list[str]:
        """`term` / `: text` (a definition list) -> `- **term**: text`."""
        out: list[str] = []
        for line in lines:
            found = re.match(r"^:\s+(.*)$", line)
            if found and out and out[-1].strip():
                out[-1] = f"- **{out[-1].strip()}**: {found[1]}"
            elif found and len(out) > 1 and out[-2].strip():
                out[-2:] = [f"- **{out[-2].strip()}**: {found[1]}"]
            else:
                out.append(line)
        return out

    def _inline(self, text: str) -> str:
        return _INLINE.sub(self._one, text)

    def _one(self, m: re.Match) -> str:
        if m["code"]:
            return m[0]
        if m["role"]:
            return self._role(m["role"], m["body"], m[0])
        if m["bang"]:
            return f"![{m['text']}]({self._image(m['target'])})"
        return self._link(m["text"], m["target"], m[0])

    def _role(self, role: str, body: str, whole: str) -> str:
        explicit = re.match(r"^(.*?)\s*<([^>]+)>$", body, re.S)
        text, target = (explicit[1], explicit[2]) if explicit else ("", body)
        by_role: dict[str, Callable[[], str]] = {
            "glue:text": lambda: self._glue(body, whole),
            "ref": lambda: self._reference(text, target, whole),
            "numref": lambda: text.replace("%s", "").strip() or "the figure",
            "eq": lambda: "the equation",
            "doc": lambda: self._document(text, target, whole),
            "term": lambda: text or target,
            "math": lambda: f"${body}$",
            "abbr": lambda: body,
            "kbd": lambda: f"<kbd>{body}</kbd>",
            "sub": lambda: f"<sub>{body}</sub>",
            "sup": lambda: f"<sup>{body}</sup>",
            "code": lambda: f"`{body}`",
        }
        if role not in by_role:
            raise self._at(whole, f"role {{{role}}} has no plain Markdown form: use another one, "
                           "or add it to tools/plain_markdown.py")
        return by_role[role]()

    def _glue(self, body: str, whole: str) -> str:
        name, _, spec = body.partition(":")
        if name not in self.values:
            raise self._at(whole, f"no cell of this page glues {name!r}; glued: "
                           f"{', '.join(sorted(self.values)) or 'nothing'}")
        return format(float(self.values[name]), spec) if spec else self.values[name]

    def _reference(self, text: str, label: str, whole: str) -> str:
        page = self.course.find_label(label)
        if page is None:
            raise self._at(whole, f"no page has the label {label!r}")
        text = text or page.labels[label] or page.title
        return text if page == self.page else f"[{text}]({self.course.notebook_url(page.name)})"

    def _document(self, text: str, target: str, whole: str) -> str:
        path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(
            posixpath.join(posixpath.dirname(self.page.name), target))
        name = re.sub(r"\.(md|ipynb|html)$", "", path)
        if name not in self.course.pages:
            raise self._at(whole, f"there is no page {name!r}")
        text = text or self.course.pages[name].title
        return text if name == self.page.name else f"[{text}]({self.course.notebook_url(name)})"

    def _link(self, text: str, target: str, whole: str) -> str:
        text = self._inline(text)
        if re.match(r"^(\w+:|//)", target):
            return f"[{text}]({target})"
        path, _, label = target.partition("#")
        if path.endswith((".md", ".ipynb")):
            return self._document(text, path, whole)
        if not path and self.course.find_label(label):
            return self._reference(text, label, whole)
        raise self._at(whole, f"the link target {target!r} is neither an address, a page nor a "
                       "label")

    def _image(self, target: str) -> str:
        if re.match(r"^\w+:", target):
            return target
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.page.name), target))
        return self.course.raw_url(path)

    def _at(self, whole: str, message: str) -> Exception:
        first = whole.splitlines()[0]
        line = next((x for x in self.page.text.splitlines() if first in x), "")
        return self.page.error(line, message)


def _options(body: list[str]) -> tuple[dict[str, str], list[str]]:
    """The leading `:key: value` lines (or the `---` block) of a directive, and the rest."""
    options: dict[str, str] = {}
    rest = list(body)
    if rest and rest[0].strip() == "---":
        end = next((i for i in range(1, len(rest)) if rest[i].strip() == "---"), 0)
        pairs, rest = rest[1:end], rest[end + 1 :]
        options = dict(tuple(map(str.strip, x.split(":", 1))) for x in pairs if ":" in x)
    while rest and (found := re.match(r"^:([\w-]+):\s*(.*)$", rest[0])):
        options[found[1]] = found[2]
        rest = rest[1:]
    return options, rest


def _glossary(body: list[str]) -> list[str]:
    """Sphinx's glossary (term, indented text) as a definition list."""
    out: list[str] = []
    for line in body:
        if line.startswith("  ") and out and out[-1].startswith(": "):
            out[-1] += " " + line.strip()
        elif line.startswith("  "):
            out.append(": " + line.strip())
        else:
            out.append(line)
    return out


def _trim(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")
