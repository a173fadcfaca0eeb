"""Make the folder that is published: `make release`, or `python -m tools.release [--out FOLDER]`.

    release/labs, release/book   the students' notebooks
    release/dist                 the package as a wheel
    release/site                 the site, built anew if it is not of these very sources

Each notebook must agree with its source. Then everything is searched for solutions; one leak and
the folder is removed again.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat

from tools import leaks, site
from tools.notebooks import read
from tools.sources import Course, SourceError

PACKED = ("pyproject.toml", "README.md", "LICENSE", "course_lib")


class ReleaseError(Exception):
    """Why nothing is released, in one line for each reason."""


def copy_notebooks(course: Course, out: Path) -> None:
    """Copy the notebooks that agree with their sources; raises ReleaseError for the first other."""
    for name, page in course.pages.items():
        made, source = course.root / f"{name}.ipynb", read(page)
        if not made.is_file():
            raise ReleaseError(f"{name}.ipynb is missing: make notebooks P={name}.md")
        cells = nbformat.read(made, as_version=4).cells
        have = [c.source for c in cells if c.cell_type == "code"][1:]  # the set-up cell comes first
        if have != [c.source for c in source.cells if c.cell_type == "code" and c.source.strip()]:
            raise ReleaseError(f"{name}.ipynb is not what its source says: make notebooks")
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, out / f"{name}.ipynb")


def build_wheel(root: Path, out: Path) -> Path:
    """Build the package's wheel from a clean copy, so that nothing left behind gets in."""
    with tempfile.TemporaryDirectory() as place:
        for name in PACKED:
            if (root / name).is_dir():
                skip = shutil.ignore_patterns("__pycache__")
                shutil.copytree(root / name, Path(place, name), ignore=skip)
            else:
                shutil.copyfile(root / name, Path(place, name))
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
        done = subprocess.run(
            [*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", str(out), place],
            capture_output=True, text=True,
        )  # fmt: skip
    wheels = sorted(out.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise ReleaseError(f"the wheel was not built: {done.stderr.strip()[-300:]}")
    return wheels[0]


def copy_site(course: Course, out: Path) -> None:
    """Build the site, unless it is of these very sources, and copy it; raises ReleaseError."""
    if site.build_site(if_changed=True):
        raise ReleaseError("the site could not be built: see above (--no-site leaves it out)")
    built = course.root / "_build" / "html"
    shutil.copytree(built, out, ignore=shutil.ignore_patterns(".buildinfo", ".doctrees"))


def release(course: Course, out: Path, with_site: bool = True) -> list[str]:
    """Fill `out` afresh and return what is in it; raises ReleaseError and leaves nothing behind."""
    draft = out.with_name(f"{out.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        copy_notebooks(course, draft)
        wheel = build_wheel(course.root, draft / "dist")
        if with_site:
            copy_site(course, draft / "site")
        found = leaks.search(draft, course)
        if found:
            raise ReleaseError("\n".join(found))
        shutil.rmtree(out, ignore_errors=True)
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    count = len(course.pages)
    return [f"{count} notebooks", wheel.name, "the site" if with_site else "no site"]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.release", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--out", type=Path, help="default: release/ beside the sources")
    parser.add_argument("--no-site", action="store_true", help="notebooks and package only")
    args = parser.parse_args(argv)
    course = Course()
    out = args.out or course.root / "release"
    try:
        print(f"{out}: " + ", ".join(release(course, out, not args.no_site)))
    except (ReleaseError, SourceError) as error:
        print(f"nothing is released:\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
