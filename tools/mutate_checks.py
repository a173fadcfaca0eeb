"""Are the checks themselves checked? Break every comparison in them, and see that a test notices.

    python -m tools.mutate_checks                 all of it
    python -m tools.mutate_checks chapter05 forms  only these modules
    python -m tools.mutate_checks --every 10       one mutant in ten, spread over all modules

Each comparison in `course_lib/exercises` is turned round, replaced by True, and replaced by False,
one at a time. The answers in tests/exercises/answers must then be judged differently somewhere, or
a unit test of the framework must fail. A mutant that nobody notices is printed, and the exit code
is 1. Each mutant lives in a forked process, so a POSIX system is needed.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import io
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from tqdm import tqdm

ROOT = Path(__file__).parents[1]
ROOM = ROOT / "course_lib" / "exercises"
TESTS = ROOT / "tests" / "exercises"
CPU_SECONDS = 120
"""A mutant may make a loop endless. Processor time, so that a busy machine changes no result."""

WAIT_SECONDS = 1800
"""Nothing should wait for ever either; far above what any machine needs."""

LEFT_OUT = {"cases", "cases_faults", "__init__"}
"""`cases` and `cases_faults` make random inputs and judge nothing; doctests run them."""

SLOW_TESTS = {"answers", "calling", "hunt", "mutation", "notebook", "odd_answers"}
IN_OTHERS = {"containers": "forms", "messages": "checker", "registry": "listing",
             "questions": "listing"}  # fmt: skip
"""Modules whose unit tests stand in another's file."""

ANSWERS_OF = {"broken": "chapter03", "hunt": "lab05", "detectors": "chapter07"}
"""Modules that one chapter or lab alone uses; the answers to its exercises are asked."""

TURNED: dict[type, type] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed comparison of one module."""

    module: str
    line: int
    change: str
    code: CodeType

    def __str__(self) -> str:
        return f"course_lib/exercises/{self.module}.py:{self.line}: {self.change}"


def mutants(module: str) -> Iterator[Mutant]:
    """Every comparison of a module, changed in three ways."""
    path = ROOM / f"{module}.py"
    source = path.read_text("utf8")
    count = sum(isinstance(node, ast.Compare) for node in ast.walk(ast.parse(source)))
    for number in range(count):
        for how in ("turned", "True", "False"):
            tree = ast.parse(source)
            node = [n for n in ast.walk(tree) if isinstance(n, ast.Compare)][number]
            before = ast.unparse(node)
            after = _changed(node, how)
            tree = ast.fix_missing_locations(_Replace(node, after).visit(tree))
            change = f"{before}  ->  {ast.unparse(after)}"
            with warnings.catch_warnings(action="ignore"):
                code = compile(tree, str(path), "exec")
            yield Mutant(module, node.lineno, change, code)


def _changed(node: ast.Compare, how: str) -> ast.expr:
    if how != "turned":
        return ast.copy_location(ast.Constant(how == "True"), node)
    if len(node.ops) > 1:  # a < b < c
        return ast.copy_location(ast.UnaryOp(ast.Not(), node), node)
    turned = TURNED[type(node.ops[0])]()
    return ast.copy_location(ast.Compare(node.left, [turned], node.comparators), node)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the mutant in place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.name, self.code = f"course_lib.exercises.{mutant.module}", mutant.code

    def find_spec(self, fullname: str, path: object, target: object = None) -> object:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: object) -> None:
        module.__file__ = self.code.co_filename
        exec(self.code, module.__dict__)


def noticed(mutant: Mutant | str) -> bool:
    """Whether a test notices the mutant; tried in a forked process.

    The name of a module stands for the module as it is: then nothing should be noticed.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            signal.alarm(WAIT_SECONDS)
            code = 0 if _same_as_before(mutant) else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


