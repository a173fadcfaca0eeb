"""Call an answer safely: on copies of its inputs, with a time limit, and back comes plain data.

The call runs in a thread of its own, because that works from a notebook's main thread and from any
other. A call that does not end is stopped by an exception set in that thread; the limit is wall
time. What cannot be stopped is a single call into C that never returns: that thread is left behind
as a daemon, and later cells go on.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import linecache
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from course_lib.exercises.plain import plain

SECONDS = 10.0
"""A call that takes longer than this is stopped."""

_LIBRARY = ("site-packages", "dist-packages", str(Path(__file__).parents[1]))


def is_library(filename: str) -> bool:
    """True for code of installed packages and of `course_lib`; False for a learner's code.

    >>> is_library(__file__), is_library("<ipython-input-1>")
    (True, False)
    """
    return any(part in filename for part in _LIBRARY)


@dataclass(frozen=True)
class Outcome:
    """What a call led to: a plain `value`, or what went wrong as a sentence in `error`.

    - kind     "value", "raised" or "endless"
    - changed  numbers of the arguments that the call changed in place
    - steps    bytecode steps of the answer's own Python code; 0 if not counted
    - not_attempted  the answer raised NotImplementedError by itself
    """

    kind: str
    value: Any = None
    error: str = ""
    changed: tuple[int, ...] = ()
    steps: int = 0
    not_attempted: bool = False


class _Stop(SystemExit):
    """Ends the thread quietly; no `except Exception` of an answer holds it up."""


def call(
    function: Callable[..., Any],
    args: Sequence[Any],
    *,
    seconds: float | None = None,
    count_steps: bool = False,
) -> Outcome:
    """Return the outcome of `function(*args)`; raises nothing but the learner's own interrupt.

    >>> call(len, [[1, 2]]).value
    2
    """
    box: list[Outcome] = []
    work = (box, function, args, count_steps)
    thread = threading.Thread(target=_work_until_stopped, args=work, daemon=True)
    thread.start()
    limit = SECONDS if seconds is None else seconds
    try:
        thread.join(limit)
    finally:
        stopped = _stop(thread)
    if box:
        return box[0]
    left = "" if stopped else " It could not be stopped: restart the kernel if all gets slow."
    return Outcome(
        "endless",
        error=f"did not end within {limit:g} seconds. Is there a loop that never ends?{left}",
    )


def _work_until_stopped(*work: Any) -> None:
    with contextlib.suppress(_Stop):
        _work(*work)


def _work(box: list[Outcome], function: Callable, args: Sequence[Any], count: bool) -> None:
    own = copy.deepcopy(list(args))
    counter = _Counter()
    try:
        if count:
            sys.settrace(counter)
        try:
            result = plain(function(*own))
        finally:
            sys.settrace(None)
        changed = tuple(i for i, arg in enumerate(args) if not _same(arg, own[i]))
        box.append(Outcome("value", result, changed=changed, steps=counter.steps))
    except _Stop:
        raise
    except BaseException as error:  # whatever an answer raises is told, never raised
        stub = isinstance(error, NotImplementedError) and "raise" in _line(error)
        box.append(Outcome("raised", error=describe(error), not_attempted=stub))


class _Counter:
    """A trace function that counts the bytecode steps of Python code outside of libraries."""

    def __init__(self) -> None:
        self.steps = 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if is_library(frame.f_code.co_filename):
            return None
        frame.f_trace_opcodes = True
        self.steps += 1
        return self


def _stop(thread: threading.Thread) -> bool:
    """Stop the thread if it still runs; True if it is gone."""
    for _ in range(40):
        if not thread.is_alive():
            return True
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stop)
        )
        thread.join(0.05)
    return not thread.is_alive()


def _same(before: Any, after: Any) -> bool:
    """Whether an argument is what it was; compared as text of plain data, NaN equals NaN."""
    return _text(plain(before)) == _text(plain(after))


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ",".join(_text(item) for item in value) + "]"
    if hasattr(value, "values") and hasattr(value, "source"):
        return f"{value.source}{value.values.shape}{value.values.tobytes().hex()}"
    return repr(value)


def describe(error: BaseException) -> str:
    """Return an exception of an answer in one sentence, with the answer's line where known.

    >>> describe(ValueError("odd"))
    'raised ValueError: odd'
    """
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", str(error).strip()).splitlines()
    what = f"{type(error).__name__}: {text[0]}" if text and text[0] else type(error).__name__
    line = _line(error)
    return f"raised {what}" + (f", in the line `{line}`" if line else "")


def _line(error: BaseException) -> str:
    """The innermost line of the answer's own code that the exception passed."""
    trace, line = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if not is_library(code.co_filename):
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip() or line
        trace = trace.tb_next
    return line
