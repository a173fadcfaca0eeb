"""The process that waits: it imports torch once, and forks a confined copy for each submission.

It runs no student code. For each job it gets the end of a connection, forks a keeper, and the
keeper forks the submission. It watches memory and disk, ends everything when it is told to, when a
limit is passed, or when the grader is gone, and reports how it ended.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import socket
import sys
import time
from typing import Any

import torch

from course_lib.grading.inside import confine, processes, worker

SUBREAPER = 36
WATCH_SECONDS = 0.2


def main(descriptor: int, modules: list[str], own_user: bool) -> None:
    """Serve jobs from the connection with this number until it closes.

    Without `own_user` a submission keeps this process's user.
    """
    control = socket.socket(fileno=descriptor)
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # a submission that needs it will be told
            continue
    torch.set_num_threads(1)
    if sys.platform.startswith("linux"):
        confine._libc.prctl(SUBREAPER, 1, 0, 0, 0)
    gc.collect()
    gc.freeze()
    _tell(control, {"ready": True})
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 65536, 1)
        if not data or not descriptors:
            return
        job = json.loads(data)
        job["user"] = job["user"] if own_user else os.geteuid()
        ended = _run(job, descriptors[0], control)
        if ended["reason"] == "grader gone":
            return
        _tell(control, {"ended": ended})
        if ended["reason"] != "asked" and not control.recv(1):  # the order that came too late
            return


def _tell(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


def _run(job: dict[str, Any], connection: int, control: socket.socket) -> dict[str, Any]:
    """Run one submission; returns how it ended."""
    reports, reports_end = os.pipe()
    if os.fork() == 0:
        os.close(reports)
        control.close()
        _keep(job, connection, reports_end)
    os.close(reports_end)
    os.close(connection)
    told, reason = _watch(job, reports, control)
    gone = processes.end_all_below(os.getpid())
    os.close(reports)
    lines = [json.loads(line) for line in told.splitlines()]
    found = {key: value for line in lines for key, value in line.items()}
    return {"reason": reason, "gone": gone, **found}


def _watch(job: dict[str, Any], reports: int, control: socket.socket) -> tuple[bytes, str]:
    """Wait until the keeper has ended or must be ended; returns its report and the reason."""
    told, base, next_look = b"", _base(), 0.0
    while True:
        ready = select.select([reports, control], [], [], WATCH_SECONDS)[0]
        if reports in ready:
            part = os.read(reports, 65536)
            if not part:
                return told, ""
            told += part
        if control in ready:
            return told, "asked" if control.recv(1) else "grader gone"
        if time.monotonic() >= next_look:
            reason = _over(job, base)
            if reason:
                return told, reason
            next_look = time.monotonic() + WATCH_SECONDS


def _base() -> int:
    return processes.own_memory([os.getpid()])


def _over(job: dict[str, Any], base: int) -> str:
    """Name the limit that is passed by all processes of the submission together."""
    mine = processes.below(os.getpid())
    if processes.own_memory(mine) - base * len(mine) > job["memory_mb"] * 2**20:
        return "memory"
    if processes.folder_bytes(job["box"]) > job["disk_mb"] * 2**20:
        return "disk"
    return ""


def _keep(job: dict[str, Any], connection: int, reports: int) -> None:
    """Confine, fork the submission, wait for its end and report it; never returns."""
    try:
        job["done"] = confine.separate(job)
        os.write(reports, json.dumps({"protections": job["done"]}).encode() + b"\n")
        submission = os.fork()
        if submission == 0:
            try:
                confine.enter(job, connection)
                worker.run(connection)
            finally:
                os._exit(70)
        os.close(connection)
        _, status, used = os.wait4(submission, 0)
        said = {"status": os.waitstatus_to_exitcode(status), "peak_mb": used.ru_maxrss // 1024}
        os.write(reports, json.dumps(said).encode() + b"\n")
    finally:
        os._exit(0)