def _same_as_before(mutant: Mutant | str) -> bool:
    module = mutant if isinstance(mutant, str) else mutant.module
    for name in [n for n in sys.modules if n.startswith(("course_lib.exercises", "tests."))]:
        del sys.modules[name]
    if isinstance(mutant, Mutant):
        sys.meta_path.insert(0, _Finder(mutant))
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        mine, others = _unit_tests(module)
        same = _pass(mine) and _answers_agree(module) and _pass(others)
    if not same and isinstance(mutant, str):
        sys.stderr.write(said.getvalue()[-4000:])
        sys.stderr.flush()
    return same


def _answers_agree(module: str) -> bool:
    """Every answer is judged as its file says; of a chapter's mutant, only that chapter's."""
    from course_lib.exercises.checker import result_of

    chapter = ANSWERS_OF.get(module, module.split("_")[0])
    files = sorted(path.stem for path in (TESTS / "answers").glob("*.py"))
    ours = [name for name in files if name.startswith(chapter)] or files
    answers = [importlib.import_module(f"tests.exercises.answers.{name}") for name in ours]
    right = {k: row for file in answers for k, row in file.RIGHT.items()}
    wrong = {k: row for file in answers for k, row in file.WRONG.items()}
    near = _exercises_of(module)
    for exercise_id in sorted(right, key=lambda k: k not in near):
        for answer in right[exercise_id]:
            if not result_of(exercise_id, answer).ok:
                print(f"{exercise_id}: a right answer is refused: {answer}")
                return False
        for answer in wrong[exercise_id]:
            if not answer.told(result_of(exercise_id, answer.answer)):
                print(f"{exercise_id}: a wrong answer is not told what it is: {answer}")
                return False
    return True


def _exercises_of(module: str) -> set[str]:
    """Ids of the exercises that stand in a module: their answers notice the most."""
    from course_lib.exercises.exercise import Exercise

    names = vars(importlib.import_module(f"course_lib.exercises.{module}"))
    found = [*names.values(), *names.get("EXERCISES", ())]
    return {e.id for e in found if isinstance(e, Exercise)}


def _unit_tests(module: str) -> tuple[list[Path], list[Path]]:
    """The unit tests of a module, and for one of the framework the others that are quick."""
    mine = {TESTS / f"test_{module}.py"}
    if module in IN_OTHERS:
        mine = {TESTS / f"test_{IN_OTHERS[module]}.py"}
    others = set(TESTS.glob("test_*.py")) - {TESTS / f"test_{name}.py" for name in SLOW_TESTS}
    if module.startswith(("chapter", "lab")) or module in ANSWERS_OF:
        others = set()
    return sorted(path for path in mine if path.exists()), sorted(others - mine)


def _pass(files: list[Path]) -> bool:
    if not files:
        return True
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    return pytest.main([*options, *map(str, files)]) == 0


def modules() -> list[str]:
    """All modules of the room, by name."""
    return sorted(p.stem for p in ROOM.glob("*.py") if p.stem not in LEFT_OUT)


def survivors(names: list[str], every: int = 1, start: int = 0) -> tuple[int, list[Mutant]]:
    """Return how many mutants were tried, and those that nobody noticed."""
    chosen = [m for name in names for m in mutants(name)][start::every]
    if noticed("forms"):
        raise RuntimeError("the tests of the exercises fail without any change; mend that first")
    left = []
    for mutant in tqdm(chosen, desc="mutants", disable=None):
        if not noticed(mutant):
            left.append(mutant)
            tqdm.write(str(mutant))
    return len(chosen), left


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", help="names below course_lib/exercises; default all")
    parser.add_argument("--every", type=int, default=1, help="try one mutant in so many")
    parser.add_argument("--start", type=int, default=0, help="the first one to try")
    args = parser.parse_args(argv)
    import pytest  # noqa: F401
    import torch

    import course_lib.exercises.registry

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    torch.set_num_threads(1)  # a fork does not take a pool of threads along
    course_lib.exercises.registry.all_exercises()  # imports torch and the rooms below, once
    began = time.perf_counter()
    tried, left = survivors(args.modules or modules(), args.every, args.start)
    print(f"{tried} mutants, {len(left)} survivors, {time.perf_counter() - began:.0f} s")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
