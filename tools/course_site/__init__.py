"""The course's own Sphinx extension: pages that ask no other host for anything.

One module each: math as MathML (`mathml`), the interactive parts and figures (`widgets`), the text
of a lab's pictures (`twins`), a sentence where live controls would be (`live`), printed text in one
piece (`streams`), links between notebooks (`links`), what is made from data (`generated`), the
anchors of terms (`terms`), the API from docstrings (`api`), what is solved (`progress`), site map
and cards (`publish`), the theme's accessibility (`accessible`). Here the execution: what
environment the cells see, and when a stored result is still good.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from . import (
    accessible,
    api,
    generated,
    links,
    live,
    mathml,
    progress,
    publish,
    streams,
    terms,
    twins,
    widgets,
)

ROOT = Path(__file__).resolve().parents[2]


def course_key() -> str:
    """Changes with every file that a cell's output can depend on besides the cell itself."""
    digest = hashlib.sha256()
    files = [p for p in (ROOT / "course_lib").rglob("*") if p.suffix in (".py", ".js", ".css")]
    for path in sorted(files) + [ROOT / "requirements.txt"]:
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _prepare_execution(app: Sphinx, config: Config) -> None:
    os.environ.update(COURSE_GLUE="1", COURSE_FIGURES="svg", OMP_NUM_THREADS="1")
    os.environ.pop("COURSE_CHECK", None)
    # jupyter-cache keys on the text of the cells only: a changed course_lib gets a new cache.
    config.nb_execution_cache_path = str(Path(app.outdir).parent / f".cache-{course_key()}")


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", _prepare_execution)
    for part in (mathml, widgets, twins, live, streams, links, generated, terms, api, progress,
                 publish, accessible):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
