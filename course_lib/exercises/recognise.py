"""What kind of answer is this: an untouched stub, the library's own function, or the learner's?

Only the shape of the code is looked at here; nothing of the answer is run.
"""

from __future__ import annotations

import dis
import functools
import importlib
import types
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from course_lib.exercises.calling import is_library

_HARMLESS = frozenset(
    "RESUME NOP LOAD_CONST RETURN_CONST RETURN_VALUE POP_TOP PUSH_NULL LOAD_GLOBAL RAISE_VARARGS "
    "CALL PRECALL CACHE COPY_FREE_VARS LOAD_SMALL_INT NOT_TAKEN KW_NAMES".split()
)

_WRAPPERS = (types.FunctionType, type(functools.cache(len)))


def is_stub(answer: Any) -> bool:
    """True for None, Ellipsis, NotImplementedError, and functions in whose body nothing happens.

    >>> def untouched(x):
    ...     ...
    >>> is_stub(untouched), is_stub(len)
    (True, False)
    """
    if answer is None or answer is Ellipsis or answer is NotImplemented:
        return True
    if answer is NotImplementedError or isinstance(answer, NotImplementedError):
        return True
    function = _unwrap(answer)
    if not isinstance(function, types.FunctionType):
        return False
    code = function.__code__
    steps = list(dis.get_instructions(code))
    quiet = all(step.opname in _HARMLESS for step in steps)
    returned = [
        {"RETURN_VALUE": before, "RETURN_CONST": step}[step.opname].argval
        for before, step in pairwise(steps)
        if step.opname.startswith("RETURN_")
    ]
    nothing = all(value is None or value is Ellipsis for value in returned)
    return quiet and nothing and set(code.co_names) <= {"NotImplementedError"}


def own_function(answer: Any, own: Sequence[str]) -> str:
    """Return the dotted name of the library function that `answer` is or calls, else "".

    `own` names functions below `course_lib`, such as "masks.document_mask". Seen through
    `functools.partial`, `functools.wraps`, a lambda and helper functions of the learner.

    >>> from course_lib import causal_mask
    >>> own_function(lambda n: causal_mask(n), ["masks.causal_mask"])
    'course_lib.masks.causal_mask'
    """
    wanted = {name: _resolve(name) for name in own}
    for found in _reached(answer, set()):
        for name, function in wanted.items():
            if _is(found, function):
                return f"course_lib.{name}"
    return ""


def _is(found: Any, function: Callable) -> bool:
    if isinstance(found, types.FunctionType) and isinstance(function, types.FunctionType):
        return found.__code__ is function.__code__
    return found is function


def _resolve(dotted: str) -> Callable:
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(f"course_lib.{module}"), name)


def _unwrap(answer: Any) -> Any:
    while True:
        if isinstance(answer, functools.partial):
            answer = answer.func
        elif isinstance(answer, types.MethodType):
            answer = answer.__func__
        elif isinstance(answer, _WRAPPERS) and hasattr(answer, "__wrapped__"):
            answer = answer.__wrapped__
        else:
            return answer


def _reached(answer: Any, seen: set[int]) -> Iterator[Any]:
    """Every object that the code of `answer` can name, helpers of the learner followed."""
    answer = _unwrap(answer)
    if id(answer) in seen:
        return
    seen.add(id(answer))
    yield answer
    if not isinstance(answer, types.FunctionType) or _is_library(answer):
        return
    for value in _named(answer):
        yield from _reached(value, seen)


def _is_library(function: types.FunctionType) -> bool:
    return is_library(function.__code__.co_filename)


def _named(function: types.FunctionType) -> Iterator[Any]:
    """The values of the names in a function: globals, closures, attributes and imports."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that is bound later
            continue
    codes = [function.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        values = [function.__globals__[n] for n in code.co_names if n in function.__globals__]
        yield from values
        modules = [v for v in values if _is_ours(v)]
        modules += [_module(n) for n in code.co_names if n.split(".")[0] == "course_lib"]
        for module in modules:
            for name in code.co_names:
                inner = getattr(module, name, None)
                yield inner
                if _is_ours(inner):
                    yield from (getattr(inner, n, None) for n in code.co_names)


def _is_ours(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and value.__name__.split(".")[0] == "course_lib"


def _module(name: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
