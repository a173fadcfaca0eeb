"""The scripts: small, without imports, and at home in Colab."""

from __future__ import annotations

import subprocess
import sys

import pytest

from course_lib.widgets import MODULES, assets, bundle, styles

LIMIT = 60_000


def test_script_and_style_of_a_page_stay_within_their_weight():
    assert len(bundle().encode()) + len(styles().encode()) <= LIMIT


def test_every_module_is_listed():
    found = {p.stem for p in assets.ESM.glob("*.js") if not p.stem.startswith("_")}
    assert found == set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_a_live_module_loads_and_renders_by_itself(chromium, name):
    page = chromium.new_page()
    source = assets.live_module(name)
    kind = page.evaluate(
        "async (source) => typeof (await import(URL.createObjectURL("
        "new Blob([source], { type: 'text/javascript' })))).default.render", source)
    page.close()
    assert kind == "function"


@pytest.mark.parametrize("text", ["import x from 'y';\nexport default { render };", "const a = 1;",
                                  "export const a = 1;\nexport default { render };"])
def test_a_module_with_imports_or_other_exports_is_refused(monkeypatch, tmp_path, text):
    (tmp_path / "odd.js").write_text(text)
    monkeypatch.setattr(assets, "ESM", tmp_path)
    with pytest.raises(ValueError, match="odd.js: a widget module ends in"):
        assets._body("odd")


COLAB = """
import sys, types
calls = []
if {fake}:
    output = types.ModuleType("google.colab.output")
    output.enable_custom_widget_manager = lambda: calls.append(1)
    output._widgets = types.SimpleNamespace(_installed_url="https://example.org/manager.js")
    for name in ("google", "google.colab"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["google.colab.output"] = output
from course_lib import widgets
made = [widgets.QuickCheck("shift"), widgets.SpotTheBug("double-shift")]
bundles = [w._repr_mimebundle_() for w in made]
print(len(calls), "manager.js" in str(bundles[0][1]), sorted(bundles[0][0]))
"""


@pytest.mark.parametrize("fake", [True, False])
def test_colabs_widget_manager_is_switched_on_once_and_only_there(fake):
    done = subprocess.run([sys.executable, "-c", COLAB.format(fake=fake)], text=True,
                          capture_output=True, check=True)
    # a page needs HTML; in Colab there is nothing but the live view
    kinds = ["application/vnd.jupyter.widget-view+json", "text/html", "text/plain"]
    kinds = [k for k in kinds if not (fake and k == "text/html")]
    assert done.stdout.strip() == f"{int(fake)} {fake} {kinds}"
