"""Takes away from a process what a submission does not need, as far as the system allows.

`separate` runs in the process that waits for the submission and cuts it off from the network, the
other processes and the file system; `enter` runs in the submission's own process, limits it and
gives up its rights. Each step that the system refuses is left out, and `separate` returns the names
of those that took effect. Linux only; elsewhere the limits of `enter` are all there is.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import socket
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
)  # fmt: skip
RDONLY, NOSUID, NODEV, NOEXEC, PRIVATE, BIND = (
    1, 2, 4, 8, (1 << 18) | (1 << 14), 4096
)  # fmt: skip
PDEATHSIG, DUMPABLE, SECUREBITS, NO_NEW_PRIVS, NOROOT_LOCKED = 1, 4, 28, 38, 3
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any) -> None:
    ctypes.set_errno(0)
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def separate(job: dict[str, Any]) -> list[str]:
    """Cut the children of this process off; returns what took effect."""
    if not sys.platform.startswith("linux"):
        return []
    root = os.geteuid() == 0
    done = ["own user"] if root and job["user"] else []
    if not root and not _own_user_namespace():
        return []
    for flag, name in ((NEWNET, "no network"), (NEWPID, "no other processes"), (NEWIPC, "")):
        if name not in job["refused"] and _worked("unshare", flag) and name:
            done.append(name)
    if "no network" in done:
        _loopback_up()
    if "mounts" not in job["refused"]:
        with contextlib.suppress(OSError):
            own_mounts()
            done += _file_system(job)
    return done


def own_mounts() -> None:
    """Give this process its own view of the mounts; raises OSError where that is refused."""
    _call("unshare", NEWNS)
    _call("mount", b"none", b"/", None, PRIVATE, None)


def bind(source: str, place: str) -> None:
    """Show a folder in a second place; raises OSError where that is refused."""
    _call("mount", os.fsencode(source), os.fsencode(place), None, BIND, None)


def _worked(*call: Any) -> bool:
    try:
        _call(*call)
    except (OSError, AttributeError):
        return False
    return True


def _own_user_namespace() -> bool:
    """Enter a user namespace in which this user keeps its number: the way without root."""
    user, group = os.getuid(), os.getgid()
    if not _worked("unshare", NEWUSER):
        return False
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError:
        return False
    return True


def _loopback_up() -> None:
    """Give the empty network its loopback, over which local workers talk."""
    with contextlib.suppress(OSError), socket.socket() as any_socket:
        request = struct.pack("16sH14x", b"lo", 1)
        fcntl.ioctl(any_socket, 0x8914, request)


def _file_system(job: dict[str, Any]) -> list[str]:
    """Make all read-only but a small box in memory, and cover what is to be hidden."""
    attributes = struct.pack("QQQQ", RDONLY | NOSUID, 0, 0, 0)
    size = ctypes.c_size_t(len(attributes))
    done = []
    if _libc.syscall(MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, attributes, size) == 0:
        done.append("read-only file system")
    owner = f"uid={job['user']},gid={job['user']}," if os.geteuid() == 0 else ""
    box = f"{owner}mode=700,size={job['disk_mb']}m,nr_inodes=10000"
    if _tmpfs(job["box"], box, NOSUID | NODEV):
        done.append("limited disk")
    _tmpfs("/dev/shm", box, NOSUID | NODEV)
    hidden = [_tmpfs(path, "mode=755,size=4k", RDONLY) for path in job["hide"]]
    if all(hidden):
        done.append("grader hidden")
    return done


def _tmpfs(path: str, options: str, flags: int) -> bool:
    return _worked("mount", b"none", os.fsencode(path), b"tmpfs", flags, options.encode())


def enter(job: dict[str, Any], keep: int) -> None:
    """Limit this process and give up its rights; only the descriptor `keep` stays open."""
    os.setsid()
    if "no other processes" in job["done"]:
        _worked("mount", b"proc", b"/proc", b"proc", NOSUID | NODEV | NOEXEC, None)
    _silence(keep)
    _limit(job)
    _drop_rights(job["user"])
    os.umask(0o077)
    os.chdir(job["box"])
    os.environ.clear()
    os.environ.update(job["environment"])
    tempfile.tempdir = None  # found afresh, in the box


def _silence(keep: int) -> None:
    """Give this process no input and no output but the one connection."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(3, keep)
    os.closerange(keep + 1, min(most, 65536))


def _limit(job: dict[str, Any]) -> None:
    size = _virtual_bytes() + job["memory_mb"] * 2**20
    limits = {
        resource.RLIMIT_CPU: job["cpu_seconds"],
        resource.RLIMIT_AS: size,
        resource.RLIMIT_FSIZE: job["disk_mb"] * 2**20,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 256,
    }
    if "own user" in job["done"]:
        limits[resource.RLIMIT_NPROC] = job["processes"]
    for name, value in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(name, (value, value))


def _virtual_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _drop_rights(user: int) -> None:
    if os.geteuid() == 0 and user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if not sys.platform.startswith("linux"):
        return
    _libc.prctl(SECUREBITS, NOROOT_LOCKED, 0, 0, 0)
    _libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
    header, nothing = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *[0] * 6)
    _libc.syscall(_CAPSET.get(os.uname().machine, -1), header, nothing)
    _libc.prctl(DUMPABLE, 1, 0, 0, 0)
    _libc.prctl(PDEATHSIG, 9, 0, 0, 0)


_CAPSET = {"x86_64": 126, "aarch64": 91}
