"""What a cell prints stays one text, whole, however the kernel cut it on its way here.

A kernel sends what was printed since the last time, and may cut in the middle of a line.
MyST-NB's own merge (`nb_merge_streams`) ends each piece with a line break; this one does not.
"""

from __future__ import annotations

import myst_nb.core.render as render
from nbformat import NotebookNode
from sphinx.application import Sphinx


def join_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs with all texts of one stream joined, exactly, where the first of them stood.

    >>> cut = [NotebookNode(output_type="stream", name="stdout", text=t) for t in ("a", " b\\n")]
    >>> [output.text for output in join_streams(cut)]
    ['a b\\n']
    """
    joined: list[NotebookNode] = []
    streams: dict[str, NotebookNode] = {}
    for output in outputs:
        if output.output_type != "stream":
            joined.append(output)
        elif output.name in streams:
            streams[output.name]["text"] += output.text
        else:
            streams[output.name] = NotebookNode(output)  # the stored one is not written to
            joined.append(streams[output.name])
    return joined


def setup(app: Sphinx) -> None:
    render.coalesce_streams = join_streams
