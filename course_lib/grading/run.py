"""A whole class: every submission graded once, some at a time, whatever any of them does."""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from course_lib.exercises.registry import all_exercises
from course_lib.grading import wire
from course_lib.grading.collecting import File
from course_lib.grading.labs import Lab
from course_lib.grading.limits import Limits
from course_lib.grading.notebooks import LARGEST_MB, NotANotebook, cells_of
from course_lib.grading.records import unreadable
from course_lib.grading.sandbox import PROTECTIONS, Sandbox
from course_lib.grading.store import Store
from course_lib.grading.submission import grade_cells
from course_lib.grading.surroundings import make_folder


def grade_files(
    lab: Lab,
    files: Sequence[File],
    store: Store,
    limits: Limits,
    jobs: int = 1,
    hide: Sequence[Path] = (),
    quiet: bool = False,
) -> list[str] | None:
    """Grade what the store does not hold yet; returns the protections in effect (None if idle).

    Results are in the store, one for each file, whether it could be graded or not.
    """
    todo = _without_result(files, store)
    bar = tqdm(total=len(files), initial=len(files) - len(todo), unit="file", disable=quiet)
    all_exercises()  # loaded once, before the threads ask for it
    if not todo:
        bar.close()
        return None
    with bar, _sandboxes(lab, limits, min(jobs, len(todo)), hide) as made:
        free: queue.Queue[Sandbox] = queue.Queue()
        for sandbox in made:
            free.put(sandbox)

        def one(file: File) -> None:
            sandbox = free.get()
            try:
                _grade_one(lab, file, store, sandbox)
            finally:
                free.put(sandbox)

        _all(one, todo, made, bar)
    known = [sandbox.protections for sandbox in made if sandbox.protections is not None]
    return [name for name in PROTECTIONS if all(name in one for one in known)] if known else None


def _all(
    one: Callable[[File], None], todo: Sequence[File], made: Sequence[Sandbox], bar: tqdm
) -> None:
    pool = ThreadPoolExecutor(len(made))
    futures: list[Future] = [pool.submit(one, file) for file in todo]
    try:
        for future in as_completed(futures):
            future.result()
            bar.update()
    except BaseException:  # after an interrupt, what has not begun never does, what runs is ended
        pool.shutdown(wait=False, cancel_futures=True)
        for sandbox in made:
            sandbox.close()
        raise
    finally:
        pool.shutdown(wait=True)


def _without_result(files: Sequence[File], store: Store) -> list[File]:
    """One file for each result that is not there; copies of a file share theirs."""
    todo: dict[str, File] = {}
    for file in files:
        key = store.key(content(file.path))
        if key not in todo and store.load(key) is None:
            todo[key] = file
    return list(todo.values())


def content(path: Path) -> bytes:
    """Return the bytes of a submission; for what cannot be read, bytes that say so."""
    try:
        if path.is_symlink():
            return b"!a link to another place, not a file"
        if path.is_dir():
            return b"!a folder without a notebook"
        if not path.is_file():
            return b"!no ordinary file"
        size = path.stat().st_size
        if path.suffix.lower() != ".ipynb":
            return b"!a file of another kind, not a notebook (.ipynb)"
        if size > LARGEST_MB * 2**20:
            return f"!a file of {size / 2**20:.0f} MB; at most {LARGEST_MB} are read".encode()
        return path.read_bytes()
    except OSError as error:
        return f"!a file that cannot be read ({error.strerror})".encode()


def _grade_one(lab: Lab, file: File, store: Store, sandbox: Sandbox) -> None:
    """Grade one file and store the record; no fault of it, or of a check, ends the run."""
    data = content(file.path)
    key = store.key(data)
    try:
        if data[:1] == b"!" and len(data) < 120:
            raise NotANotebook(wire.clean(data[1:].decode("utf8", "replace")))
        record = grade_cells(lab, cells_of(data), sandbox, seed=int(key[:8], 16))
    except NotANotebook as error:
        record = unreadable(lab, str(error))
    except Exception as error:  # a fault of the grader costs this submission only, and is told
        if isinstance(error, OSError):  # the sandbox itself does not start: that concerns all
            raise
        record = unreadable(lab, f"the grader failed on it: {type(error).__name__}: {error}")
    if not sandbox.closed:
        store.save(key, record)


@contextmanager
def _sandboxes(
    lab: Lab, limits: Limits, jobs: int, hide: Sequence[Path]
) -> Iterator[list[Sandbox]]:
    folder = make_folder(lab.modules)
    made = [Sandbox(folder, slot, limits, lab.modules, hide) for slot in range(jobs)]
    try:
        starts = [threading.Thread(target=_try_start, args=(one,)) for one in made[1:]]
        for start in starts:
            start.start()
        made[0].start()
        for start in starts:
            start.join()
        yield made
    finally:
        for one in made:
            one.close()
        shutil.rmtree(folder, ignore_errors=True)


def _try_start(sandbox: Sandbox) -> None:
    try:
        sandbox.start()
    except OSError:  # tried again, and told, when it is first used
        sandbox.stop()
