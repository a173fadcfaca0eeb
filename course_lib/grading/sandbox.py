"""The grader's side of the sandbox: starts the waiting process, opens sessions, asks, ends them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from course_lib.grading import wire
from course_lib.grading.limits import Limits
from course_lib.grading.surroundings import can_hide, library_path, own_folders

FIRST_USER = 61_000
PROTECTIONS = (
    "own user", "no network", "no other processes", "read-only file system", "limited disk",
    "grader hidden",
)  # fmt: skip
"""What a system may allow; `Sandbox.protections` names those in effect."""

_START = (
    "import sys; sys.path[:] = {path!r}; sys.dont_write_bytecode = True\n"
    "from course_lib.grading.inside import launch\n"
    "launch.main({folder!r}, {path!r}, {number}, {modules!r})"
)


class Ended(Exception):
    """The submission's process has ended before it answered; the text says why."""


class Sandbox:
    """One waiting process; a context manager. `slot` tells sandboxes of one run apart.

    `refused` names protections to do without, as on a system that does not allow them.
    """

    def __init__(
        self,
        folder: Path,
        slot: int = 0,
        limits: Limits | None = None,
        modules: Iterable[str] = (),
        hide: Iterable[Path] = (),
        refused: Iterable[str] = (),
    ) -> None:
        if not hasattr(os, "fork"):
            raise OSError("grading needs Linux or macOS: there is no fork here.")
        self.folder, self.limits = folder, limits or Limits()
        self.user = FIRST_USER + slot if os.geteuid() == 0 else os.geteuid()
        self.box, self._library = folder / f"box{slot}", folder / f"shared{slot}"
        self._library.mkdir(exist_ok=True)
        self.modules, self._refused = list(modules), list(refused)
        self.protections: list[str] | None = None  # not known before a session has ended
        self._hide = [str(p) for p in can_hide([*hide, *own_folders()], folder)]
        self.closed = False
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all of it for good; what still asks is told that it has ended."""
        self.closed = True
        self.stop()

    def start(self) -> None:
        """Start the waiting process; OSError where it does not come up."""
        ours, theirs = socket.socketpair()
        path = [str(self.folder / "package"), *library_path()]
        code = _START.format(
            path=path, folder=str(self._library), number=theirs.fileno(),
            modules=self.modules,
        )  # fmt: skip
        log = self.folder / f"{self.box.name}.log"
        with theirs, log.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", code], pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=self.folder,
                env=_environment(self.folder), start_new_session=True,
            )  # fmt: skip
        self._control = ours
        if self._report(120.0) != {"ready": True}:
            said = log.read_text("utf8", "replace").strip().splitlines()[-1:]
            self.stop()
            raise OSError(f"the sandbox did not start: {' '.join(said) or 'it gave no reason'}")

    def stop(self) -> None:
        """End the waiting process and all below it."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(8)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = self._control = None

    def open(self) -> Session:
        """Start a submission's process and return the way to ask it."""
        if self.closed:
            raise OSError("the sandbox is closed.")
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self.start()
        self._empty_box()
        ours, theirs = socket.socketpair()
        with theirs:
            assert self._control is not None
            socket.send_fds(self._control, [json.dumps(self._job()).encode()], [theirs.fileno()])
        return Session(self, ours)

    def _job(self) -> dict[str, Any]:
        limits = self.limits
        return {
            "box": str(self.box), "user": self.user, "hide": self._hide,
            "memory_mb": limits.memory_mb, "disk_mb": limits.disk_mb,
            "cpu_seconds": int(limits.seconds) + 1, "processes": limits.processes,
            "refused": self._refused,
            "environment": _environment(self.box) | {"COURSE_CHECK": "off", "MPLBACKEND": "Agg"},
        }  # fmt: skip

    def _empty_box(self) -> None:
        shutil.rmtree(self.box, ignore_errors=True)
        self.box.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(self.box, self.user, self.user)

    def end_session(self, by_itself: bool = False) -> dict[str, Any]:
        """End what runs, wait until all of it is gone, and return how it ended.

        What has ended by itself gets two seconds to be reported as that.
        """
        if self._control is None:
            return {"reason": "keeper"}
        report = self._report(2.0) if by_itself else None
        with contextlib.suppress(OSError):
            self._control.send(b"k")
        report = report or self._report(15.0)
        if report is None or "ended" not in report:
            self.stop()
            return {"reason": "keeper"}
        self.protections = report["ended"].get("protections", [])
        return report["ended"]

    def _report(self, seconds: float) -> dict[str, Any] | None:
        """Return the next line of the waiting process, None where none came."""
        control, data, until = self._control, b"", time.monotonic() + seconds
        while not data.endswith(b"\n"):
            if control is None:
                return None
            try:
                control.settimeout(max(0.01, until - time.monotonic()))
                part = control.recv(65536)
            except OSError:
                return None
            if not part:
                return None
            data += part
        return json.loads(data)


class Session:
    """One submission's process: `ask` it, then `close`."""

    def __init__(self, sandbox: Sandbox, connection: socket.socket) -> None:
        self._sandbox, self._connection = sandbox, connection
        self.peak_mb = 0
        self._open = True

    def ask(self, op: str, wait: float, **fields: Any) -> Any:
        """Return the answer to a message as JSON data; raises Ended with the reason."""
        try:
            wire.send(self._connection, {"op": op, **fields})
            return wire.receive(self._connection, wait, wire.MOST_BYTES)
        except TimeoutError:
            raise Ended(self._why(f"it did not answer within {wait:.0f} seconds")) from None
        except wire.WireError as error:
            raise Ended(self._why(f"it sent {error}")) from None
        except wire.Closed:
            raise Ended(self._why("")) from None

    def _why(self, known: str) -> str:
        ended = self.close(by_itself=not known)
        limits, reason, status = self._sandbox.limits, ended.get("reason"), ended.get("status")
        if reason == "memory":
            return f"it took more than {limits.memory_mb} MB of memory"
        if reason == "disk":
            return f"it wrote more than {limits.disk_mb} MB"
        if known:
            return known
        if reason == "keeper":
            return "it ended the process that watches over it"
        if status is None or status >= 0:
            return "it ended its own process" + (f" (exit code {status})" if status else "")
        name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
        return f"its process was ended by {name}"

    def close(self, by_itself: bool = False) -> dict[str, Any]:
        """End the submission and everything it started; returns how it ended."""
        if not self._open:
            return {}
        self._open = False
        ended = self._sandbox.end_session(by_itself)
        self._connection.close()
        self.peak_mb = ended.get("peak_mb", 0)
        return ended


def _environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home), "TMPDIR": str(home), "MPLCONFIGDIR": str(home), "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "GLOO_SOCKET_IFNAME": "lo",
    }  # fmt: skip
