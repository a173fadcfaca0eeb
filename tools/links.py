"""Ask every address that the course links to whether it is still there: `make links [P=PAGE]`.

Sphinx's link checker asks. Here its answers are sorted: links of the course to itself are held to
the files, as the published ones may be older; a host that refuses robots or is down today is listed
and breaks nothing; and where not a single host can be reached, the network is missing, not a page.

Exit code 0: nothing is broken. 1: something is. 2: nothing could be asked.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tools import site
from tools.sources import ROOT, Course

FOLDER = site.BUILD / "links"
PAPERS = ("README.md", "CONTRIBUTING.md")
_NO_ANSWER = re.compile(
    r"NewConnectionError|NameResolutionError|ProxyError|Failed to resolve|"
    r"Failed to establish|Max retries exceeded|Connection aborted|unreachable")
_UNSURE = re.compile(r"\b(401|403|405|408|429|5\d\d) (Client|Server) Error")
_LATE = re.compile(r"timed out|Timeout")


@dataclass
class Answers:
    """What was found, as lines `address (page:line): why`."""

    good: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    @property
    def offline(self) -> bool:
        """True where links were asked and no host whatever has answered."""
        return bool(self.silent or self.late) and not self.good and not self.unsure

    @property
    def code(self) -> int:
        if self.offline:
            return 1 if self.broken else 2  # broken: links of the course to its own files
        return 1 if self.broken or self.silent else 0


def ask(pages: Iterable[Path], folder: Path, course: Course) -> list[dict]:
    """Run Sphinx's link checker over these pages; its records, one for each link.

    Raises RuntimeError if it ends without them.
    """
    book = site.scratch_book(folder, list(pages), execute_notebooks="off")
    config = yaml.safe_load((book / "_config.yml").read_text("utf8"))
    config["exclude_patterns"] = ["_build", "*.ipynb", "**/*.ipynb"]
    config["sphinx"]["config"] |= {
        "linkcheck_ignore": [re.escape(start) for start in own_addresses(course)],
        "linkcheck_anchors_ignore_for_url": [r"https://github\.com/.*"],  # written by scripts there
        "linkcheck_timeout": 20, "linkcheck_retries": 2, "linkcheck_workers": 8,
        "linkcheck_rate_limit_timeout": 30, "linkcheck_report_timeouts_as_broken": False,
    }  # fmt: skip
    (book / "_config.yml").write_text(yaml.safe_dump(config))
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "--quiet",
               "--builder", "linkcheck"]  # fmt: skip
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run(command, cwd=book, env=env, text=True, capture_output=True)
    output = book / "_build" / "html" / "output.json"  # jupyter-book names the folder so
    if not output.is_file():
        raise RuntimeError(f"the link checker ended without a result:\n{done.stderr[-1000:]}")
    return [json.loads(line) for line in output.read_text("utf8").splitlines()]


def own_addresses(course: Course) -> list[str]:
    """How addresses of the course itself begin: its repository (in Colab too) and its site."""
    colab = course.repository.replace("https://github.com", "https://colab.research.google.com/github")
    return [course.repository, colab, course.config["html"]["baseurl"].rstrip("/")]


def own_fault(address: str, course: Course) -> str | None:
    """What is wrong with a link of the course to itself; None if its file is there."""
    bare = re.split(r"[#?]", address)[0]
    *places, published = own_addresses(course)
    for place in places:
        found = re.match(rf"{re.escape(place)}/(?:blob|tree|raw|edit)/([^/]+)/(.+)", bare)
        if found and found[1] != course.branch:
            return f"a branch of another name than {course.branch}"
        if found and not (course.root / found[2]).exists():
            return f"no file {found[2]} here"
    page = bare.removeprefix(published).strip("/").removesuffix(".html")
    if bare.startswith(published) and page and page not in {*course.pages, "index", "search"}:
        return f"no page {page} here"
    return None


def sort_out(records: Iterable[dict], course: Course) -> Answers:
    """Sort the checker's records. A host that does not answer while others do is a broken link."""
    answers = Answers()
    for record in records:
        address, why = record["uri"], record["info"] or ""
        line = f"{address} ({record['filename']}:{record['lineno']})"
        match record["status"]:
            case "ignored":
                if fault := own_fault(address, course):
                    answers.broken.append(f"{line}: {fault}")
            case "working" | "redirected":
                answers.good.append(line)
            case "timeout":
                answers.late.append(f"{line}: no answer in time")
            case "broken" if _LATE.search(why):
                answers.late.append(f"{line}: no answer in time")
            case "broken" | "rate-limited" if _UNSURE.search(why):
                answers.unsure.append(f"{line}: {why[:160]}")
            case "rate-limited":
                answers.unsure.append(f"{line}: too many questions")
            case "broken" if _NO_ANSWER.search(why):
                answers.silent.append(f"{line}: no answer: {why[:160]}")
            case "broken":
                answers.broken.append(f"{line}: {why[:160]}")
    return answers


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.links", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, help="only these, such as book/02_shift.md")
    args = parser.parse_args(argv)
    course = Course()
    everything = [page.path for page in course.pages.values()] + [ROOT / name for name in PAPERS]
    pages = [page.resolve() for page in args.pages] or everything
    if missing := [page for page in pages if not page.is_file()]:
        print(f"no such page: {missing[0]}", file=sys.stderr)
        return 2
    try:
        answers = sort_out(ask(pages, FOLDER, course), course)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    for line in answers.unsure + ([] if answers.offline else answers.late):
        print(f"unsure  {line}")
    for line in answers.broken + ([] if answers.offline else answers.silent):
        print(f"BROKEN  {line}")
    if answers.offline:
        silent = answers.silent + answers.late
        print(f"no network: none of {len(silent)} links got an answer, so none is called broken "
              f"(the first: {silent[0]})", file=sys.stderr)
    else:
        broken = len(answers.broken) + len(answers.silent)
        unsure = len(answers.unsure) + len(answers.late)
        print(f"{len(answers.good)} links are good, {unsure} unsure, {broken} broken")
    return answers.code


if __name__ == "__main__":
    sys.exit(main())
