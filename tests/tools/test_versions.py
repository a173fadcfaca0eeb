"""What the course asks to be installed, and that Colab's own libraries satisfy it."""

import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tools.sources import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]


def requirements(name: str) -> dict[str, Requirement]:
    lines = (ROOT / name).read_text("utf8").splitlines()
    found = [Requirement(x) for x in lines if x.strip() and not x.startswith(("#", "-r"))]
    return {r.name.lower(): r for r in found}


PINNED = requirements("requirements.txt")
COLAB = requirements("requirements-colab.txt")
WANTED = [Requirement(text) for text in PROJECT["dependencies"]]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-test.txt",
                                  "requirements-colab.txt"])
def test_versions_are_exact(name):
    for wanted in requirements(name).values():
        assert [s.operator for s in wanted.specifier] == ["=="], wanted


@pytest.mark.parametrize("wanted", WANTED, ids=lambda r: r.name)
def test_the_package_has_lower_bounds_only(wanted):
    assert [s.operator for s in wanted.specifier] == [">="]
    assert str(next(iter(PINNED[wanted.name.lower()].specifier)).version) in wanted.specifier


@pytest.mark.parametrize("wanted", WANTED, ids=lambda r: r.name)
def test_colab_has_what_the_package_needs(wanted):
    colab = {name: next(iter(r.specifier)).version for name, r in COLAB.items()}
    colab["torch"] = "2.11.0"  # Colab's own; the requirements file leaves torch alone
    assert colab[wanted.name.lower()] in wanted.specifier


def test_python_from_3_11():
    assert PROJECT["requires-python"] == ">=3.11"


def test_the_book_stays_on_the_major_version_that_reads_our_configuration():
    version = Version(next(iter(PINNED["jupyter-book"].specifier)).version)
    assert version.major == 1
