"""What passes between the grader and a submission: frames of JSON, and plain data inside them.

Both sides use this module. The grader reads what it receives as data of a stranger: a frame has a
largest size, each value must have a known form, an array exactly as many bytes as its shape asks
for. Nothing that is received is ever executed, imported or unpickled.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import socket
import struct
import time
from typing import Any

import numpy as np
import torch

from course_lib.exercises.plain import Array, Opaque

MOST_BYTES = 2_000_000
"""A larger frame of a submission is refused before it is read."""

DEEPEST = 40
DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)


class WireError(ValueError):
    """What was received is no frame, or holds something that is not plain data."""


class Closed(ConnectionError):
    """The other side has ended."""


def send(connection: socket.socket, message: Any) -> None:
    """Send one frame; raises Closed where nobody listens."""
    data = json.dumps(message).encode("ascii")
    try:
        connection.sendall(struct.pack(">I", len(data)) + data)
    except OSError as error:
        raise Closed(str(error)) from error


def receive(connection: socket.socket, seconds: float | None = None, most: int = 0) -> Any:
    """Return the next message.

    Raises TimeoutError after `seconds`, Closed at the end, WireError for what is no JSON and, where
    `most` is given, for a frame of more bytes.
    """
    until = None if seconds is None else time.monotonic() + seconds
    (size,) = struct.unpack(">I", _exactly(connection, 4, until))
    if most and size > most:
        raise WireError(f"an answer of more than {most // 1_000_000} MB")
    data = _exactly(connection, size, until)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError("something that is no answer") from error


def _exactly(connection: socket.socket, size: int, until: float | None) -> bytes:
    data = bytearray()
    while len(data) < size:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        try:
            part = connection.recv(min(65536, size - len(data)))
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from error
        if not part:
            raise Closed("ended")
        data += part
    return bytes(data)


def encode(value: Any) -> Any:
    """Return plain data, tensors and arrays as what JSON can say.

    >>> encode((1, [2.5]))
    {'tuple': [1, [2.5]]}
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if value is Ellipsis:
        return {"ellipsis": 1}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, Opaque):
        return {"opaque": str(value.type)[:80]}
    if isinstance(value, Array):
        if value.values.dtype.name not in DTYPES:
            return {"opaque": f"{value.source} array"[:80]}
        return {"array": [value.source, *_bytes(value.values)]}
    if isinstance(value, torch.Tensor):
        return {"tensor": _bytes(value.detach().cpu().numpy())}
    if isinstance(value, np.ndarray):
        return {"numpy": _bytes(value)}
    raise TypeError(f"{type(value).__name__} is not plain data")


def _bytes(values: np.ndarray) -> list[Any]:
    data = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
    return [values.dtype.name, list(values.shape), data]


def decode(data: Any, depth: int = 0) -> Any:
    """Return the value that was encoded; raises WireError for anything else.

    >>> decode({"tuple": [1, [2.5]]})
    (1, [2.5])
    """
    if depth > DEEPEST:
        raise WireError("data in too many layers")
    if data is None or type(data) in (bool, int, float, str):
        return data
    if type(data) is list:
        return [decode(item, depth + 1) for item in data]
    if type(data) is not dict or len(data) != 1:
        raise WireError("something that is no answer")
    ((kind, inner),) = data.items()
    return _decode_kind(kind, inner, depth)


def _decode_kind(kind: str, inner: Any, depth: int) -> Any:
    if kind == "ellipsis":
        return Ellipsis
    if kind == "opaque" and type(inner) is str:
        return Opaque(clean(inner, 80))
    if type(inner) is not list:
        raise WireError("something that is no answer")
    if kind == "tuple":
        return tuple(decode(item, depth + 1) for item in inner)
    if kind == "dict":
        return dict(_pair(pair, depth) for pair in inner)
    if kind == "array" and len(inner) == 4 and type(inner[0]) is str:
        return Array(_values(*inner[1:]), clean(inner[0], 40))
    if kind in ("tensor", "numpy") and len(inner) == 3:
        values = _values(*inner)
        return torch.from_numpy(values) if kind == "tensor" else values
    raise WireError("something that is no answer")


def _pair(pair: Any, depth: int) -> tuple[Any, Any]:
    if type(pair) is not list or len(pair) != 2:
        raise WireError("a dict that is none")
    key = decode(pair[0], depth + 1)
    if type(key) not in (str, int, float, bool):
        raise WireError("a dict with a key that is no text or number")
    return key, decode(pair[1], depth + 1)


def _values(dtype: Any, shape: Any, data: Any) -> np.ndarray:
    """Return a new array; its size is checked before it is made."""
    fits = dtype in DTYPES and type(shape) is list and len(shape) <= 8 and type(data) is str
    if not fits or not all(type(n) is int and 0 <= n <= MOST_BYTES for n in shape):
        raise WireError("an array that is none")
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError("an array that is none") from error
    if len(raw) != math.prod(shape) * np.dtype(dtype).itemsize:
        raise WireError("an array whose bytes do not fit its shape")
    if dtype == "bool" and raw.strip(b"\0\1"):
        raise WireError("an array that is none")
    return np.frombuffer(raw, dtype=dtype).reshape(shape).copy()


def printable(text: str) -> str:
    """Return a text of a stranger without control characters and broken surrogates."""
    safe = "".join(c if c.isprintable() else " " for c in text)
    return safe.encode("utf8", "replace").decode("utf8")


def clean(text: Any, most: int = 300) -> str:
    """Return a text of a stranger as one line that can be printed anywhere.

    >>> clean("a\\x1b[31m\\nb")
    'a [31m b'
    """
    line = " ".join(printable(str(text)[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"
