"""Executes a submission's cells and answers the grader's questions with plain data.

Student code shares this process and can change any of it. That is expected: whatever it does, the
grader receives a value, and compares it elsewhere.
"""

from __future__ import annotations

import builtins
import json
import linecache
import os
import random
import signal
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_lib import exercises
from course_lib.exercises.calling import Outcome, call, describe
from course_lib.exercises.plain import plain, type_name
from course_lib.exercises.recognise import is_stub, own_function
from course_lib.exercises.signatures import misfit
from course_lib.grading import wire
from course_lib.grading.inside.cells import python_of

MISSING = object()


class TooLong(BaseException):
    """A cell has used up its time; not an Exception, so that few handlers catch it."""


def serve(connection: socket.socket) -> None:
    """Answer one message after the other until the grader closes the connection."""
    module = types.ModuleType("__main__")
    module.__dict__.update(display=_nothing, get_ipython=_shell, __builtins__=builtins)
    sys.modules["__main__"] = module
    signal.signal(signal.SIGALRM, _ring)
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(0)
    answers = {"given": _given, "cell": _cell, "find": _find, "call": _call}
    receive, send = wire.receive, wire.send
    os.register_at_fork(after_in_child=connection.close)  # only this process answers
    while True:
        try:
            message = receive(connection)
        except (wire.Closed, OSError):
            return
        send(connection, answers[message.pop("op")](module.__dict__, **message))


def _nothing(*_: Any, **__: Any) -> None:
    """Show nothing."""


class _Shell:
    """What `get_ipython()` returns here: every method of it does nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return _nothing


def _shell() -> _Shell:
    return _Shell()


def _ring(*_: Any) -> None:
    raise TooLong


def _given(_: dict, data: Any) -> bool:
    exercises.GIVEN.update(wire.decode(data))
    return True


def _cell(names: dict[str, Any], source: str, name: str, seconds: float) -> str:
    """Run one cell; return what went wrong in it as a sentence, "" if nothing did."""
    text = python_of(source)
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        exec(compile(text, file, "exec", dont_inherit=True), names)
    except TooLong:
        return f"did not end within {seconds:g} seconds"
    except SystemExit:
        return "asked to exit"
    except BaseException as error:  # whatever a cell raises, the next one runs
        return describe(error)[:300]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def _answer(names: dict[str, Any], which: str, key: str) -> Any:
    return (exercises.ANSWERS if which == "handed" else names).get(key, MISSING)


def _find(names: dict[str, Any], id: str, name: str, own: list[str], takes: Any) -> dict:
    """Describe what was handed to `check`, and what bears the name at the end."""
    handed, named = _answer(names, "handed", id), _answer(names, "named", name)
    found = {"handed": _describe(handed, own, takes)}
    if named is not handed:
        found["named"] = _describe(named, own, takes)
    return found


def _describe(answer: Any, own: list[str], takes: Any) -> dict[str, Any]:
    if answer is MISSING:
        return {"state": "missing"}
    if is_stub(answer):
        return {"state": "stub"}
    if not callable(answer):
        return {"state": "value", "type": "" if takes is None else type_name(plain(answer))}
    odd = misfit(answer, takes) if takes is not None else ""
    return {"state": "function", "own": own_function(answer, own), "misfit": odd}


def _call(
    names: dict[str, Any], which: str, key: str, args: Any, seconds: float, count_steps: bool
) -> dict[str, Any]:
    """Call an answer, or look at it where `args` is None, and return the outcome as data."""
    answer = _answer(names, which, key)
    if args is None:
        outcome = call(lambda: answer, (), seconds=seconds)
    else:
        outcome = call(answer, wire.decode(args), seconds=seconds, count_steps=count_steps)
    data = _data(outcome)
    if len(json.dumps(data)) > wire.MOST_BYTES:
        large = f"returned more than {wire.MOST_BYTES // 1_000_000} MB of data"
        return _data(Outcome("raised", error=large))
    return data


def _data(outcome: Outcome) -> dict[str, Any]:
    return {
        "kind": outcome.kind,
        "value": wire.encode(outcome.value),
        "error": outcome.error[:300],
        "changed": list(outcome.changed),
        "steps": outcome.steps,
        "not_attempted": outcome.not_attempted,
    }


def run(descriptor: int) -> None:
    """Serve the connection with this number, then end the process without any clean-up."""
    try:
        serve(socket.socket(fileno=descriptor))
    finally:
        os._exit(0)
