"""The commands: `python -m course_lib audit FILE`, `python -m course_lib grade FOLDER`, …

Each command is a module with `add_arguments(parser)` and `run(arguments) -> int`; its docstring is
its help. Exit codes: 0 clean, 1 findings (or failed submissions), 2 unusable input (a ValueError,
TypeError or OSError of the command, printed as one line). To add a command, add its module to
`COMMANDS`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence

COMMANDS = {
    "audit": "course_lib.audit.command",
    "grade": "course_lib.grading.command",
}


UNUSABLE = (ValueError, TypeError, OSError, RecursionError, MemoryError, NotImplementedError,
            OverflowError)  # fmt: skip
"""What a file that cannot be used may raise, deep nesting and absurd sizes included."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every command whose module is there."""
    title = __doc__.partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m course_lib", description=title)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, address in COMMANDS.items():
        if not _exists(address):
            continue
        module = importlib.import_module(address)
        first, _, rest = module.__doc__.partition("\n\n")
        command = commands.add_parser(
            name,
            help=first,
            description=first,
            epilog=rest,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _exists(address: str) -> bool:
    try:
        return importlib.util.find_spec(address) is not None
    except ModuleNotFoundError:  # the package around it is not there
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = build_parser().parse_args(arguments)
    try:
        return given.run(given)
    except UNUSABLE as error:
        said = " ".join(str(error).split())
        print(f"{error.filename}: {error.strerror}" if _is_os(error) else said, file=sys.stderr)
        return 2


def _is_os(error: Exception) -> bool:
    return isinstance(error, OSError) and bool(error.filename)


if __name__ == "__main__":
    raise SystemExit(main())
