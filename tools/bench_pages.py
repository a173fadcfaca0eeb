"""How soon and how light the exercises of the built site are: `python -m tools.bench_pages`.

For each page with exercises: the milliseconds from the start of navigation to the load event and
to the moment when its last exercise is ready (before the load event is best: the time "after load"
is then negative), as medians of several visits, and the bytes of our own script and style.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from tools.browser import chromium
from tools.sources import ROOT

VISITS = 5
LIMIT_MS, LIMIT_BYTES = 300, 60_000
_WATCH = """new MutationObserver((_, watch) => {
  const parts = [...document.querySelectorAll('.course-widget')];
  if (!parts.length || document.readyState === 'loading') return;
  if (!parts.every((part) => part.dataset.ready)) return;
  window.readyAt = performance.now();
  watch.disconnect();
}).observe(document, { subtree: true, attributes: true, attributeFilter: ['data-ready'] });"""
_TIMES = "[window.readyAt, performance.getEntriesByType('navigation')[0].loadEventStart]"


def visit(browser, page: Path) -> tuple[float, float]:
    """(ready, load) of one visit with an empty cache, in milliseconds."""
    context = browser.new_context()
    tab = context.new_page()
    tab.add_init_script(_WATCH)
    tab.goto(page.as_uri(), wait_until="load")
    ready, load = tab.evaluate(_TIMES)
    context.close()
    return ready, load


def main() -> int:
    html = ROOT / "_build" / "html"
    pages = [p for p in sorted(html.rglob("*.html")) if 'class="course-widget"' in p.read_text()]
    if not pages:
        print("no built page with an exercise: make book", file=sys.stderr)
        return 2
    weight = sum(p.stat().st_size for p in (html / "_static" / "course").glob("widgets.*"))
    print(f"script and style of the exercises: {weight:,} bytes (limit {LIMIT_BYTES:,})")
    print(f"{'page':<28}{'load ms':>9}{'ready ms':>10}{'after load':>12}")
    worst = -float("inf")
    with chromium() as browser:
        for page in pages:
            times = [visit(browser, page) for _ in range(VISITS)]
            ready, load = (statistics.median(column) for column in zip(*times, strict=True))
            worst = max(worst, ready - load)
            print(f"{page.stem:<28}{load:>9.0f}{ready:>10.0f}{ready - load:>12.0f}")
    return 0 if weight <= LIMIT_BYTES and worst <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
