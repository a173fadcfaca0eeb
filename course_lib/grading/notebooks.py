"""Reads what students hand in: any notebook's code cells, or one sentence why there are none.

Nothing but the text of the code cells is used. So it does not matter whether metadata, cell ids and
outputs are there, which kernel is named, which line ends and which version of the format it has.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LARGEST_MB = 50


class NotANotebook(ValueError):
    """The file cannot be read as a notebook; the message says why in one line."""


def code_cells(path: Path) -> list[str]:
    """Return the sources of the code cells; raises NotANotebook."""
    size = path.stat().st_size
    if size > LARGEST_MB * 2**20:
        raise NotANotebook(f"the file has {size / 2**20:.0f} MB; at most {LARGEST_MB} are read")
    return cells_of(path.read_bytes())


def cells_of(data: bytes) -> list[str]:
    """Return the sources of the code cells of a file's bytes; raises NotANotebook.

    >>> cells_of(b'{"cells": [{"cell_type": "code", "source": ["a = 1\\\\r\\\\n", "b = 2"]}]}')
    ['a = 1\\nb = 2']
    """
    notebook = _json(data)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if cells is None and isinstance(notebook, dict):  # format 3 has them in worksheets
        sheets = notebook.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for some in lists if isinstance(some, list) for cell in some] or None
    if not isinstance(cells, list):
        raise NotANotebook("it is JSON, but has no cells")
    return [_source(c) for c in cells if isinstance(c, dict) and c.get("cell_type") == "code"]


def _json(data: bytes) -> Any:
    if not data.strip():
        raise NotANotebook("the file is empty")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return json.loads(data.decode(encoding))
    except UnicodeDecodeError:
        raise NotANotebook("it is no text, hence no notebook") from None
    except json.JSONDecodeError as error:
        if data.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] != b"{":
            raise NotANotebook("it is not JSON, hence no notebook") from None
        raise NotANotebook(
            f"its JSON breaks at line {error.lineno}. Was it cut off on its way?"
        ) from None
    except (RecursionError, ValueError):
        raise NotANotebook("its JSON is nested too deeply or has a number too large") from None


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source.replace("\r\n", "\n").replace("\r", "\n") if isinstance(source, str) else ""
