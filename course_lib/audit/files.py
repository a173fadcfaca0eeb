"""Batches from files: .json, .npz, .safetensors, .pt. Nothing is executed while reading."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course_lib.batch import Batch

SUFFIXES = (".json", ".npz", ".safetensors", ".pt", ".pth")
PICKLES = (".pkl", ".pickle", ".bin", ".npy")


def read_batch(path: str | Path) -> Mapping[str, Any]:
    """Return the mapping of fields that a file holds.

    Raises ValueError for a file that cannot be read, is no mapping, or is a pickle, and
    FileNotFoundError where there is none.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give a file, one of {', '.join(SUFFIXES)}.")
    suffix = path.suffix.lower()
    readers = {".json": _json, ".npz": _npz, ".safetensors": _safetensors,
               ".pt": _torch, ".pth": _torch}  # fmt: skip
    if suffix not in readers:
        pickled = "; a pickle can run code while it is read" if suffix in PICKLES else ""
        raise ValueError(f"{path}: {suffix or 'no suffix'} is not read{pickled}. "
                         f"Save the batch as one of {', '.join(SUFFIXES)}.")  # fmt: skip
    value = readers[suffix](path)
    if isinstance(value, Batch):
        return value.to_dict()
    if not isinstance(value, Mapping):
        raise ValueError(f"{path} holds a {type(value).__name__}, not a mapping of fields.")
    return value


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no JSON: {error}.") from error


def _npz(path: Path) -> Any:
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no .npz file, which is a zip archive of arrays.")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, zipfile.BadZipFile, EOFError, OSError) as error:
        reason = "it holds pickled objects" if "allow_pickle" in str(error) else str(error)
        raise ValueError(f"{path} is refused: {reason}. Save plain arrays.") from error


def _safetensors(path: Path) -> Any:
    try:
        from safetensors.torch import load_file
    except ImportError as error:
        raise ValueError(f"{path}: install safetensors to read it.") from error
    try:
        return load_file(path)
    except Exception as error:  # the library raises its own type, which differs between versions
        raise ValueError(f"{path} is no safetensors file: {error}.") from error


def _torch(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle.UnpicklingError, RuntimeError, EOFError, …
        reason = str(error) or type(error).__name__
        if "weights only" in reason.lower().replace("_", " "):
            reason = "it holds more than tensors and plain values, and a pickle can run code"
        raise ValueError(f"{path} is refused: {reason.splitlines()[0]}. "
                         "Save a dictionary of tensors.") from error  # fmt: skip
