"""Bring requirements-colab.txt up to the versions that Colab has today: `make colab-list`.

Colab publishes what `pip freeze` says there. A package of ours that is on that list gets its
version; one that Colab does not have (the test tools) keeps its own. Nothing is added or left out.

    python -m tools.colab               fetch the list, rewrite requirements-colab.txt
    python -m tools.colab --list FILE   the same from a copy of the list
"""

from __future__ import annotations

import argparse
import re
import sys
import urllib.request
from pathlib import Path

from tools.sources import ROOT

LIST = "https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.txt"
OURS = ROOT / "requirements-colab.txt"
MUST = ("ipywidgets", "numpy", "ipykernel")
"""Without these a list is not Colab's, whatever it is."""


def canonical(name: str) -> str:
    """The name as an index compares it.

    >>> canonical("Jupyter_Client")
    'jupyter-client'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(freeze: str) -> dict[str, str]:
    """Name -> version of a list of `pip freeze`; packages from an address have none.

    >>> versions("# made by a script\\nnumpy==2.1.3\\ntorch @ https://a/b.whl\\njax==0.7+cuda12\\n")
    {'numpy': '2.1.3', 'jax': '0.7'}
    """
    found = re.findall(r"^([\w.-]+)==([^\s+;]+)", freeze, re.M)
    return {canonical(name): version for name, version in found}


def updated(ours: str, freeze: str) -> tuple[str, list[str]]:
    """(our requirements with Colab's versions, what changed).

    Raises ValueError if `freeze` is not a list of Colab's packages.

    >>> colab = "ipywidgets==7.7.1\\nnumpy==2.2.0\\nipykernel==6.17.1\\n"
    >>> updated("numpy==2.1.3\\nnbval==0.11.0\\n", colab)
    ('numpy==2.2.0\\nnbval==0.11.0\\n', ['numpy 2.1.3 -> 2.2.0'])
    """
    there = versions(freeze)
    if missing := [name for name in MUST if name not in there]:
        raise ValueError(f"this is not Colab's list: it has no {missing[0]} among "
                         f"{len(there)} packages")  # fmt: skip
    lines, changes = [], []
    for line in ours.splitlines():
        name, pinned, version = line.partition("==")
        new = there.get(canonical(name), version)
        if pinned and not line.startswith("#") and new != version:
            changes.append(f"{name} {version} -> {new}")
            line = f"{name}=={new}"
        lines.append(line)
    return "\n".join(lines) + "\n", changes


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.colab", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", default=LIST, help="an address or a file")
    args = parser.parse_args(argv)
    try:
        if "://" in args.list:
            with urllib.request.urlopen(args.list, timeout=60) as answer:
                freeze = answer.read().decode("utf8")
        else:
            freeze = Path(args.list).read_text("utf8")
        text, changes = updated(OURS.read_text("utf8"), freeze)
    except (OSError, ValueError) as error:
        print(f"{OURS.name} stays as it is: {args.list}: {error}", file=sys.stderr)
        return 2
    OURS.write_text(text, "utf8")
    print(*changes or ["requirements-colab.txt has Colab's versions already"], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
