"""What the theme's pages need to pass axe (WCAG 2.2 AA and best practice), and no dead scripts.

And no error where a browser refuses to keep anything: the theme reads its storage before all else.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

# Where storage is refused (a private window, a sandbox), something that forgets with the page.
STORAGE = """<script>
for (const name of ["localStorage", "sessionStorage"]) {
  try { window[name].length; } catch {
    const kept = new Map();
    Object.defineProperty(window, name, { configurable: true, value: {
      getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => { kept.set(k, String(v)); },
      removeItem: (k) => { kept.delete(k); }, clear: () => kept.clear(),
      key: (i) => [...kept.keys()][i] ?? null, get length() { return kept.size; },
    } });
  }
}
</script>
"""
# (what the theme writes, what it should be): plain text on the finished page.
FIXES = [
    ('<script data-cfasync="false">', STORAGE + '<script data-cfasync="false">'),
    ('<summary aria-label="Toggle hidden content">', "<summary>"),
    (' data-mode="light" title="Light">', ' data-mode="light">'),
    (' data-mode="dark"  title="Dark">', ' data-mode="dark">'),
    (' data-mode="auto"  title="System Settings">', ' data-mode="auto">'),
    ('<div class="sidebar-primary-items__start sidebar-primary__section">',
     '<div class="sidebar-primary-items__start sidebar-primary__section" role="region" '
     'aria-label="Book sidebar">'),
    ('search-button-field search-button__button pst-js-only" title="Search" aria-label="Search"',
     'search-button-field search-button__button pst-js-only" title="Search"'),
    ('search-button-field search-button__button pst-js-only" aria-label="Search"',
     'search-button-field search-button__button pst-js-only"'),
]


def _is_wanted(script) -> bool:
    """False for sphinx-thebe (it loads twice, with an error) and for widget state (no kernel)."""
    attributes = getattr(script, "attributes", None) or {}
    return not ("THEBE_JS_URL" in (attributes.get("body") or "")
                or "sphinx-thebe" in str(getattr(script, "filename", ""))
                or attributes.get("type") == "application/vnd.jupyter.widget-state+json")


def _drop_scripts(app: Sphinx, pagename, templatename, context, doctree) -> None:
    context["script_files"] = [s for s in context.get("script_files", []) if _is_wanted(s)]


def _mend(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        text = before = path.read_text("utf8")
        for old, new in FIXES:
            text = text.replace(old, new)
        if text != before:
            path.write_text(text, "utf8")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", _drop_scripts, priority=950)
    app.connect("build-finished", _mend)
