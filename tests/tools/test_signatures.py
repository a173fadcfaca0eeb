"""Signatures of several lines are no lists on the page: a list without terms is none."""

import pytest

from tools.course_site.api import plain_signatures


@pytest.mark.parametrize(("html", "mended"), [
    ('<dt class="sig sig-object py" id="x">f(<dl>\n<dd>a</dd>\n<dd>b</dd>\n</dl>\n)</dt>',
     '<dt class="sig sig-object py" id="x">f(<div class="sig-lines">\n<div>a</div>\n'
     '<div>b</div>\n</div>\n)</dt>'),
    ('<dl class="py function">\n<dt class="sig">f()</dt>\n<dd><p>Text</p></dd></dl>',) * 2,
    ("<dl><dt>term</dt><dd>text</dd></dl>",) * 2,
])
def test_only_lists_inside_a_signature_become_plain(html, mended):
    assert plain_signatures(html) == mended
