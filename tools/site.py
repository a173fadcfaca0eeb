"""Build the site: `python -m tools.site`. Every warning is an error, and every build is clean.

    python -m tools.site                     the whole book into _build/html
    python -m tools.site --if-changed        the same, unless that very book is there already
    python -m tools.site --page book/02_shift.md [--shots]
                                             this page alone into _build/page/02_shift, for a look:
                                             references to other pages may stay open
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from tools import notebooks
from tools.sources import ROOT, Course

BUILD = ROOT / "_build"
STAMP = BUILD / ".site-of"
INPUTS = ("book", "labs", "course_lib", "tools", "_config.yml", "_toc.yml", "requirements.txt")


def site_key() -> str:
    """Changes with every file that the site is made of."""
    digest = hashlib.sha256()
    for name in INPUTS:
        top = ROOT / name
        paths = [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file())
        for path in paths:
            if "__pycache__" not in path.parts:
                digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def jupyter_book(source: Path, *, strict: bool) -> int:
    """Build the book in `source` into `source/_build`; 0 if it is good."""
    for old in ("html", ".doctrees", "jupyter_execute"):
        shutil.rmtree(source / "_build" / old, ignore_errors=True)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", "."]
    command += ["--quiet"] + ["-W", "-n", "--keep-going"] * strict
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    return subprocess.run(command, cwd=source, env=env).returncode


def build_site(*, if_changed: bool = False) -> int:
    key = site_key()
    if if_changed and STAMP.exists() and STAMP.read_text() == key:
        print("_build/html is this very book already")
        return 0
    STAMP.unlink(missing_ok=True)
    print("building the site: every cell is run, which takes a minute or two", flush=True)
    code = jupyter_book(ROOT, strict=True)
    if code == 0:
        STAMP.write_text(key)
    return code


def scratch_book(folder: Path, pages: list[Path], **execute: object) -> Path:
    """A book of these pages alone in `folder`, with the course's configuration.

    One page alone gets a second one beside it, which says where the rest is.
    """
    shutil.rmtree(folder, ignore_errors=True)
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    config["execute"] |= execute
    config["html"]["favicon"] = str(ROOT / config["html"]["favicon"])
    config["sphinx"]["local_extensions"] = {"course_site": str(ROOT / "tools")}
    config["sphinx"]["config"]["html_static_path"] = [str(ROOT / "tools" / "web")]
    names = []
    for page in pages:
        name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else Path("book") / page.name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, folder / name)
        if page.with_suffix(".ipynb").exists():
            shutil.copy(page.with_suffix(".ipynb"), (folder / name).with_suffix(".ipynb"))
        names.append(name.with_suffix("").as_posix())
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    toc = {"format": "jb-book", "root": names[0]}
    if not names[1:]:  # the theme's sidebar needs a second page
        (folder / "rest.md").write_text("# The rest of the book\n\nBuild it with `make book`.\n")
        names.append("rest")
    toc["chapters"] = [{"file": name} for name in names[1:]]
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    return folder


def build_page(page: Path) -> tuple[int, Path]:
    """(0 if it is good, the built page)."""
    page = page.resolve()
    name = page.relative_to(ROOT).with_suffix("").as_posix()
    folder = scratch_book(BUILD / "page" / page.stem, [page], execute_notebooks="force")
    if Course().pages[name].is_lab and notebooks.make_all(Course(), [name], folder):
        return 1, folder
    code = jupyter_book(folder, strict=False)
    return code, folder / "_build" / "html" / f"{name}.html"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.site", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--if-changed", action="store_true")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--shots", action="store_true", help="screenshots of the page: light and "
                        "dark, 1300 and 390 px wide")
    args = parser.parse_args(argv)
    if args.page is None:
        return build_site(if_changed=args.if_changed)
    code, html = build_page(args.page)
    if code == 0:
        print(f"page: {html}")
        if args.shots:
            from tools import browser

            for shot in browser.screenshots(html, html.parents[3] / "shots"):
                print(f"shot: {shot}")
    return code


if __name__ == "__main__":
    sys.exit(main())
