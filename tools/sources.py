"""The pages of the course: where they are, their titles and labels, and what _config.yml says.

A source page is `book/NN_name.md` (chapter) or `labs/NN_name.md` (lab): a MyST notebook.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


class SourceError(ValueError):
    """Something in a source page that cannot be made into a notebook: file, line, what to do."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")


@dataclass(frozen=True)
class Page:
    """One source page, named by its path without ending, as in _toc.yml: `book/02_shift`."""

    root: Path
    name: str

    @property
    def path(self) -> Path:
        return self.root / f"{self.name}.md"

    @property
    def is_lab(self) -> bool:
        return self.name.startswith("labs/")

    @cached_property
    def text(self) -> str:
        return self.path.read_text("utf8")

    @cached_property
    def title(self) -> str:
        """The first heading."""
        found = re.search(r"^# +(.+?)\s*$", self.text, re.M)
        if not found:
            raise self.error("", "the page has no heading of the form '# Title'")
        return found[1]

    @cached_property
    def labels(self) -> dict[str, str]:
        """Label -> heading that follows it ('' where something else follows)."""
        found = re.findall(r"^\(([^)\n]+)\)=\s*\n+(?:#+ +(.+))?", self.text, re.M)
        named = re.findall(r"^\s*:?name: *['\"]?([\w:.-]+)", self.text, re.M)
        return {name: "" for name in named} | {label: title.strip() for label, title in found}

    def error(self, line_text: str, message: str) -> SourceError:
        """A SourceError at the first line of the page that reads `line_text`."""
        wanted = line_text.strip()
        lines = [line.strip() for line in self.text.splitlines()]
        at = lines.index(wanted) + 1 if wanted and wanted in lines else 1
        return SourceError(self.path.relative_to(self.root), at, message)


@dataclass(frozen=True)
class Course:
    """All pages below `root` and the addresses that lead to them from anywhere."""

    root: Path = ROOT

    @cached_property
    def pages(self) -> dict[str, Page]:
        found = sorted(p for room in ("book", "labs") for p in (self.root / room).glob("[0-9]*.md"))
        names = [p.relative_to(self.root).with_suffix("").as_posix() for p in found]
        return {name: Page(self.root, name) for name in names}

    @cached_property
    def config(self) -> dict:
        return yaml.safe_load((self.root / "_config.yml").read_text("utf8"))

    @property
    def repository(self) -> str:
        return self.config["repository"]["url"].rstrip("/")

    @property
    def branch(self) -> str:
        return self.config["repository"]["branch"]

    def notebook_url(self, name: str) -> str:
        """The notebook of a page in the repository: a link that works in Colab too."""
        return f"{self.repository}/blob/{self.branch}/{name}.ipynb"

    def raw_url(self, path: str) -> str:
        return f"{self.repository}/raw/{self.branch}/{path}"

    def page_url(self, name: str) -> str:
        """The page on the published site."""
        return f"{self.config['html']['baseurl'].rstrip('/')}/{name}.html"

    def find_label(self, label: str) -> Page | None:
        return next((p for p in self.pages.values() if label in p.labels), None)


def toc_names(root: Path = ROOT) -> list[str]:
    """The pages of _toc.yml in reading order, root first."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf8"))
    sections = [*toc.get("chapters", []), *(c for p in toc.get("parts", []) for c in p["chapters"])]
    return [toc["root"], *(section["file"] for section in sections)]
