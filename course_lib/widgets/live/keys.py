"""Keys that are pressed in a box of controls stay there: the notebook around it must not take them.

JupyterLab moves the selected cell on the arrow keys and adds a cell on `b`, also while a menu has
the focus. Commands with Ctrl or Cmd still go through.
"""

from __future__ import annotations

import anywidget


class KeysStayHere(anywidget.AnyWidget):
    """An invisible child that marks the `VBox` in which it stands; harmless where nobody asks."""

    _esm = """
    export default { render({ el }) {
      el.style.display = "none";
      let tries = 100;
      const mark = () => {
        const box = el.closest(".widget-vbox");
        if (!box) return tries-- && requestAnimationFrame(mark);
        const keep = (e) => { if (!e.ctrlKey && !e.metaKey) e.stopPropagation(); };
        box.addEventListener("keydown", keep);
        box.dataset.keys = "stay";
      };
      mark();
    } };
    """
